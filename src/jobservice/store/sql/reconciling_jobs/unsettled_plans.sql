-- Jobs that a plan carries and that are not settled, from behind an id on, at most so many: those that showed no life
-- of late and whose plan has ended and is accounted for, or is not there, or never began; and the last one looked at.
with looked as (
    select
        j.family,
        j.id,
        j.tenant,
        j.plan,
        j.status,
        j.activity_at
    from jobs.jobs as j
    where j.settled_at is null and j.carrier = 'plan' and j.id > %(after)s
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
        and (l.status = 'pending' or p.id is null or p.accounted_at is not null) as wrong
    from looked as l
    left join jobs.plans as p on l.plan = p.id and l.tenant = p.tenant
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
