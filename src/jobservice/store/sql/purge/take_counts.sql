-- Takes what is gone and the trail does not say yet.
with taken as (
    delete from jobs.purged as p
    returning p.tenant, p.what, p.count
)

select
    t.tenant,
    jsonb_object_agg(t.what, t.count) as counts
from taken as t
group by t.tenant
order by t.tenant
