-- How many unfinished items of a queue that match a filter a person holds now, by items_held.
select count(*) as mine
from jobs.items as i
where
    i.tenant = %(tenant)s
    and i.holder = %(person)s
    and i.expires_at > %(now)s
    and i.queue = %(queue)s
    and jobs.in_reach(i, %(customers)s::text[], %(workspaces)s::text[])
    and jobs.matches(i, %(filter)s::jsonb, %(now)s)
