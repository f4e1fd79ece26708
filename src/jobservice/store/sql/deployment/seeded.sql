-- Whether the example's content was put in before.
select value from jobs.marks
where name = 'seeded'
