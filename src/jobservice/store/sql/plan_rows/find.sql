-- Ids of what waits in a queue within reach and matches a filter, and how many: at most one more than a plan may have,
-- so that too many are found before anything is written. As one text, which goes back as it came.
select
    coalesce(array_agg(f.id), '{}')::text as items,
    count(*) as found,
    set_config('enable_sort', 'on', true) as sorts -- a filter switched it off, for listings
from (
    select i.id
    from jobs.items as i
    where
        i.tenant = %(tenant)s
        and i.queue = %(queue)s
        and jobs.in_view(i, 'waiting', %(now)s)
        and jobs.in_reach(i, %(customers)s::text[], %(workspaces)s::text[])
        and jobs.matches(i, %(filter)s::jsonb, %(now)s)
    limit %(most)s + 1 -- noqa: AM09
) as f
