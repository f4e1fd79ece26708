-- Writes items that were selected before any is begun, and how far the selection got, under the occurrence's lease.
-- `held` is 0 where the lease is not ours any more. A key that the run has already stays as it is; `twice` is the first
-- of them that may not come again: with a cursor one that has its outcome, else any. Unfinished is what was selected
-- and has no outcome: counted here, so that the four counts always add up to what was selected.
with given as (
    select
        n.key,
        n.label,
        n.given,
        n.place
    from
        jsonb_to_recordset(%(items)s)
            as n (key text, label text, given jsonb, place bigint)
    where
        not exists (
            select 1
            from jobs.occurrence_items as i
            where i.occurrence = %(occurrence)s and i.tenant = %(tenant)s and i.key = n.key
        )
),

held as (
    update jobs.occurrences as o
    set
        position = coalesce(%(position)s, o.position),
        selected_all = %(selected_all)s,
        done = %(done)s,
        refused = %(refused)s,
        failed = %(failed)s,
        unfinished = %(unfinished)s + (select count(*) from given),
        version = o.version + 1
    where
        o.id = %(occurrence)s
        and o.tenant = %(tenant)s
        and o.state = 'processing'
        and o.holder = %(holder)s
        and o.fence = %(held_fence)s
        and o.expires_at > jobs.now()
    returning o.id
),

added as (
    insert into jobs.occurrence_items (occurrence, key, tenant, number, label, given)
    select
        h.id,
        g.key,
        %(tenant)s,
        %(selected)s + row_number() over (order by g.place) as number,
        g.label,
        g.given
    from held as h
    cross join given as g
    returning number
)

select
    (select count(*) from held) as held,
    (select count(*) from added) as added,
    (
        select i.key
        from jsonb_to_recordset(%(items)s) as n (key text, place bigint)
        inner join jobs.occurrence_items as i
            on i.occurrence = %(occurrence)s and i.tenant = %(tenant)s and n.key = i.key
        where i.outcome is not null or not %(again)s
        order by n.place
        limit 1
    ) as twice
