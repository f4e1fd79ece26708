-- Jobs that are not settled, from behind an id on, at most so many: those that showed no life of late and whose run is
-- not there, or at an end, or waits although a person asked to cancel; and the last one looked at, of how many.
with looked as (
    select
        j.family,
        j.id,
        j.tenant,
        j.activity_at,
        j.status,
        j.cancel_asked_at,
        j.execution_handle
    from jobs.jobs as j
    where j.settled_at is null and j.carrier = 'engine' and j.id > %(after)s
    order by j.id
    limit %(most)s
),

judged as (
    select
        l.family,
        l.id,
        l.tenant,
        lead(l.id) over (order by l.id) is null as last,
        count(*) over () as looked,
        l.activity_at < jobs.now() - make_interval(secs => %(grace)s)
        and (
            w.workflow_uuid is null
            or w.status not in ('ENQUEUED', 'DELAYED', 'PENDING')
            or (w.status = 'ENQUEUED' and l.status = 'pending' and l.cancel_asked_at is not null)
        ) as wrong
    from looked as l
    left join jobs_engine.workflow_status as w on l.execution_handle = w.workflow_uuid
)

select
    d.family,
    d.id as job,
    d.tenant,
    d.wrong,
    d.looked
from judged as d
where d.wrong or d.last
order by d.id
