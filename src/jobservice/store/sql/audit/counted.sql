-- How many entries of a tenant's trail each thing that is asked for has by itself behind a mark, counted to a most by
-- its index alone; null for what is not asked for. Entries that went well are most of the trail: they are not counted.
with marked as materialized (
    select
        coalesce(%(at)s::timestamptz, %(until)s::timestamptz, 'infinity') as at,
        coalesce(%(after)s::bigint, 0) as id,
        coalesce(%(since)s::timestamptz, '-infinity') as since
)

select
    case
        when %(person)s::text is not null or %(by_itself)s::boolean
            then (
                select count(*)
                from (
                    select a.id
                    from jobs.audit as a
                    where
                        a.tenant = %(tenant)s
                        and (
                            (%(by_itself)s::boolean and a.person is null)
                            or (not %(by_itself)s::boolean and a.person = %(person)s::text)
                        )
                        and (a.at, a.id) < (m.at, m.id)
                        and a.at >= m.since
                    order by a.at desc, a.id desc
                    limit %(looked)s
                ) as f
            )
    end as person,
    case
        when %(action)s::text is not null
            then (
                select count(*)
                from (
                    select a.id
                    from jobs.audit as a
                    where
                        a.tenant = %(tenant)s
                        and a.action = %(action)s::text
                        and (a.at, a.id) < (m.at, m.id)
                        and a.at >= m.since
                    order by a.at desc, a.id desc
                    limit %(looked)s
                ) as f
            )
    end as action,
    case
        when %(subject)s::text is not null
            then (
                select count(*)
                from (
                    select a.id
                    from jobs.audit as a
                    where
                        a.tenant = %(tenant)s
                        and a.subject = %(subject)s::text
                        and (a.at, a.id) < (m.at, m.id)
                        and a.at >= m.since
                    order by a.at desc, a.id desc
                    limit %(looked)s
                ) as f
            )
    end as subject,
    case
        when %(schedule)s::text is not null
            then (
                select count(*)
                from (
                    select a.id
                    from jobs.audit as a
                    where
                        a.tenant = %(tenant)s
                        and a.schedule = %(schedule)s::text
                        and (a.at, a.id) < (m.at, m.id)
                        and a.at >= m.since
                    order by a.at desc, a.id desc
                    limit %(looked)s
                ) as f
            )
    end as schedule,
    case
        when %(outcome)s::text <> 'done'
            then (
                select count(*)
                from (
                    select a.id
                    from jobs.audit as a
                    where
                        a.tenant = %(tenant)s
                        and a.outcome <> 'done'
                        and a.outcome = %(outcome)s::text
                        and (a.at, a.id) < (m.at, m.id)
                        and a.at >= m.since
                    order by a.at desc, a.id desc
                    limit %(looked)s
                ) as f
            )
    end as outcome
from marked as m
