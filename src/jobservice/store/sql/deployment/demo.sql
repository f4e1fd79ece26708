-- Whether people of a demo can still sign in here, and whether this is a demo's database.
select
    jobs.demo_people() as people,
    exists(
        select 1 from jobs.marks
        where name = 'demo'
    ) as marked
