-- Which database this is, as 32 hexadecimal digits: positions of another one, or of a restored backup, do not count.
select md5(concat_ws('/', s.system_identifier, c.timeline_id, d.oid)) as identity
from pg_control_system() as s
cross join pg_control_checkpoint() as c
cross join pg_database as d
where d.datname = current_database()
