-- The seal that verifying begins behind: what was before it was purged. No row where nothing was.
select
    b.place,
    s.number,
    s.at,
    s.life,
    s.upto_xid,
    s.upto_id,
    s.count,
    s.head
from jobs.audit_base as b
left join jobs.audit_seals as s on b.place = s.place
