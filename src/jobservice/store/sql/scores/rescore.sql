-- Writes scores that were computed from what was read without a lock, under the lease of the duty, or of the occurrence
-- whose run scores: only to rows that nobody works on just now, and whose content and score are still what was read
-- (a change scores its own). Never waits for a row, never touches content, versions that matter, or claims. People are
-- told only where what they see changed, by one notification for all rows. The commit does not wait for the disk: what
-- a crash takes back is due again afterwards.
with given as (
    select n.*
    from
        jsonb_to_recordset(%(rows)s)
            as n (
                id uuid,
                money_version bigint,
                seen_at timestamptz,
                rank bigint,
                score integer,
                score_rule text,
                score_version integer,
                score_inputs jsonb,
                score_parts jsonb,
                score_failure text,
                scored_at timestamptz, rescore_at timestamptz
            )
),

locked as (
    select
        i.id,
        i.rank <> g.rank as placed,
        case
            when
                (i.score is distinct from g.score)
                or (i.score_rule is distinct from g.score_rule)
                or (i.score_version is distinct from g.score_version)
                or (i.score_parts is distinct from g.score_parts)
                or (i.score_failure is distinct from g.score_failure)
                then 1
            else 0
        end as changed
    from jobs.items as i
    inner join given as g on i.id = g.id
    where
        i.tenant = %(tenant)s
        and i.closed_at is null
        and i.money_version = g.money_version
        and i.scored_at is not distinct from g.seen_at
    for no key update of i skip locked
),

written as (
    update jobs.items as i
    set
        rank = g.rank,
        placed_xid = case when l.placed then pg_current_xact_id()::text::bigint else i.placed_xid end,
        score = g.score,
        score_rule = g.score_rule,
        score_version = g.score_version,
        score_inputs = g.score_inputs,
        score_parts = g.score_parts,
        score_failure = g.score_failure,
        scored_at = g.scored_at,
        rescore_at = g.rescore_at,
        row_version = i.row_version + l.changed
    from given as g
    inner join locked as l on g.id = l.id
    where
        i.id = g.id
        and i.tenant = %(tenant)s
        and i.money_version = g.money_version
        and (
            exists (
                select 1 from jobs.duties as d
                where d.name = %(name)s::text and d.holder = %(holder)s and d.fence = %(fence)s
            )
            or exists (
                select 1 from jobs.occurrences as o
                where
                    o.id = %(occurrence)s::uuid
                    and o.tenant = %(tenant)s
                    and o.state = 'processing'
                    and o.holder = %(holder)s
                    and o.fence = %(fence)s
                    and o.expires_at > jobs.now()
            )
        )
    returning i.id, i.tenant, i.queue, i.row_version, l.changed, l.placed
),

told as (
    insert into jobs.hints (tenant, topic, queue, ref, version)
    select
        w.tenant,
        'item' as topic,
        w.queue,
        w.id::text as ref,
        w.row_version
    from written as w
    where w.changed = 1
    returning tenant
)

select
    count(*) as scored,
    count(*) filter (where w.placed) as placed,
    (
        select count(pg_notify('jobs_hints', t.tenant))
        from (select distinct told.tenant from told) as t
    ) as notified,
    set_config('synchronous_commit', 'off', true) as lazily
from written as w
