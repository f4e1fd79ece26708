-- The first of some keys that the run has an item of already.
select i.key
from unnest(%(keys)s::text[]) with ordinality as g (key, place)
inner join jobs.occurrence_items as i
    on i.occurrence = %(occurrence)s and i.tenant = %(tenant)s and g.key = i.key
order by g.place
limit 1
