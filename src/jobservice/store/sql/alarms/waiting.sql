-- How many alarms wait to be told of.
select count(*) as waiting
from jobs.alarms as a
where a.told = 'waiting'
