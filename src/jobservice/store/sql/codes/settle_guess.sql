-- Leaves a counted guess as it is, or takes it back; how many stand within the window then, and the clock.
with taken as (
    delete from jobs.code_failures
    where id = %(guess)s and %(given_back)s
    returning id
)

select
    jobs.now() as now,
    (
        select count(*)
        from jobs.code_failures as f
        where f.person = %(person)s and f.at > jobs.now() - make_interval(secs => %(seconds)s)
    ) - (select count(*) from taken) as recent
