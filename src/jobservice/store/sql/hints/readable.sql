-- Which of these items and jobs of a tenant are within reach (what is without customer and workspace is seen by people
-- without narrowing alone), and which of these plans and recoveries a person sees: of one owner, where one is named.
select i.id::text as id
from jobs.items as i
where
    i.id = any(%(items)s::uuid[])
    and i.tenant = %(tenant)s
    and jobs.in_reach(i, %(customers)s::text[], %(workspaces)s::text[])
union all
select j.id::text as id
from jobs.jobs as j
where
    j.id = any(%(jobs)s::uuid[])
    and j.tenant = %(tenant)s
    and (%(customers)s::text[] is null or j.customer = any(%(customers)s::text[]))
    and (%(workspaces)s::text[] is null or j.workspace = any(%(workspaces)s::text[]))
union all
select p.id::text as id
from jobs.plans as p
where
    p.id = any(%(plans)s::uuid[])
    and p.tenant = %(tenant)s
    and (%(owner)s::text is null or p.owner = %(owner)s)
union all
select r.id::text as id
from jobs.recoveries as r
where
    r.id = any(%(recoveries)s::uuid[])
    and r.tenant = %(tenant)s
    and case
        when r.act in ('retry', 'cancel') then %(retries)s and (%(owner)s::text is null or r.owner = %(owner)s)
        else %(runs)s
    end
