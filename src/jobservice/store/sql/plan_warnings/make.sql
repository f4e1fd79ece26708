-- Writes what is odd about the rows of a plan just frozen, over what was written at its last freeze, and names it on
-- each row that does not say so already; what its owner answered stays with the items that stay. `alike`: payee id to
-- the name that it looks like. `above`: from which amount on a warning must be answered, by currency.
-- One pass over the rows, windows for what they say of each other, one look into an index for what was paid before: the
-- rows are a moment old and have no statistics, so a plan with joins among them takes a square of their number. For the
-- same reason a row is found again by where it lies: its plan is locked, so it lies there still.
with rows_now as (
    select
        p.ctid as lies_at,
        p.warned,
        p.item,
        p.tenant,
        p.amount_minor,
        p.currency,
        p.payee_id,
        p.payee_name,
        p.account,
        i.account_changed_at,
        i.account_changed_by,
        min(p.account collate "C") over of_payee as payee_first,
        max(p.account collate "C") over of_payee as payee_last,
        min(p.payee_id collate "C") over of_account as account_first,
        max(p.payee_id collate "C") over of_account as account_last,
        min(p.payee_name collate "C") over of_account as name_first,
        max(p.payee_name collate "C") over of_account as name_last,
        count(*) over of_amount as equal_rows,
        (select jobs.now()) - make_interval(secs => %(seconds)s) as since
    from jobs.plan_items as p
    inner join jobs.items as i on p.item = i.id
    where p.plan = %(plan)s::uuid and p.tenant = %(tenant)s
    window
        of_payee as (partition by p.payee_id),
        of_account as (partition by p.account),
        of_amount as (partition by p.account, p.currency, p.amount_minor)
),

odd as (
    select
        r.*,
        before.at as account_paid_at,
        same.at as same_paid_at,
        other.account as other_account,
        other.at as other_at,
        history.count as payments,
        history.largest
    from rows_now as r
    left join lateral (
        select s.at
        from jobs.releases as s
        where s.tenant = r.tenant and s.account = r.account
        order by s.at desc
        limit 1
    ) as before on true
    left join lateral (
        select s.at
        from jobs.releases as s
        where
            s.tenant = r.tenant
            and s.account = r.account
            and s.at > r.since
            and s.currency = r.currency
            and s.amount_minor = r.amount_minor
        order by s.at desc
        limit 1
    ) as same on r.since < before.at
    left join lateral (
        select
            s.account,
            s.at
        from jobs.releases as s
        where s.tenant = r.tenant and s.payee_id = r.payee_id
        order by s.at desc
        limit 1
    ) as other on before.at is null
    left join lateral (
        select
            count(*) as count,
            max(abs(s.amount_minor)) as largest
        from jobs.releases as s
        where s.tenant = r.tenant and s.payee_id = r.payee_id and s.currency = r.currency
    ) as history on before.at is not null or other.at is not null
),

said as materialized (
    select
        r.lies_at,
        r.warned,
        r.item,
        r.tenant,
        r.amount_minor,
        r.currency,
        -- Odd before ordinary; the place of each is its number.
        array[
            'account-changed',
            'look-alike',
            'payee-two-accounts',
            'account-two-payees',
            'paid-before',
            'same-here',
            'amount-unusual',
            'first-payment',
            'negative'
        ] as kinds,
        array[
            case
                when r.account_changed_at > r.since
                    then
                        'The account was changed by ' || r.account_changed_by || ' on '
                        || to_char(r.account_changed_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') || ' UTC.'
                when r.other_at is not null
                    then
                        'The payee was paid to another account before, …' || right(r.other_account, 4) || ' on '
                        || to_char(r.other_at at time zone 'UTC', 'YYYY-MM-DD') || '.'
            end,
            'Looks like another payee of this plan: ' || (%(alike)s::jsonb ->> r.payee_id) || '.',
            case
                when r.payee_first <> r.payee_last
                    then
                        'This payee has more than one account in this plan, another is …'
                        || right(case when r.account = r.payee_first then r.payee_last else r.payee_first end, 4)
                        || '.'
            end,
            case
                when r.account_first <> r.account_last
                    then
                        'This account is that of more than one payee in this plan, another is '
                        || case when r.payee_name = r.name_first then r.name_last else r.name_first end || '.'
            end,
            'The same amount went to this account on '
            || to_char(r.same_paid_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') || ' UTC.',
            case when r.equal_rows > 1 then r.equal_rows || ' rows of this plan have this amount to this account.' end,
            case
                when r.payments >= 3 and abs(r.amount_minor)::numeric > r.largest::numeric * %(times)s
                    then
                        'More than ' || %(times)s::integer || ' times the largest of the ' || r.payments
                        || ' payments to this payee before.'
            end,
            case
                when r.amount_minor > 0 and r.account_paid_at is null
                    then 'Nothing was paid to this account before.'
            end,
            case when r.amount_minor < 0 then 'A credit: money comes back.' end
        ] as sentences
    from odd as r
),

found as (
    select
        s.item,
        s.tenant,
        s.amount_minor,
        s.currency,
        f.kind,
        f.place,
        f.sentence
    from said as s
    cross join lateral unnest(s.kinds, s.sentences) with ordinality as f (kind, sentence, place)
    where f.sentence is not null
),

named as materialized (
    select
        s.lies_at,
        s.warned,
        array(
            select f.kind
            from unnest(s.kinds, s.sentences) with ordinality as f (kind, sentence, place)
            where f.sentence is not null
            order by f.place
        ) as kinds
    from said as s
),

marked as (
    update jobs.plan_items as p
    set warned = n.kinds
    from named as n
    where p.ctid = n.lies_at and n.warned <> n.kinds
),

answered as materialized (
    select jsonb_object_agg(w.item || w.kind, jsonb_build_array(w.answer, w.answered_at)) as answers
    from jobs.plan_warnings as w
    where w.plan = %(plan)s::uuid and w.tenant = %(tenant)s and w.answer is not null
),

gone as (
    delete from jobs.plan_warnings as w
    where w.plan = %(plan)s::uuid and w.tenant = %(tenant)s
)

insert into jobs.plan_warnings (
    plan, item, tenant, kind, place, sentence, amount_rank, must_answer, answer, answered_at
)
select
    %(plan)s::uuid as plan,
    f.item,
    f.tenant,
    f.kind,
    f.place,
    f.sentence,
    -abs(f.amount_minor) as amount_rank,
    coalesce(abs(f.amount_minor) >= (%(above)s::jsonb ->> f.currency)::bigint, false)
    and f.kind <> 'negative' as must_answer,
    a.answers -> (f.item || f.kind) ->> 0 as answer,
    (a.answers -> (f.item || f.kind) ->> 1)::timestamptz as answered_at
from found as f
cross join answered as a
