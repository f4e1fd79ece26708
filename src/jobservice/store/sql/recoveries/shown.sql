-- Recoveries as people see them, in the order of the ids given.
with wanted as materialized (
    select
        r.*,
        g.place,
        jobs.now() as now
    from unnest(%(recoveries)s::uuid[]) with ordinality as g (id, place)
    inner join jobs.recoveries as r on g.id = r.id and r.tenant = %(tenant)s
)

select
    r.id::text as id,
    r.name,
    r.act,
    r.reason,
    r.asked,
    r.tenant,
    r.owner,
    coalesce(o.name, r.owner) as owner_name,
    case when r.state = 'open' and r.valid_until <= r.now then 'expired' else r.state end as state,
    r.edition,
    r.moves,
    r.disable_until,
    r.frozen_at,
    r.valid_until as expires_at,
    r.confirmed_at,
    r.started_at,
    r.ended_at,
    r.ended_by,
    coalesce(e.name, r.ended_by) as ended_by_name,
    r.why,
    r.count,
    r.schedules,
    r.money,
    r.left_out,
    r.account,
    r.drifted,
    r.at_once,
    r.version,
    r.now
from wanted as r
left join jobs.people as o on r.owner = o.id
left join jobs.people as e on r.ended_by = e.id
order by r.place
