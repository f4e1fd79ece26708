-- How many entries of the trail each tenant has between two places.
select
    coalesce(a.tenant, '') as tenant,
    count(*) as count
from jobs.audit_links as l
inner join jobs.audit as a on l.entry = a.id
where l.place > %(after)s and l.place <= %(upto)s
group by a.tenant
