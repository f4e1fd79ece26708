-- Locks payouts that the outside world knows as paid, in the order of their ids; they are judged after the wait.
with locked as materialized (
    select i.id
    from jobs.items as i
    where i.tenant = %(tenant)s and i.id = any(%(items)s::uuid[])
    order by i.id
    for update
)

select count(*) as locked
from locked
