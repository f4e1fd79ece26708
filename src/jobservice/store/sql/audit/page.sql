-- One page of a tenant's trail under a filter, newest first, with one row more than asked for where there is more.
select
    a.id,
    a.at,
    a.person,
    p.name as person_name,
    a.action,
    a.subject,
    a.outcome,
    a.schedule,
    a.detail
from jobs.audit as a
left join jobs.people as p on a.person = p.id
where
    a.tenant = %(tenant)s
    and (a.at, a.id) < (
        coalesce(%(at)s::timestamptz, %(until)s::timestamptz, 'infinity'), coalesce(%(after)s::bigint, 0)
    )
    and (%(since)s::timestamptz is null or a.at >= %(since)s::timestamptz)
    and (%(until)s::timestamptz is null or a.at < %(until)s::timestamptz)
    and (%(person)s::text is null or a.person = %(person)s::text)
    and (not %(by_itself)s::boolean or a.person is null)
    and (%(action)s::text is null or a.action = %(action)s::text)
    and (%(subject)s::text is null or a.subject = %(subject)s::text)
    and (%(outcome)s::text is null or a.outcome = %(outcome)s::text)
    and (%(schedule)s::text is null or a.schedule = %(schedule)s::text)
order by a.at desc, a.id desc
limit %(most)s + 1
