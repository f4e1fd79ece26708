-- Is the database there?
select 1 as alive
