-- One page of what is odd about a plan's rows: what must be answered first, then odd before ordinary, most money first.
select
    w.id::text as id,
    i.number,
    w.item::text as item,
    w.kind,
    w.sentence,
    i.amount_minor,
    i.currency,
    i.payee_id,
    i.payee_name,
    right(i.account, 4) as account_last4,
    w.must_answer,
    w.answer,
    w.place,
    w.amount_rank
from jobs.plan_warnings as w
inner join jobs.plan_items as i on w.plan = i.plan and w.item = i.item
where
    w.tenant = %(tenant)s
    and w.plan = %(plan)s::uuid
    and ((not w.must_answer)::integer, w.place, w.amount_rank, w.id)
    > (%(free)s::integer, %(place)s::integer, %(rank)s::bigint, %(id)s::uuid)
order by (not w.must_answer)::integer, w.place, w.amount_rank, w.id
limit %(most)s + 1
