-- The chain in its order, from behind a place up to another: each link with what is sealed of its entry, and the seal
-- that it belongs to.
select
    l.place,
    l.entry,
    l.link,
    a.id,
    a.at,
    a.xid,
    case when a.id is not null then jobs.audit_texts(a) end as texts,
    s.number as seal,
    s.at as sealed_at,
    s.life,
    s.upto_xid,
    s.upto_id,
    s.place as seal_place,
    s.count,
    s.head
from jobs.audit_links as l
left join jobs.audit as a on l.entry = a.id
left join jobs.audit_seals as s on l.seal = s.number
where l.place > %(after)s and l.place <= %(upto)s
order by l.place
