-- The notice that is due to be delivered longest; no row where none is.
select n.id
from jobs.notices as n
where n.sent_at is null and n.given_up_at is null and n.try_at <= (select jobs.now())
order by n.try_at
limit 1
