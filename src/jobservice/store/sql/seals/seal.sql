-- Seals the next entries of the trail, of all tenants, as one batch; the seal, or no row.
select
    s.number,
    s.place,
    s.count,
    s.head,
    s.at
from jobs.seal_audit(%(most)s) as s
