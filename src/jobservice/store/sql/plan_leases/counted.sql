-- What a plan counts for limits, by currency.
select
    o.currency,
    sum(o.gross_minor)::bigint as minor,
    sum(o.count)::bigint as items
from jobs.outgoings as o
where o.tenant = %(tenant)s and o.plan = %(plan)s::uuid
group by o.currency
