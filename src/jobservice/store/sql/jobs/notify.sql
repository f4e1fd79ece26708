-- A row about one outcome for whoever asked for the job, once; where they cannot be told, or need not, it says why. A
-- failure says that it corrects a success that was told before. Who is not of the tenant (any more) is not seen here.
with told as (
    select
        case
            when p.id is null then 'Whoever asked for it is not of this tenant any more.'
            when not p.active then p.name || ' is not active any more.'
            else %(suppressed)s::text
        end as reason
    from (select %(person)s::text as person) as a
    left join jobs.people as p on a.person = p.id
)

insert into jobs.job_notices (tenant, family, job, outcome, person, subject, text, corrects, state, reason, ended_at)
select
    %(tenant)s,
    %(family)s,
    %(job)s::uuid as job,
    %(outcome)s,
    %(person)s,
    %(subject)s,
    %(text)s,
    case
        when %(outcome)s = 'failed' and exists (
            select 1
            from jobs.job_notices as o
            where o.job = %(job)s::uuid and o.outcome = 'succeeded' and o.state in ('delivered', 'claimed')
        ) then 'succeeded'
    end as corrects,
    case when t.reason is null then 'due' else 'suppressed' end as state,
    t.reason,
    case when t.reason is not null then jobs.now() end as ended_at
from told as t
on conflict (job, outcome) do nothing
returning id
