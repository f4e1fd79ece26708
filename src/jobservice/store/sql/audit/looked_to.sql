-- How far a search of the trail looked: the last of so many entries that have one of the things that are asked for.
select
    a.at,
    a.id
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
limit 1 offset %(looked)s - 1
