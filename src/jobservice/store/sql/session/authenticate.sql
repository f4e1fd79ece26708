-- Who a token belongs to, by its hash alone; the one look past the walls.
select
    a.person,
    a.name,
    a.demo,
    a.active,
    a.expires_at,
    a.revoked,
    a.memberships,
    a.now
from jobs.authenticate(%(hash)s) as a
