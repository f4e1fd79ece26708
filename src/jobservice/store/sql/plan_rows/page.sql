-- One page of a plan's rows as JSON, in one of its orders, and the edition that they belong to: one statement, so that
-- they belong together. What the parameters decide folds away: by number it walks an index, else it sorts the plan. Of
-- a payee's name the first hundred characters count: a cursor carries them.
with chosen as (
    select
        p.id,
        p.edition,
        p.count,
        jobs.now() as now
    from jobs.plans as p
    where
        p.tenant = %(tenant)s
        and p.id = %(plan)s::uuid
        and (%(owner)s::text is null or p.owner = %(owner)s::text)
),

page as not materialized (
    select
        i.number,
        jobs.plan_item_text(i, %(exponents)s::jsonb) as item,
        case
            when %(sort)s::text = 'amount' then i.currency
            when %(sort)s::text = 'payee' then left(i.payee_name, 100)
            else ''
        end as word,
        case
            when %(sort)s::text = 'amount' then -i.amount_minor
            when %(sort)s::text = 'warnings' then -cardinality(i.warned)::bigint
            when %(sort)s::text = 'turn' then array_position(%(turns)s::text[], i.turn)::bigint
            else 0
        end as rank
    from jobs.plan_items as i
    where
        i.tenant = %(tenant)s
        and i.plan = %(plan)s::uuid
        and (%(turn)s::text is null or i.turn = %(turn)s::text)
        and (%(words)s::text is null or i.words like all(string_to_array(%(words)s::text, e'\x1f')))
),

cut as (
    select g.*
    from page as g
    where
        g.word > %(word)s::text
        or (
            g.word = %(word)s::text
            and (g.rank > %(rank)s::bigint or (g.rank = %(rank)s::bigint and g.number > %(number)s::integer))
        )
    order by g.word, g.rank, g.number
    limit %(most)s + 1
),

numbered as (
    select
        c.*,
        row_number() over (order by c.word, c.rank, c.number) as place
    from cut as c
)

select
    h.edition,
    h.now,
    case
        when %(turn)s::text is null and %(words)s::text is null then h.count
        else (select count(*) from page)
    end as matching,
    coalesce(string_agg(n.item, ',' order by n.place) filter (where n.place <= %(most)s), '') as items,
    (count(n.place) > %(most)s)::text as more,
    (array_agg(n.word order by n.place) filter (where n.place <= %(most)s))[%(most)s] as last_word,
    (array_agg(n.rank order by n.place) filter (where n.place <= %(most)s))[%(most)s] as last_rank,
    (array_agg(n.number order by n.place) filter (where n.place <= %(most)s))[%(most)s] as last_number
from chosen as h
left join numbered as n on true
group by h.edition, h.now, h.count
