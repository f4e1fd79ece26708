-- How many alarms were over before an instant, of which nobody is to be told.
select count(*) as count
from jobs.alarms as a
where
    a.cleared_at is not null
    and a.cleared_at < %(past)s
    and a.told <> 'waiting'
