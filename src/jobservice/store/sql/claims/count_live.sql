-- How many items a person holds now.
select count(*) as live
from jobs.items as i
where i.tenant = %(tenant)s and i.holder = %(person)s and i.expires_at > (select jobs.now())
