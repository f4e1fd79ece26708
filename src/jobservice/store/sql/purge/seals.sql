-- Seals of the trail from behind a place on that were made before an instant; whether one has an entry that says that
-- it is not so old, and how many entries each covers.
select
    s.place,
    s.count,
    s.head,
    exists(
        select 1
        from jobs.audit_links as l
        inner join jobs.audit as a on l.entry = a.id
        where l.place > s.place - s.count and l.place <= s.place and a.at >= %(past)s
    ) as recent
from jobs.audit_seals as s
where s.place > %(after)s and s.at < %(past)s
order by s.place
limit %(most)s
