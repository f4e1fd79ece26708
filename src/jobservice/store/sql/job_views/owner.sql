-- Whose jobs a source shows: what its newest one says.
select
    q.family,
    to_jsonb(q) ->> 'engine' as engine
from cross_job_query as q
order by q.position desc, q.job desc
limit 1
