-- Instants that a misfire policy decided about within a while, by schedule of a tenant: how many, how many of them a
-- later run does, and when the last was decided.
select
    k.tenant,
    k.schedule,
    sum(k.count)::bigint as count,
    coalesce(sum(k.count) filter (where k.merged_into is not null), 0)::bigint as merged,
    max(k.decided_at) as at
from jobs.skipped_instants as k
where
    k.policy in ('misfire-skip', 'misfire-once', 'misfire-each-interval')
    and k.decided_at > jobs.now() - make_interval(secs => %(within)s)
group by k.tenant, k.schedule
