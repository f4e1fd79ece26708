-- Locks leases that ran out, the longest first: of what this Worker runs, and of what nobody took over for long.
select
    o.id,
    o.tenant,
    o.schedule,
    o.fence,
    o.attempts,
    (
        select count(*) + 1
        from jobs.occurrence_attempts as a
        where a.occurrence = o.id and a.ending = 'lost' and a.replay = o.replays
    ) as losses,
    w.host,
    o.cancel_asked_at is not null as cancelled,
    o.schedule = any(%(everywhere)s::text[])
    or o.tenant || ' ' || o.schedule = any(%(somewhere)s::text[]) as runnable,
    jobs.switched_off(o.tenant, o.schedule) or jobs.stopped(o.tenant, 'tenant', o.tenant) as waits,
    extract(epoch from jobs.now() - o.expires_at)::float8 as since
from jobs.occurrences as o
left join jobs.workers as w on o.holder = w.incarnation
where
    o.state = 'processing'
    and o.expires_at <= (select jobs.now())
    and (
        o.expires_at <= (select jobs.now()) - make_interval(secs => %(unknown_after)s)
        or o.schedule = any(%(everywhere)s::text[])
        or o.tenant || ' ' || o.schedule = any(%(somewhere)s::text[])
    )
order by o.expires_at, o.id
limit %(most)s
for update of o skip locked
