-- When the next score of a queue's open items is due; null where none ever is.
select min(i.rescore_at) as due
from jobs.items as i
where i.tenant = %(tenant)s and i.queue = %(queue)s and i.closed_at is null
