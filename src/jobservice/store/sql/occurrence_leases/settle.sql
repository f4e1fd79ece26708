-- Writes how attempts ended, those whose lease is still this Worker's; each leaves a row of its attempt, and the one
-- item of a run that did nothing in a transaction its own. What came too late changes nothing but one row that says so.
-- What was written, and only its answer got lost, counts as written. Locks first and compares after.
with given as materialized (
    select g.*
    from unnest(
        %(ids)s::uuid[], %(tenants)s::text[], %(fences)s::bigint[], %(endings)s::text[], %(states)s::text[],
        %(causes)s::text[], %(errors)s::text[], %(retry_after)s::float8[], %(began_after)s::float8[],
        %(done)s::bigint[], %(refused)s::bigint[], %(failed)s::bigint[], %(unfinished)s::bigint[],
        %(positions)s::text[], %(selected_all)s::boolean[], %(items)s::text[], %(item_labels)s::text[],
        %(item_outcomes)s::text[], %(item_sentences)s::text[], %(item_after)s::float8[]
    ) as g (
        id, tenant, fence, ending, state, cause, error, retry_after, began_after, done, refused, failed, unfinished,
        position, selected_all, item, item_label, item_outcome, item_sentence, item_after
    )
),

locked as materialized (
    select
        o.id,
        o.attempts,
        o.replays,
        o.taken_at,
        o.expires_at,
        o.renewals,
        o.attempt_started_at
    from jobs.occurrences as o
    where o.id = any(%(ids)s::uuid[])
    order by o.id
    for update of o
),

moment as materialized (
    select
        count(*) as locked,
        jobs.now() as now
    from locked
),

ended as materialized (
    select
        g.*,
        l.attempts,
        l.replays,
        l.taken_at,
        l.expires_at,
        l.renewals,
        m.now,
        coalesce(l.attempt_started_at, least(l.taken_at + make_interval(secs => g.began_after), m.now)) as began_at
    from given as g
    inner join locked as l on g.id = l.id
    cross join moment as m
),

settled as (
    update jobs.occurrences as o
    set
        state = e.state,
        holder = null,
        taken_at = null,
        expires_at = null,
        renewals = 0,
        attempts = case when e.ending = 'handed-back' then o.attempts - 1 else o.attempts end,
        started_at = coalesce(o.started_at, e.began_at),
        attempt_started_at = null,
        ended_at = case when e.state <> 'scheduled' then e.now end,
        due_at = case
            when e.state = 'scheduled' then e.now + make_interval(secs => coalesce(e.retry_after, 0))
            else o.due_at
        end,
        cause = e.cause,
        error = e.error,
        done = coalesce(e.done, o.done),
        refused = coalesce(e.refused, o.refused),
        failed = coalesce(e.failed, o.failed),
        unfinished = coalesce(e.unfinished, o.unfinished),
        position = coalesce(e.position, o.position),
        selected_all = coalesce(e.selected_all, o.selected_all),
        version = o.version + 1
    from ended as e
    where
        o.id = e.id
        and o.id = any(%(ids)s::uuid[])
        and o.holder = %(holder)s
        and o.fence = e.fence
        and o.expires_at > e.now
    returning
        o.id,
        o.tenant,
        o.schedule,
        o.fence,
        o.state,
        o.ended_at,
        e.attempts,
        e.replays,
        e.taken_at,
        e.began_at,
        e.expires_at,
        e.renewals,
        e.now,
        e.ending,
        e.error,
        e.item,
        e.item_label,
        e.item_outcome,
        e.item_sentence,
        e.item_after
),

kept as (
    insert into jobs.occurrence_attempts (
        occurrence, fence, tenant, attempt, worker, taken_at, started_at, expires_at, renewals, ended_at, ending, error,
        replay
    )
    select
        s.id,
        s.fence,
        s.tenant,
        s.attempts,
        %(holder)s as worker,
        s.taken_at,
        s.began_at,
        s.expires_at,
        s.renewals,
        s.now,
        s.ending,
        s.error,
        s.replays
    from settled as s
),

own_items as (
    insert into jobs.occurrence_items (
        occurrence, key, tenant, number, label, outcome, attempts, sentence, fence, try_at, ended_at
    )
    select
        s.id,
        s.item,
        s.tenant,
        1 as number,
        s.item_label,
        s.item_outcome,
        1 as attempts,
        s.item_sentence,
        s.fence,
        s.now + make_interval(secs => s.item_after) as try_at,
        case when s.item_outcome is not null then s.now end as ended_at
    from settled as s
    where s.item is not null
    on conflict (occurrence, key) do update
        set
            outcome = excluded.outcome,
            attempts = occurrence_items.attempts + 1,
            sentence = excluded.sentence,
            fence = excluded.fence,
            try_at = excluded.try_at,
            ended_at = excluded.ended_at
        where occurrence_items.outcome is null
),

missing as materialized (
    select
        g.id,
        g.tenant,
        g.fence,
        a.ending is not null as written
    from given as g
    left join settled as s on g.id = s.id and g.fence = s.fence
    left join lateral (
        select t.ending
        from jobs.occurrence_attempts as t
        where t.occurrence = g.id and t.fence = g.fence and t.worker = %(holder)s and t.ending = g.ending
        order by t.occurrence, t.fence
        limit 1
    ) as a on true
    where s.id is null
),

late as (
    insert into jobs.refused_completions (tenant, occurrence, worker, fence, what)
    select
        m.tenant,
        m.id,
        %(holder)s as worker,
        m.fence,
        'completion' as what
    from missing as m
    where not m.written
)

select
    s.id,
    s.fence,
    s.tenant,
    s.schedule,
    s.began_at,
    case when s.state = 'completed' then s.ended_at end as completed_at
from settled as s
union all
select
    m.id,
    m.fence,
    null as tenant,
    null as schedule,
    null as began_at,
    null as completed_at
from missing as m
where m.written
