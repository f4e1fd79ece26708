-- Ends the claims of people on locked payouts: they are taken over.
update jobs.claims as c
set ended_at = jobs.now(), ending = 'broken', reason = 'The bank has it as paid: this database was restored.'
from jobs.items as i
where
    c.tenant = %(tenant)s
    and c.item = i.id
    and i.id = any(%(items)s::uuid[])
    and c.holder = i.holder
    and c.fence = i.fence
    and c.ended_at is null
