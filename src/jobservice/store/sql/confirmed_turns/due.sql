-- Rows of a plan that wait to be tried again and are due by now.
select t.item::text as item
from jobs.plan_items as t
where t.tenant = %(tenant)s and t.plan = %(plan)s::uuid and t.turn = 'waiting' and t.try_at <= %(now)s
order by t.try_at
limit %(most)s
