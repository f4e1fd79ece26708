-- The migration that the database has reached.
select version_num as version from jobs.schema_version
