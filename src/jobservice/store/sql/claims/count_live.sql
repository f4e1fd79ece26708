-- How many items a person holds now; what is in a plan of theirs does not count (MONEY.md 6).
select count(*) as live
from jobs.items as i
where
    i.tenant = %(tenant)s
    and i.holder = %(person)s
    and i.expires_at > (select jobs.now())
    and i.plan is null
