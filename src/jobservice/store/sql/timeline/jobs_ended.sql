-- Jobs that failed or were cancelled, within reach.
select
    j.settled_at as at,
    j.id::text as key,
    j.kind as job_kind,
    j.status,
    j.subject,
    j.customer,
    j.workspace,
    j.failure_summary,
    j.failure_reference,
    coalesce(p.name, j.cancel_asked_by) as asked_by,
    j.cancel_reason
from jobs.jobs as j
left join jobs.people as p on j.cancel_asked_by = p.id
where
    j.tenant = %(tenant)s
    and j.status in ('failed', 'cancelled')
    and j.settled_at >= %(begin)s::timestamptz
    and j.settled_at < %(until)s::timestamptz
    and (%(mark)s::text is null or j.settled_at > %(begin)s::timestamptz or j.id::text > %(mark)s::text)
    and (%(customers)s::text[] is null or j.customer = any(%(customers)s::text[]))
    and (%(workspaces)s::text[] is null or j.workspace = any(%(workspaces)s::text[]))
order by j.settled_at, j.id::text
limit %(most)s + 1
