-- Whether the trail says already that everything up to a place is to go.
select exists(
    select 1
    from jobs.audit as a
    where a.tenant is null and a.action = 'purge-audit' and a.detail ->> 'upto' = %(place)s::text
) as said
