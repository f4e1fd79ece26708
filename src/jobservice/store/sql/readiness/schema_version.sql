-- The migration that the database has reached.
select v.version_num as reached
from jobs.schema_version as v
