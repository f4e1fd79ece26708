-- How many notices wait to be delivered.
select count(*) as waiting
from jobs.notices as n
where n.sent_at is null and n.given_up_at is null
