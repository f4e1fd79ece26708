-- Tokens of one person or of everybody, newest first, without their hashes.
select
    id,
    person,
    label,
    role,
    tenants,
    created_at,
    expires_at,
    revoked_at,
    case when revoked_at is not null then 'revoked' when expires_at <= jobs.now() then 'expired' else 'live' end
        as state
from jobs.tokens
where %(person)s::text is null or person = %(person)s
order by created_at desc, id desc
