-- Does the listening connection still live?
select 1 as alive
