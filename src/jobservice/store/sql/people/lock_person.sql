-- One person, locked until the end of the transaction, so that rights and tokens change one after the other.
select
    id,
    name,
    active,
    demo
from jobs.people
where id = %(person)s for update
