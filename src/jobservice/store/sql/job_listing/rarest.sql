-- How many jobs each thing that is asked for has, counted to `enough` at the most: what has fewest leads.
select
    (
        select count(*)
        from (
            select l.id
            from unnest(%(resolutions)s::text[]) as v (value)
            cross join
                lateral (
                    select j.id
                    from jobs.jobs as j
                    where
                        j.tenant = %(tenant)s
                        and j.status = 'failed'
                        and case when j.resolution is null then 'none' else j.resolution end = v.value -- noqa: ST02
                        and j.id < %(before)s::uuid
                        and j.id >= %(since)s::uuid
                    order by j.id desc
                    limit %(enough)s
                ) as l
            limit %(enough)s -- noqa: AM09
        ) as c
    ) as failures,
    (
        select count(*)
        from (
            select l.id
            from unnest(%(requesters)s::text[]) as v (value)
            cross join
                lateral (
                    select j.id
                    from jobs.jobs as j
                    where
                        j.tenant = %(tenant)s
                        and case when j.requester is null then '' else j.requester end = v.value -- noqa: ST02
                        and j.id < %(before)s::uuid
                        and j.id >= %(since)s::uuid
                    order by j.id desc
                    limit %(enough)s
                ) as l
            limit %(enough)s -- noqa: AM09
        ) as c
    ) as requesters,
    (
        select count(*)
        from (
            select l.id
            from unnest(%(causes)s::uuid[]) as v (value)
            cross join
                lateral (
                    select j.id
                    from jobs.jobs as j
                    where
                        j.tenant = %(tenant)s
                        and j.cause = v.value
                        and j.id < %(before)s::uuid
                        and j.id >= %(since)s::uuid
                    order by j.id desc
                    limit %(enough)s
                ) as l
            limit %(enough)s -- noqa: AM09
        ) as c
    ) as causes,
    (
        select count(*)
        from (
            select l.id
            from unnest(%(kinds)s::text[]) as k (value)
            cross join unnest(%(statuses)s::text[]) as v (value)
            cross join
                lateral (
                    select j.id
                    from jobs.jobs as j
                    where
                        j.tenant = %(tenant)s
                        and j.kind = k.value
                        and j.status = v.value
                        and j.id < %(before)s::uuid
                        and j.id >= %(since)s::uuid
                    order by j.id desc
                    limit %(enough)s
                ) as l
            limit %(enough)s -- noqa: AM09
        ) as c
    ) as kinds,
    (
        select count(*)
        from (
            select l.id
            from unnest(%(lead_customers)s::text[]) as v (value)
            cross join
                lateral (
                    select j.id
                    from jobs.jobs as j
                    where
                        j.tenant = %(tenant)s
                        and j.customer = v.value
                        and j.id < %(before)s::uuid
                        and j.id >= %(since)s::uuid
                    order by j.id desc
                    limit %(enough)s
                ) as l
            union all
            select l.id
            from unnest(%(lead_workspaces)s::text[]) as v (value)
            cross join
                lateral (
                    select j.id
                    from jobs.jobs as j
                    where
                        j.tenant = %(tenant)s
                        and j.workspace = v.value
                        and j.id < %(before)s::uuid
                        and j.id >= %(since)s::uuid
                    order by j.id desc
                    limit %(enough)s
                ) as l
            limit %(enough)s -- noqa: AM09
        ) as c
    ) as scopes
