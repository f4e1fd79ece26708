-- How many warnings of a plan wait for an answer.
select count(*) as unanswered
from jobs.plan_warnings as w
where w.tenant = %(tenant)s and w.plan = %(plan)s::uuid and w.must_answer and w.answer is null
