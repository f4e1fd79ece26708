-- A page of a source's jobs of one tenant behind a position, in its own order, within reach. Looks at so many rows at
-- most; where that many were looked at, the last of them comes along without `matches`.
with
looked as materialized (
    select *
    from cross_job_query
    where
        tenant = %(tenant)s
        and (
            %(after_position)s::bigint is null
            or (position, job) < (%(after_position)s::bigint, %(after_job)s::text)
        )
    order by position desc, job desc
    limit %(look_most)s
),

judged as (
    select
        l.*,
        (
            (%(statuses)s::text[] is null or l.status = any(%(statuses)s::text[]))
            and (
                %(kinds)s::text[] is null
                or exists (
                    select 1
                    from unnest(%(kinds)s::text[]) as k (kind)
                    where lower(k.kind) = lower(l.kind)
                )
            )
            and (
                %(scopes)s::text[] is null
                or l.customer = any(%(scopes)s::text[])
                or l.workspace = any(%(scopes)s::text[])
            )
            and (
                %(requesters)s::text[] is null
                or l.requester = any(%(requesters)s::text[])
                or (%(no_requester)s::boolean and l.requester is null)
            )
            and (
                %(words)s::text[] is null
                or %(words)s::text[]
                <@ array[l.job, coalesce(l.submission_identity, ''), coalesce(l.failure_reference, '')]
            )
            and (%(error)s::text is null or strpos(lower(l.failure_summary), lower(%(error)s::text)) > 0)
            and (%(since)s::timestamptz is null or l.requested_at > %(since)s::timestamptz)
            and (%(until)s::timestamptz is null or l.requested_at < %(until)s::timestamptz)
            and (%(customers)s::text[] is null or l.customer = any(%(customers)s::text[]))
            and (%(workspaces)s::text[] is null or l.workspace = any(%(workspaces)s::text[]))
        ) is true as matches,
        row_number() over (order by l.position desc, l.job desc) as place,
        count(*) over () as looked
    from looked as l
)

(
    select *
    from judged
    where matches
    order by place
    limit %(most)s
)
union all
(
    select *
    from judged
    where not matches and place = looked and looked = %(look_most)s
)
