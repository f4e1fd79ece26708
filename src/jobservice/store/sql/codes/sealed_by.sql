-- Whose secrets a key seals.
select person
from jobs.codes
where key_id = %(key_id)s or pending_key_id = %(key_id)s
order by person
