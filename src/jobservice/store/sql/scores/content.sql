-- What an item within reach is scored by, and the clock to score it at; nothing is locked, for nothing is written.
select
    i.queue,
    i.created,
    i.title,
    i.amount_minor,
    i.currency,
    i.payee_id,
    i.payee_name,
    i.account,
    i.inputs,
    i.closed_at is not null as closed,
    i.state,
    jobs.now() as now
from jobs.items as i
where
    i.id = %(item)s::uuid
    and i.tenant = %(tenant)s
    and jobs.in_reach(i, %(customers)s::text[], %(workspaces)s::text[])
