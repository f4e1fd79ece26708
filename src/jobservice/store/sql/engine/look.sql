-- Of jobs that this Worker runs: those that a person asked to cancel, and those that are not this run's any more.
with held as (
    select
        h.handle,
        h.family,
        h.job,
        h.fence
    from unnest(%(handles)s::text[], %(families)s::text[], %(jobs)s::uuid[], %(fences)s::bigint[])
        as h (handle, family, job, fence)
),

seen as (
    select
        h.handle,
        j.cancel_asked_at is not null as cancel,
        (j.id is null or j.settled_at is not null or j.fence <> h.fence or j.holder is distinct from %(holder)s::uuid)
            as lost
    from held as h
    left join jobs.jobs as j on h.family = j.family and h.job = j.id
)

select
    s.handle,
    s.lost
from seen as s
where s.lost or s.cancel
