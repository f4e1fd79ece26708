-- The latest entry that says that the trail is purged up to a place at least: how far, and that place's head.
select
    (a.detail ->> 'upto')::bigint as upto,
    a.detail ->> 'head' as head
from jobs.audit as a
where a.tenant is null and a.action = 'purge-audit' and (a.detail ->> 'upto')::bigint >= %(place)s
order by a.at desc, a.id desc
limit 1
