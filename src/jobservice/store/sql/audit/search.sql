-- Entries of a tenant's trail that are all of what is asked for, newest first, out of at most so many that have one of
-- these things (`rarest`): what seldom meets would else be looked for through the whole trail.
with looked as (
    select
        a.id,
        a.at,
        a.person,
        a.action,
        a.subject,
        a.outcome,
        a.schedule,
        a.detail
    from jobs.audit as a
    where
        a.tenant = %(tenant)s
        and (a.at, a.id) < (
            coalesce(%(at)s::timestamptz, %(until)s::timestamptz, 'infinity'), coalesce(%(after)s::bigint, 0)
        )
        and (%(since)s::timestamptz is null or a.at >= %(since)s::timestamptz)
        and (%(rarest)s <> 'person' or %(by_itself)s::boolean or a.person = %(person)s::text)
        and (%(rarest)s <> 'person' or not %(by_itself)s::boolean or a.person is null)
        and (%(rarest)s <> 'action' or a.action = %(action)s::text)
        and (%(rarest)s <> 'subject' or a.subject = %(subject)s::text)
        and (%(rarest)s <> 'schedule' or a.schedule = %(schedule)s::text)
        and (%(rarest)s <> 'outcome' or a.outcome = %(outcome)s::text)
    order by a.at desc, a.id desc
    limit %(looked)s
)

select
    l.id,
    l.at,
    l.person,
    p.name as person_name,
    l.action,
    l.subject,
    l.outcome,
    l.schedule,
    l.detail
from looked as l
left join jobs.people as p on l.person = p.id
where
    (%(person)s::text is null or l.person = %(person)s::text)
    and (not %(by_itself)s::boolean or l.person is null)
    and (%(action)s::text is null or l.action = %(action)s::text)
    and (%(subject)s::text is null or l.subject = %(subject)s::text)
    and (%(outcome)s::text is null or l.outcome = %(outcome)s::text)
    and (%(schedule)s::text is null or l.schedule = %(schedule)s::text)
order by l.at desc, l.id desc
limit %(most)s + 1
