-- Of the next open items of a queue in its order, those that its present rule did not score (or could not): never
-- scored, by another version, or scored though the queue has no rule any more. A bounded stretch a statement.
with stretch as (
    select i.*
    from jobs.items as i
    where
        i.tenant = %(tenant)s
        and i.queue = %(queue)s
        and i.closed_at is null
        and (i.rank, i.created, i.id) > (%(after_rank)s::bigint, %(after_created)s::timestamptz, %(after_id)s::uuid)
    order by i.rank, i.created, i.id
    limit %(stretch)s
),

found as (
    select
        i.id,
        i.created,
        i.title,
        i.amount_minor,
        i.currency,
        i.payee_id,
        i.payee_name,
        i.account,
        i.inputs,
        i.money_version,
        i.scored_at,
        i.rescore_at
    from stretch as i
    where
        i.score_rule is distinct from %(rule)s::text
        or i.score_version is distinct from %(version)s::integer
        or i.score_failure is not null
        or (i.rescore_at is not null) <> %(timed)s
),

ending as (
    select
        i.rank,
        i.created,
        i.id
    from stretch as i
    order by i.rank desc, i.created desc, i.id desc
    limit 1
)

select
    e.rank as last_rank,
    e.created as last_created,
    e.id as last_id,
    f.*
from ending as e
left join found as f on true
order by f.id
