-- Ends occurrences that wait, as dead letters that no attempt is made at; the rows are locked, and nobody holds them.
-- They are found by their ids: see claim.sql.
update jobs.occurrences as o
set
    state = 'dead-letter',
    ended_at = jobs.now(),
    cause = g.cause,
    error = g.error,
    miss_at = null,
    version = o.version + 1
from unnest(%(ids)s::uuid[], %(causes)s::text[], %(errors)s::text[]) as g (id, cause, error)
where o.id = g.id and o.id = any(%(ids)s::uuid[]) and o.state || '' = 'scheduled' and o.holder is null
returning o.tenant, o.schedule
