-- The newest runs of instants of a schedule that never ran.
select
    k.first_at,
    k.last_at,
    k.count,
    k.policy,
    k.cause,
    k.local_time as local,
    k.merged_into,
    k.zone,
    k.decided_at
from jobs.skipped_instants as k
where k.tenant = %(tenant)s and k.schedule = %(schedule)s
order by k.first_at desc, k.policy desc
limit %(most)s
