-- Jobs within reach that a text names: by id or the beginning of one, submission identity, failure reference, what a
-- step is called outside, or, for whoever sees the whole tenant, who asked for them (of those the latest `few`).
-- The beginning of an id fits a minute's jobs: for whoever sees some customers or workspaces only, theirs are walked,
-- so that what others have hides nothing.
with of_customers as (
    select v.customer
    from unnest(%(customers)s::text[]) as v (customer)
),

of_workspaces as (
    select v.workspace
    from unnest(%(workspaces)s::text[]) as v (workspace)
    where %(customers)s::text[] is null
),

named as (
    (
        select
            1 as rank,
            'id' as matched,
            j.family,
            j.id
        from jobs.jobs as j
        where
            %(customers)s::text[] is null
            and %(workspaces)s::text[] is null
            and j.tenant = %(tenant)s
            and j.id >= %(first)s::uuid
            and j.id <= %(last)s::uuid
        order by j.id desc
        limit %(most)s
    )
    union all
    select
        1 as rank,
        'id' as matched,
        c.family,
        c.id
    from of_customers as s
    cross join
        lateral (
            select
                j.family,
                j.id
            from jobs.jobs as j
            where
                j.tenant = %(tenant)s
                and j.customer = s.customer
                and j.id >= %(first)s::uuid
                and j.id <= %(last)s::uuid
                and (%(workspaces)s::text[] is null or j.workspace = any(%(workspaces)s::text[]))
            order by j.id desc
            limit %(most)s
        ) as c
    union all
    select
        1 as rank,
        'id' as matched,
        w.family,
        w.id
    from of_workspaces as s
    cross join
        lateral (
            select
                j.family,
                j.id
            from jobs.jobs as j
            where
                j.tenant = %(tenant)s
                and j.workspace = s.workspace
                and j.id >= %(first)s::uuid
                and j.id <= %(last)s::uuid
            order by j.id desc
            limit %(most)s
        ) as w
    union all
    (
        select
            2 as rank,
            'failure reference' as matched,
            j.family,
            j.id
        from jobs.jobs as j
        where j.tenant = %(tenant)s and j.failure_reference = %(text)s
        order by j.failure_reference
        limit %(most)s
    )
    union all
    (
        select
            3 as rank,
            'failure reference of a step' as matched,
            s.family,
            s.job as id
        from jobs.job_steps as s
        where s.tenant = %(tenant)s and s.failure_reference = %(text)s
        order by s.failure_reference
        limit %(most)s
    )
    union all
    select
        4 as rank,
        'submission identity' as matched,
        k.family,
        l.id
    from jobs.kinds_of(%(tenant)s) as k
    cross join
        lateral (
            select j.id
            from jobs.jobs as j
            where
                j.family = k.family
                and j.tenant = %(tenant)s
                and j.kind = k.kind
                and j.submission_identity = %(text)s
        ) as l
    union all
    (
        select
            5 as rank,
            'reference outside' as matched,
            s.family,
            s.job as id
        from jobs.job_steps as s
        where s.tenant = %(tenant)s and s.reference = %(text)s
        order by s.reference
        limit %(most)s
    )
    union all
    (
        select
            6 as rank,
            'outward key' as matched,
            s.family,
            s.job as id
        from jobs.job_steps as s
        where s.tenant = %(tenant)s and s.outward_key = %(text)s
        order by s.outward_key
        limit %(most)s
    )
    union all
    (
        select
            7 as rank,
            'requester' as matched,
            j.family,
            j.id
        from jobs.jobs as j
        where
            %(customers)s::text[] is null
            and %(workspaces)s::text[] is null
            and j.tenant = %(tenant)s
            and case when j.requester is null then '' else j.requester end = %(person)s -- noqa: ST02
        order by j.id desc
        limit %(few)s
    )
),

best as materialized (
    select
        n.family,
        n.id,
        (array_agg(n.matched order by n.rank))[1] as matched,
        min(n.rank) as rank
    from named as n
    group by n.family, n.id
)

select
    b.matched,
    l.id::text as id,
    l.kind,
    l.subject,
    l.customer,
    l.workspace,
    l.status,
    l.at
from best as b
cross join
    lateral (
        select
            j.id,
            j.kind,
            j.subject,
            j.customer,
            j.workspace,
            j.status,
            j.requested_at as at
        from jobs.jobs as j
        where
            j.family = b.family
            and j.id = b.id
            and j.tenant = %(tenant)s
            and (%(customers)s::text[] is null or j.customer = any(%(customers)s::text[]))
            and (%(workspaces)s::text[] is null or j.workspace = any(%(workspaces)s::text[]))
    ) as l
order by b.rank asc, l.id desc
limit %(most)s
