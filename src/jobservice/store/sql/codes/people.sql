-- Who has a secret at rest, in force or being enrolled.
select person
from jobs.codes
where key_id is not null or pending_key_id is not null
order by person
