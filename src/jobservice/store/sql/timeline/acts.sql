-- What people, and the server's own commands, did or were refused: entries of the trail that are about no single item.
-- Acts on jobs: of jobs within reach.
select
    a.at,
    a.id::text as key,
    a.person,
    p.name as person_name,
    a.action,
    a.subject,
    a.outcome,
    a.detail
from jobs.audit as a
left join jobs.people as p on a.person = p.id
where
    a.tenant = %(tenant)s
    and not a.detail ?| array['queue', 'outward_key', 'plan_name', 'recovery']
    and (
        (%(acts)s and (a.outcome = 'refused' or a.action <> all(%(told)s::text[])))
        or (a.outcome <> 'refused' and a.action = any(%(actions)s::text[]))
    )
    and a.at >= %(begin)s::timestamptz
    and a.at < %(until)s::timestamptz
    and (
        (%(customers)s::text[] is null and %(workspaces)s::text[] is null)
        or a.action <> all(%(of_jobs)s::text[])
        or exists (
            select 1
            from jobs.jobs as j
            where
                j.tenant = %(tenant)s
                and j.id = case when a.subject ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then a.subject::uuid end
                and (%(customers)s::text[] is null or j.customer = any(%(customers)s::text[]))
                and (%(workspaces)s::text[] is null or j.workspace = any(%(workspaces)s::text[]))
        )
    )
    and (%(mark)s::text is null or a.at > %(begin)s::timestamptz or a.id::text > %(mark)s::text)
order by a.at, a.id::text
limit %(most)s + 1
