-- Values of inputs in the first waiting items of a queue within reach: by name, the most frequent first.
with first as (
    select i.inputs
    from jobs.items as i
    where
        i.tenant = %(tenant)s
        and i.queue = %(queue)s
        and jobs.in_view(i, 'waiting', %(now)s)
        and jobs.in_reach(i, %(customers)s::text[], %(workspaces)s::text[])
    order by i.rank, i.created, i.id
    limit %(rows)s
),

counted as (
    select
        e.key as name,
        e.value,
        row_number() over (partition by e.key order by count(*) desc, e.value) as place
    from first as f
    cross join jsonb_each_text(f.inputs) as e
    where length(e.value) between 1 and %(longest)s
    group by e.key, e.value
)

select
    c.name,
    c.value
from counted as c
where c.place <= %(most)s
order by c.name, c.place
