-- Freezes the rows of a recovery that retries or cancels jobs, by number in the order of ids (the one requested first
-- before): those named, or those that a filter found. What is left out is counted by reason, and the first of it told.
-- Where more would go in than may, nothing is written, and `found` is more than the most.
with book as materialized (
    select
        b.kind,
        b.moves,
        b.retryable
    from jsonb_to_recordset(%(book)s) as b (kind text, moves text, retryable boolean)
),

asked as materialized (
    select
        a.text,
        a.id,
        a.elsewhere
    from
        unnest(%(texts)s::text[], %(ids)s::uuid[], %(elsewhere)s::boolean[]) as a (text, id, elsewhere)
),

taken as materialized (
    select
        w.key,
        min(r.name) as name
    from jobs.recoveries as r
    inner join jobs.recovery_rows as w on r.id = w.recovery
    where
        r.tenant = %(tenant)s
        and r.act in ('retry', 'cancel')
        and (r.state in ('applying', 'paused', 'aborted') or (r.state = 'open' and r.valid_until > %(now)s))
        and r.over_at is null
        and (w.turn = 'running' or (w.turn = 'not-started' and r.state <> 'aborted'))
    group by w.key
),

found as materialized (
    select
        a.text,
        j.id,
        j.family,
        j.kind,
        j.status,
        j.carrier,
        j.lineage,
        j.requested_at,
        j.failure_summary,
        j.event_sequence,
        j.resolution,
        j.cancel_asked_at,
        coalesce(j.subject, j.customer, j.workspace, j.id::text) as name,
        case
            when j.resolution is not null then j.resolved_by
            else j.cancel_asked_by
        end as by,
        case
            when j.resolution is not null then j.resolution_reason
            else j.cancel_reason
        end as why,
        -- What moves money by its record or by itself does; to cancel it moves nothing.
        case
            when not %(retries)s then 'nothing'
            when j.moves = 'money' or b.moves = 'money' then 'money'
            else 'nothing'
        end as moves,
        coalesce(b.retryable, false) as retryable
    from asked as a
    inner join jobs.jobs as j on a.id = j.id
    left join book as b on j.kind = b.kind
    where
        j.tenant = %(tenant)s
        and (%(customers)s::text[] is null or j.customer = any(%(customers)s::text[]))
        and (%(workspaces)s::text[] is null or j.workspace = any(%(workspaces)s::text[]))
),

-- The latest of each lineage is what can be retried: two of one would do the same work twice.
newest as materialized (
    select
        f.id,
        n.id as newest
    from found as f
    left join lateral (
        select l.id
        from jobs.jobs as l
        where l.family = f.family and l.lineage = f.lineage and l.tenant = %(tenant)s
        order by l.id desc
        limit 1
    ) as n on true
    where %(retries)s
),

judged as materialized (
    select
        f.*,
        n.newest,
        t.name as other,
        coalesce(p.name, f.by) as by_name,
        case
            when f.carrier = 'plan' then 'carried'
            when %(retries)s and f.status in ('pending', 'running') then 'not-settled'
            when not %(retries)s and f.status not in ('pending', 'running') then 'settled'
            when not %(retries)s and f.cancel_asked_at is not null then 'cancel-asked'
            when %(retries)s and f.status = 'succeeded' then 'succeeded'
            when %(retries)s and not f.retryable then 'not-retryable'
            when %(retries)s and n.newest <> f.id then 'retried'
            when %(retries)s and not %(named)s and f.resolution is not null then 'resolved'
            when t.name is not null then 'in-recovery'
            when f.moves = 'money' and not %(may_money)s then 'money'
            when f.moves = 'nothing' and not %(may_others)s then 'permission'
        end as reason
    from found as f
    left join newest as n on f.id = n.id
    left join taken as t on f.id::text = t.key
    left join jobs.people as p on f.by = p.id
),

chosen as materialized (
    select j.*
    from judged as j
    where j.reason is null
    order by j.id
    limit %(most)s + 1
),

sized as materialized (
    select count(*) as found
    from chosen
),

written as (
    insert into jobs.recovery_rows (
        recovery, number, tenant, key, target, name, schedule, moves, job, scheduled_at, state, error, row_version
    )
    select
        %(recovery)s::uuid,
        row_number() over (order by c.id) as number,
        %(tenant)s,
        c.id::text as key,
        'job' as target,
        c.name,
        c.kind as schedule,
        c.moves,
        c.id as job,
        c.requested_at as scheduled_at,
        c.status as state,
        c.failure_summary as error,
        c.event_sequence as row_version
    from chosen as c
    cross join sized as z
    where z.found <= %(most)s
),

out_of_it as materialized (
    select
        j.text,
        j.name,
        j.kind,
        j.requested_at as at,
        j.reason,
        j.status,
        j.resolution,
        j.by_name,
        j.why,
        j.newest,
        j.other
    from judged as j
    where j.reason is not null
    union all
    select
        a.text,
        a.text as name,
        '' as kind,
        null as at,
        case when a.elsewhere then 'elsewhere' else 'unknown' end as reason,
        null as status,
        null as resolution,
        null as by_name,
        null as why,
        null as newest,
        null as other
    from asked as a
    where not exists (
        select 1
        from found as f
        where f.text = a.text
    )
)

select
    z.found,
    (
        select coalesce(jsonb_object_agg(g.reason, g.number), '{}')
        from (
            select
                w.reason,
                count(*) as number
            from out_of_it as w
            group by w.reason
        ) as g
    ) as left_out,
    (
        select
            coalesce(
                jsonb_agg(
                    jsonb_build_object(
                        'text', f.text, 'name', f.name, 'kind', f.kind, 'at', f.at, 'reason', f.reason,
                        'status', f.status, 'resolution', f.resolution, 'by', f.by_name, 'why', f.why,
                        'newest', f.newest, 'recovery', f.other
                    )
                    order by f.at, f.text
                ),
                '[]'
            )
        from (
            select w.*
            from out_of_it as w
            order by w.at, w.text
            limit %(kept)s
        ) as f
    ) as kept
from sized as z
