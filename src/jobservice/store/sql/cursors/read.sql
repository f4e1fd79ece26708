-- Where a saga-driving job goes on, and whether another run moved the cursor since the first attempt of this one ended:
-- then what this one has written may have been done by that. `number`: the item of this run that it stands behind; a
-- replay may run that again, and earlier ones, without moving it back.
select
    c.position,
    c.occurrence <> %(occurrence)s
    and c.moved_at >= coalesce(
        (
            select min(a.taken_at)
            from jobs.occurrence_attempts as a
            where a.occurrence = %(occurrence)s and a.tenant = %(tenant)s
        ), '-infinity'
    ) as moved,
    coalesce(
        (
            select i.number
            from jobs.occurrence_items as i
            where i.occurrence = %(occurrence)s and i.tenant = %(tenant)s and i.key = c.position
        ), 0
    ) as number
from jobs.cursors as c
where c.tenant = %(tenant)s and c.name = %(name)s
