-- How many notices to people were delivered or given up and made before an instant.
select count(*) as count
from jobs.notices as n
where
    n.made_at < %(past)s
    and (n.sent_at is not null or n.given_up_at is not null)
