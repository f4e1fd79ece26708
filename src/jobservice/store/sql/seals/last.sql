-- The newest seal, and the first transaction that may still run.
select
    s.number,
    s.at,
    s.life,
    s.upto_xid,
    s.upto_id,
    s.place,
    s.count,
    s.head,
    pg_snapshot_xmin(pg_current_snapshot())::text::bigint as xmin
from jobs.audit_seals as s
order by s.number desc
limit 1
