-- Judges locked items one by one: what may be in the plan is claimed for its owner and frozen in the byte order of the
-- ids; what may not is kept with the reason. `named`: every id of `asked` was named by the person, so those that are no
-- item of the queue within reach are left out as unknown, all alike; else `asked` is what a filter found, and what no
-- longer matches now that it is locked is not of the set. A claim of before ends in the history. Nothing is taken where
-- queue or command are stopped. This statement is planned for its values; the checks of its foreign keys, which run
-- after its last line, are then planned once and not once a row.
with judged as materialized (
    select
        i.id,
        i.fence,
        i.holder,
        i.expires_at,
        i.plan,
        i.held,
        i.title,
        i.amount_minor,
        i.currency,
        i.payee_id,
        i.payee_name,
        i.account,
        i.closed_at is null and i.set_aside_until > %(now)s as aside,
        i.state,
        i.set_aside_until,
        case
            when i.closed_at is not null then 'closed'
            when i.plan is not null and i.expires_at > %(now)s then 'in-plan'
            when i.holder <> %(owner)s and i.expires_at > %(now)s then 'held'
            when case when i.set_aside_until > %(now)s then 'set-aside' else i.state end <> all(%(states)s::text[])
                then 'state-unfit'
            when i.pushed_by = %(owner)s then 'pushed-by-owner'
            when i.payment_changed_by = %(owner)s then 'changed-by-owner'
            when i.currency is null or i.currency <> all(%(currencies)s::text[]) then 'currency-without-limits'
        end as reason
    from jobs.items as i
    where
        i.tenant = %(tenant)s
        and i.id = any(%(locked)s::uuid[])
        and jobs.matches(i, %(filter)s::jsonb, %(now)s)
        and not (select jobs.stopped(%(tenant)s, 'queue', %(queue)s))
        and not (select jobs.stopped(%(tenant)s, 'bulk-command', %(command)s))
),

taken as (
    update jobs.items as i
    set
        holder = %(owner)s,
        taken_at = %(now)s,
        expires_at = %(until)s,
        fence = i.fence + 1,
        plan = %(plan)s::uuid,
        plan_name = %(name)s,
        held = false,
        row_version = i.row_version + 1
    from judged as j
    where i.id = j.id and i.fence = j.fence and j.reason is null
    returning
        i.id, i.tenant, i.money_version, i.fence, i.business_key, i.title, i.amount_minor, i.currency, i.payee_id,
        i.payee_name, i.account, i.inputs, i.words
),

kept as (
    insert into jobs.plan_items (
        plan, item, tenant, number, money_version, fence, business_key, title, amount_minor, currency, payee_id,
        payee_name, account, account_mark, inputs, words
    )
    select
        %(plan)s::uuid,
        t.id,
        t.tenant,
        row_number() over (order by t.id) as number,
        t.money_version,
        t.fence,
        t.business_key,
        t.title,
        t.amount_minor,
        t.currency,
        t.payee_id,
        t.payee_name,
        t.account,
        encode(sha256(%(salt)s::bytea || convert_to(t.account, 'UTF8')), 'hex') as account_mark,
        t.inputs,
        t.words
    from taken as t
),

ended as (
    update jobs.claims as c
    set
        ended_at = least(c.expires_at, %(now)s),
        ending = case when c.expires_at > %(now)s then 'released' else 'lapsed' end,
        ended_by = case when c.expires_at > %(now)s then %(owner)s end
    from judged as j
    where
        j.reason is null
        and j.holder is not null
        and c.item = j.id
        and c.holder = j.holder
        and c.fence = j.fence
        and c.tenant = %(tenant)s
        and c.ended_at is null
    returning c.item, c.tenant, c.queue, c.holder, c.fence, c.ending
),

audited as (
    insert into jobs.audit (tenant, action, subject, outcome, detail)
    select
        e.tenant,
        'claim-lapsed' as action,
        e.item::text as subject,
        'done' as outcome,
        jsonb_build_object('queue', e.queue, 'holder', e.holder, 'fence', e.fence) as detail
    from ended as e
    where e.ending = 'lapsed'
),

left_out as (
    insert into jobs.plan_exclusions (
        plan, item, tenant, reason, who, sentence, title, amount_minor, currency, payee_id, payee_name, account
    )
    select
        %(plan)s::uuid,
        j.id,
        %(tenant)s,
        j.reason,
        case j.reason when 'in-plan' then o.owner when 'held' then j.holder end as who,
        case j.reason
            when 'closed' then format('It is %%s: there is nothing left to do.', j.state)
            when 'in-plan'
                then case
                    when u.turn = 'uncertain'
                        then format('%%s sent it: a person has to say first whether it was paid.', o.name)
                    when j.held then format('It is in %%s, which %%s confirmed.', o.name, coalesce(q.name, o.owner))
                    else format('It is in %%s, a plan of %%s.', o.name, coalesce(q.name, o.owner))
                end
            when 'held'
                then format(
                    'It is held by %%s until %%s UTC.',
                    coalesce(h.name, j.holder),
                    to_char(j.expires_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS')
                )
            when 'state-unfit'
                then format(
                    'It is %%s, and %%s is for items that are %%s.',
                    case
                        when j.aside
                            then format(
                                'set aside until %%s UTC',
                                to_char(j.set_aside_until at time zone 'UTC', 'YYYY-MM-DD HH24:MI')
                            )
                        else j.state
                    end,
                    %(use_case_title)s::text,
                    array_to_string(%(states)s::text[], ' or ')
                )
            when 'pushed-by-owner' then format('%%s pushed it: another person has to do this.', w.name)
            when 'changed-by-owner'
                then format(
                    '%%s was the last to change its amount, payee or account: another person has to do this.', w.name
                )
            else case
                when j.currency is null then 'It carries no amount.'
                else format('%%s has no limits for %%s.', %(command_title)s::text, j.currency)
            end
        end as sentence,
        j.title,
        j.amount_minor,
        j.currency,
        j.payee_id,
        j.payee_name,
        j.account
    from judged as j
    left join jobs.plans as o on j.plan = o.id and j.reason = 'in-plan'
    left join jobs.people as q on o.owner = q.id
    left join jobs.people as h on j.holder = h.id and j.reason = 'held'
    left join jobs.people as w on w.id = %(owner)s
    left join jobs.plan_items as u on j.plan = u.plan and j.id = u.item and j.reason = 'in-plan'
    where j.reason is not null
    union all
    select
        %(plan)s::uuid,
        a.id,
        %(tenant)s,
        'unknown' as reason,
        null as who,
        'No item of this queue that its owner may see has this id.' as sentence,
        null as title,
        null as amount_minor,
        null as currency,
        null as payee_id,
        null as payee_name,
        null as account
    from unnest(%(asked)s::uuid[]) as a (id)
    left join judged as j on a.id = j.id
    where %(named)s and j.id is null
    returning reason
)

select
    (select count(*) from taken) as taken,
    coalesce(jsonb_object_agg(r.reason, r.items), '{}'::jsonb) as excluded,
    set_config('plan_cache_mode', 'auto', true) as plans
from (
    select
        l.reason,
        count(*) as items
    from left_out as l
    group by l.reason
) as r
