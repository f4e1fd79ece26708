-- Puts locked payouts that nobody's confirmed plan holds into a plan of their own, as uncertain, under the hold that
-- the next statement writes.
insert into jobs.plan_items (
    plan, item, tenant, number, money_version, fence, business_key, title, amount_minor, currency, payee_id, payee_name,
    account, account_mark, inputs, turn, outward_key, ended_at, sentence, reference
)
select
    p.id as plan,
    i.id as item,
    i.tenant,
    row_number() over (order by i.id) as number,
    i.money_version,
    i.fence + 1 as fence,
    i.business_key,
    i.title,
    i.amount_minor,
    i.currency,
    i.payee_id,
    i.payee_name,
    i.account,
    encode(sha256(p.salt || convert_to(i.account, 'UTF8')), 'hex') as account_mark,
    i.inputs,
    'uncertain' as turn,
    'jc-' || i.id::text as outward_key,
    jobs.now() as ended_at,
    a.sentence,
    a.booking as reference
from jobs.plans as p
cross join unnest(%(items)s::uuid[], %(sentences)s::text[], %(bookings)s::text[]) as a (item, sentence, booking)
inner join jobs.items as i on a.item = i.id
where
    p.tenant = %(tenant)s
    and p.id = %(plan)s::uuid
    and i.tenant = %(tenant)s
    and i.closed_at is null
    and not i.held
returning item::text as item
