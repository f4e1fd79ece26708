-- Writes what is odd about the rows of a plan just frozen, over what was written at its last freeze; what its owner
-- answered stays with the items that stay. `alike`: payee id to the name that it looks like. `above`: from which
-- amount on a warning must be answered, by currency.
with rows_now as (
    select
        p.item,
        p.tenant,
        p.amount_minor,
        p.currency,
        p.payee_id,
        p.payee_name,
        p.account,
        i.account_changed_at,
        i.account_changed_by
    from jobs.plan_items as p
    inner join jobs.items as i on p.item = i.id
    where p.plan = %(plan)s::uuid and p.tenant = %(tenant)s
),

payees as (
    select
        r.payee_id,
        count(distinct r.account) as accounts
    from rows_now as r
    group by r.payee_id
),

accounts as (
    select
        r.account,
        count(distinct r.payee_id) as payees,
        min(r.payee_name) as one_name,
        max(r.payee_name) as other_name
    from rows_now as r
    group by r.account
),

equal_rows as (
    select
        r.account,
        r.currency,
        r.amount_minor,
        count(*) as count
    from rows_now as r
    group by r.account, r.currency, r.amount_minor
    having count(*) > 1
),

-- What was paid before: to the accounts and payees of this plan alone.
paid_accounts as (
    select distinct s.account
    from jobs.releases as s
    where s.tenant = %(tenant)s and s.account in (select a.account from accounts as a)
),

paid_same as (
    select
        s.account,
        s.currency,
        s.amount_minor,
        max(s.at) as at
    from jobs.releases as s
    where
        s.tenant = %(tenant)s
        and s.account in (select a.account from accounts as a)
        and s.at > (select jobs.now()) - make_interval(secs => %(seconds)s)
    group by s.account, s.currency, s.amount_minor
),

paid_payees as (
    select
        s.payee_id,
        s.currency,
        count(*) as count,
        max(abs(s.amount_minor)) as largest
    from jobs.releases as s
    where s.tenant = %(tenant)s and s.payee_id in (select p.payee_id from payees as p)
    group by s.payee_id, s.currency
),

last_accounts as (
    select distinct on (s.payee_id)
        s.payee_id,
        s.account,
        s.at
    from jobs.releases as s
    where s.tenant = %(tenant)s and s.payee_id in (select p.payee_id from payees as p)
    order by s.payee_id asc, s.at desc, s.item asc
),

found as (
    select
        r.item,
        'account-changed' as kind,
        1 as place,
        'The account was changed by ' || r.account_changed_by || ' on '
        || to_char(r.account_changed_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') || ' UTC.' as sentence
    from rows_now as r
    where r.account_changed_at > (select jobs.now()) - make_interval(secs => %(seconds)s)
    union all
    select
        r.item,
        'account-changed' as kind,
        1 as place,
        'The payee was paid to another account before, …' || right(l.account, 4) || ' on '
        || to_char(l.at at time zone 'UTC', 'YYYY-MM-DD') || '.' as sentence
    from rows_now as r
    inner join last_accounts as l on r.payee_id = l.payee_id and r.account <> l.account
    where
        coalesce(r.account_changed_at <= (select jobs.now()) - make_interval(secs => %(seconds)s), true)
        and r.account not in (select a.account from paid_accounts as a)
    union all
    select
        r.item,
        'look-alike' as kind,
        2 as place,
        'Looks like another payee of this plan: ' || a.value || '.' as sentence
    from rows_now as r
    inner join jsonb_each_text(%(alike)s::jsonb) as a on r.payee_id = a.key
    union all
    select
        r.item,
        'payee-two-accounts' as kind,
        3 as place,
        'This payee has ' || p.accounts || ' accounts in this plan.' as sentence
    from rows_now as r
    inner join payees as p on r.payee_id = p.payee_id
    where p.accounts > 1
    union all
    select
        r.item,
        'account-two-payees' as kind,
        4 as place,
        'This account is that of ' || a.payees || ' payees in this plan; another is '
        || case when r.payee_name = a.one_name then a.other_name else a.one_name end || '.' as sentence
    from rows_now as r
    inner join accounts as a on r.account = a.account
    where a.payees > 1
    union all
    select
        r.item,
        'paid-before' as kind,
        5 as place,
        'The same amount went to this account on ' || to_char(s.at at time zone 'UTC', 'YYYY-MM-DD HH24:MI')
        || ' UTC.' as sentence
    from rows_now as r
    inner join paid_same as s
        on r.account = s.account and r.currency = s.currency and r.amount_minor = s.amount_minor
    union all
    select
        r.item,
        'same-here' as kind,
        6 as place,
        e.count || ' rows of this plan have this amount to this account.' as sentence
    from rows_now as r
    inner join equal_rows as e
        on r.account = e.account and r.currency = e.currency and r.amount_minor = e.amount_minor
    union all
    select
        r.item,
        'amount-unusual' as kind,
        7 as place,
        'More than ' || %(times)s::integer || ' times the largest of the ' || s.count
        || ' payments to this payee before.' as sentence
    from rows_now as r
    inner join paid_payees as s on r.payee_id = s.payee_id and r.currency = s.currency
    where s.count >= 3 and abs(r.amount_minor)::numeric > s.largest::numeric * %(times)s
    union all
    select
        r.item,
        'first-payment' as kind,
        8 as place,
        'Nothing was paid to this account before.' as sentence
    from rows_now as r
    where r.amount_minor > 0 and r.account not in (select a.account from paid_accounts as a)
    union all
    select
        r.item,
        'negative' as kind,
        9 as place,
        'A credit: money comes back.' as sentence
    from rows_now as r
    where r.amount_minor < 0
),

before as (
    delete from jobs.plan_warnings as w
    where w.plan = %(plan)s::uuid and w.tenant = %(tenant)s
    returning w.item, w.kind, w.answer, w.answered_at
),

written as (
    insert into jobs.plan_warnings (
        plan, item, tenant, kind, place, sentence, amount_rank, must_answer, answer, answered_at
    )
    select
        %(plan)s::uuid as plan,
        f.item,
        r.tenant,
        f.kind,
        f.place,
        f.sentence,
        -abs(r.amount_minor) as amount_rank,
        coalesce(abs(r.amount_minor) >= (%(above)s::jsonb ->> r.currency)::bigint, false)
        and f.kind <> 'negative' as must_answer,
        b.answer,
        b.answered_at
    from found as f
    inner join rows_now as r on f.item = r.item
    left join before as b on f.item = b.item and f.kind = b.kind
    returning item, kind, place
),

kinds as (
    select
        w.item,
        array_agg(w.kind order by w.place) as warned
    from written as w
    group by w.item
)

update jobs.plan_items as p
set warned = k.warned
from kinds as k
where p.plan = %(plan)s::uuid and p.item = k.item
