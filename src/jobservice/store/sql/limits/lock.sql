-- Locks the currencies that a plan sends out, in the order of their codes: whoever sums by one of them afterwards sees
-- all that was confirmed before (MONEY.md 10). The clock is read after the wait, by the next statement.
select l.currency
from jobs.limit_locks as l
where
    l.tenant = %(tenant)s
    and l.currency in (
        select i.currency
        from jobs.plan_items as i
        where i.tenant = %(tenant)s and i.plan = %(plan)s::uuid and i.amount_minor > 0
    )
order by l.currency
for update
