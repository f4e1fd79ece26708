-- Ends a turn whose rows are locked as anything but done, or lets it wait; the item is let go, or held on, and the
-- trail says so. `said_by`: the person who said that it was not paid, about a turn that was uncertain; else the caller
-- has the lease. Whoever is asked about an uncertain payout asks by its outward key.
with ended as (
    update jobs.plan_items as t
    set
        turn = %(turn)s,
        ended_at = case when %(turn)s = 'waiting' then null else jobs.now() end,
        try_at = case when %(turn)s = 'waiting' then jobs.now() + make_interval(secs => %(after)s) end,
        sentence = %(sentence)s,
        outward_key = case
            when %(turn)s = 'uncertain' then coalesce(t.outward_key, %(outward_key)s)
            else t.outward_key
        end,
        reference = coalesce(%(reference)s, t.reference)
    from jobs.plans as p
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
            or (p.holder = %(holder)s and p.fence = %(plan_fence)s)
        )
    returning t.*, p.owner, p.name, p.apply_until
),

kept as (
    update jobs.items as i
    set
        holder = case when %(turn)s in ('waiting', 'uncertain') then i.holder end,
        taken_at = case when %(turn)s in ('waiting', 'uncertain') then i.taken_at end,
        expires_at = case %(turn)s
            when 'waiting' then e.apply_until
            when 'uncertain' then timestamptz '9999-12-31 00:00:00+00'
        end,
        plan = case when %(turn)s in ('waiting', 'uncertain') then i.plan end,
        plan_name = case when %(turn)s in ('waiting', 'uncertain') then i.plan_name end,
        held = %(turn)s in ('waiting', 'uncertain'),
        row_version = i.row_version + 1
    from ended as e
    where
        i.id = e.item
        and i.tenant = %(tenant)s
        and i.plan = e.plan
        and i.held
        and i.holder = e.owner
        and i.fence = e.fence
)

insert into jobs.audit (tenant, person, action, subject, outcome, detail)
select
    e.tenant,
    e.owner as person,
    %(action)s,
    e.item::text as subject,
    case when e.turn = 'waiting' then 'retry' else e.turn end as outcome,
    jsonb_strip_nulls(
        jsonb_build_object(
            'plan', e.name,
            'minor', e.amount_minor,
            'currency', e.currency,
            'account_last4', right(e.account, 4),
            'attempts', e.attempts,
            'outward_key', e.outward_key,
            'reference', e.reference,
            'said_by', %(said_by)s::text,
            'sentence', e.sentence
        )
    ) as detail
from ended as e
