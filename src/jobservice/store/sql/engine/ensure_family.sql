-- Makes the tables of a family of kinds, where they are missing; whether they were.
select jobs.ensure_family(%(family)s) as made
