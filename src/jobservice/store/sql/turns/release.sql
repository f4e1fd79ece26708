-- Ends a turn whose rows are locked as done: the item is released, with its version, the release and the trail.
-- `said_by`: the person who said that it was paid, about a turn that was uncertain: that is written whatever became of
-- the item meanwhile, or it could be paid again. Else the caller has the lease, and the item is as the plan held it.
with ended as (
    update jobs.plan_items as t
    set
        turn = 'done',
        ended_at = jobs.now(),
        sentence = %(sentence)s,
        reference = coalesce(%(reference)s, t.reference),
        outward_key = coalesce(t.outward_key, %(outward_key)s)
    from jobs.plans as p, jobs.items as i
    where
        t.tenant = %(tenant)s
        and t.plan = %(plan)s::uuid
        and t.item = %(item)s::uuid
        and t.turn = %(was)s
        and t.turn_fence is not distinct from %(turn_fence)s
        and p.id = t.plan
        and p.tenant = %(tenant)s
        and (
            (%(was)s = 'uncertain' and %(said_by)s::text is not null)
            or (
                p.holder = %(holder)s
                and p.fence = %(plan_fence)s
                and i.closed_at is null
                and i.plan = p.id
                and i.held
                and i.holder = p.owner
                and i.fence = t.fence
                and i.amount_minor = t.amount_minor
                and i.currency = t.currency
                and i.payee_id = t.payee_id
                and i.account = t.account
            )
        )
        and i.id = t.item
        and i.tenant = %(tenant)s
    returning t.*, p.owner, p.name, p.queue, i.holder as item_holder, i.fence as item_fence
),

closed as (
    update jobs.items as i
    set
        state = 'released',
        closed_at = jobs.now(),
        placed_xid = pg_current_xact_id()::text::bigint,
        money_version = i.money_version + 1,
        row_version = i.row_version + 1,
        changed_by = e.owner,
        changed_at = jobs.now(),
        holder = null,
        taken_at = null,
        expires_at = null,
        plan = null,
        plan_name = null,
        held = false
    from ended as e
    where
        i.id = e.item
        and i.tenant = %(tenant)s
        and i.state <> 'released'
        and i.holder is not distinct from e.item_holder
        and i.fence = e.item_fence
    returning i.*
),

kept as (
    insert into jobs.item_versions (
        item, money_version, tenant, changed_by, state, set_aside_until, title, amount_minor, currency, payee_id,
        payee_name, account, inputs
    )
    select
        c.id,
        c.money_version,
        c.tenant,
        c.changed_by,
        c.state,
        c.set_aside_until,
        c.title,
        c.amount_minor,
        c.currency,
        c.payee_id,
        c.payee_name,
        c.account,
        c.inputs
    from closed as c
),

released as (
    insert into jobs.releases (
        item, tenant, plan, person, said_by, amount_minor, currency, payee_id, account, outward_key, reference
    )
    select
        c.id,
        c.tenant,
        e.plan,
        e.owner,
        %(said_by)s::text as said_by,
        e.amount_minor,
        e.currency,
        e.payee_id,
        e.account,
        e.outward_key,
        e.reference
    from closed as c
    inner join ended as e on c.id = e.item
)

insert into jobs.audit (tenant, person, action, subject, outcome, detail)
select
    e.tenant,
    e.owner as person,
    %(action)s,
    e.item::text as subject,
    'done' as outcome,
    jsonb_strip_nulls(
        jsonb_build_object(
            'plan', e.name,
            'queue', e.queue,
            'minor', e.amount_minor,
            'currency', e.currency,
            'account_last4', right(e.account, 4),
            'outward_key', e.outward_key,
            'reference', e.reference,
            'said_by', %(said_by)s::text,
            'sentence', %(sentence)s::text
        )
    ) as detail
from ended as e
