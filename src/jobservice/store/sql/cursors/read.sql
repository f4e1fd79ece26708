-- Where a saga-driving job goes on, and whether another run moved the cursor since the first attempt of this one ended:
-- then what this one has written may have been done by that.
select
    c.position,
    c.occurrence <> %(occurrence)s
    and c.moved_at >= coalesce(
        (
            select min(a.taken_at)
            from jobs.occurrence_attempts as a
            where a.occurrence = %(occurrence)s and a.tenant = %(tenant)s
        ), '-infinity'
    ) as moved
from jobs.cursors as c
where c.tenant = %(tenant)s and c.name = %(name)s
