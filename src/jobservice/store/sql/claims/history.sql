-- An item's claims, newest first; one past its lease that nobody wrote off yet shows as lapsed.
select
    coalesce(
        json_agg(
            json_build_object(
                'fence', h.fence,
                'holder', json_build_object('id', h.holder, 'name', h.holder_name),
                'taken_at', h.taken_at,
                'expires_at', h.expires_at,
                'renewals', h.renewals,
                'ended_at', case when h.lapsed then h.expires_at else h.ended_at end,
                'ending', case when h.lapsed then 'lapsed' else h.ending end,
                'ended_by', case
                    when h.ended_by is not null
                        then json_build_object('id', h.ended_by, 'name', h.ended_by_name)
                end,
                'reason', h.reason
            )
            order by h.fence desc
        ),
        '[]'::json
    ) as claims
from (
    select
        c.*,
        c.ended_at is null and c.expires_at <= (select jobs.now()) as lapsed,
        coalesce(p.name, c.holder) as holder_name,
        coalesce(q.name, c.ended_by) as ended_by_name
    from jobs.claims as c
    left join jobs.people as p on c.holder = p.id
    left join jobs.people as q on c.ended_by = q.id
    where c.item = %(item)s::uuid and c.tenant = %(tenant)s
    order by c.fence desc
    limit %(most)s
) as h
