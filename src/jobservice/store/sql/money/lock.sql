-- Locks the switch of a tenant; it is read in a later statement, after the wait (MONEY.md 30).
select s.version
from jobs.money_switches as s
where s.tenant = %(tenant)s
for update
