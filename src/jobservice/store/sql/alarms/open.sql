-- Every open alarm of all tenants, and how often the same one was open and over within the last day.
select
    a.id::text as id,
    a.tenant,
    a.kind,
    a.subject,
    a.count,
    a.sentence,
    a.seen_at,
    a.acknowledged_at is not null as acknowledged,
    (
        select count(*)
        from jobs.alarms as b
        where
            b.tenant = a.tenant
            and b.kind = a.kind
            and b.subject = a.subject
            and b.cleared_at > jobs.now() - interval '1 day'
    ) as openings
from jobs.alarms as a
where a.cleared_at is null
