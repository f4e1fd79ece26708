-- Keeps what is left out of a recovery by name, behind what is kept already, up to a most.
with behind as (
    select coalesce(max(l.number), 0) as number
    from jobs.recovery_left_out as l
    where l.recovery = %(recovery)s::uuid
)

insert into jobs.recovery_left_out (recovery, number, tenant, name, schedule, reason, sentence, scheduled_at)
select
    %(recovery)s::uuid as part_of,
    k.number + g.place as number,
    %(tenant)s as of_tenant,
    g.name,
    g.schedule,
    g.reason,
    g.sentence,
    g.at as scheduled_at
from
    unnest(
        %(names)s::text[], %(schedules)s::text[], %(reasons)s::text[], %(sentences)s::text[],
        %(instants)s::timestamptz[]
    ) with ordinality as g (name, schedule, reason, sentence, at, place)
cross join behind as k
where k.number + g.place <= %(kept)s
