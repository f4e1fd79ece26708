-- Writes declared progress of many jobs at once: step, line of history and summary of each together. Their rows are
-- locked before, by a statement of its own (`hold.sql`): where this one had to wait for a row and look at it again, a
-- server of version 18.4 ended with a segmentation fault.
with declared as materialized (
    select
        d.family,
        d.job,
        d.position,
        d.percent,
        d.sentence
    from unnest(
        %(families)s::text[], %(jobs)s::uuid[], %(positions)s::smallint[], %(percents)s::smallint[],
        %(sentences)s::text[]
    ) as d (family, job, position, percent, sentence)
),

n as materialized (
    select jobs.now() as at
),

stepped as (
    update jobs.job_steps as s
    set
        progress = greatest(s.progress, d.percent),
        sentence = coalesce(d.sentence, s.sentence)
    from declared as d
    where
        s.family = d.family and s.job = d.job and s.position = d.position and s.status = 'running'
        and (d.percent > s.progress or d.sentence is not null)
    returning
        s.family, s.job, s.position, s.step, s.tenant, s.progress,
        coalesce(d.sentence, s.label || ': ' || s.progress || ' %%.') as said
),

summed as materialized (
    select
        c.family,
        c.job,
        c.position,
        c.step,
        c.tenant,
        c.progress,
        c.said,
        (
            select
                sum(
                    w.weight * case
                        when w.position = c.position then c.progress
                        when w.status = 'succeeded' then 100
                        else w.progress
                    end
                ) / sum(w.weight)
            from jobs.job_steps as w
            where w.family = c.family and w.job = c.job
        ) as whole
    from stepped as c
),

root as (
    update jobs.jobs as j
    set
        progress = greatest(j.progress, least(c.whole, 99)::smallint),
        activity_at = greatest(j.activity_at, n.at),
        last_step = c.step,
        last_step_status = 'running',
        event_sequence = j.event_sequence + 1,
        version = j.version + 1
    from summed as c
    cross join n
    where j.family = c.family and j.id = c.job
    returning j.family, j.id, j.activity_at, j.event_sequence, j.progress
),

lines as (
    insert into jobs.job_events (family, job, sequence, tenant, at, kind, step, status, progress, sentence, detail)
    select
        r.family,
        r.id,
        r.event_sequence,
        c.tenant,
        r.activity_at,
        'progress' as kind,
        c.step,
        'running' as status,
        r.progress,
        c.said,
        jsonb_build_object('percent', c.progress) as detail
    from root as r
    inner join summed as c on r.family = c.family and r.id = c.job
)

select r.id::text as job
from root as r
