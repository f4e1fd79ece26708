-- Counts a guess before its code is compared; how many stand within the window with it, and the clock after the lock.
with added as (
    insert into jobs.code_failures (person) values (%(person)s)
    returning id
)

select
    added.id as guess,
    jobs.now() as now,
    1 + (
        select count(*)
        from jobs.code_failures as f
        where f.person = %(person)s and f.at > jobs.now() - make_interval(secs => %(seconds)s)
    ) as recent
from added
