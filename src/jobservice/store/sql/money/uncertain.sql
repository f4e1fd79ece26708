-- How many payouts, within reach, wait for a person to say whether they were paid.
select count(*) as uncertain
from jobs.items as i
where
    i.tenant = %(tenant)s
    and i.about is not null
    and i.closed_at is null
    and jobs.in_reach(i, %(customers)s::text[], %(workspaces)s::text[])
