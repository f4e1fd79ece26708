-- How many entries are not sealed, and the first of them that cannot have been there when the last seal was made: of a
-- transaction that it covered, or of an instant long before it.
select
    count(*) as unsealed,
    min(
        case
            when %(same_life)s and (a.xid, a.id) <= (%(upto_xid)s::bigint, %(upto_id)s::bigint) then a.id
            when %(whole)s and a.at < %(sealed_at)s::timestamptz - make_interval(secs => %(longest)s) then a.id
        end
    ) as added
from jobs.audit as a
left join jobs.audit_links as l on a.id = l.entry
where l.entry is null
