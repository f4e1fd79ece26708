-- Whether a notice to a requester is due, or a claim of one ran out.
select exists (
    select 1
    from jobs.job_notices as n
    where n.state = 'due' and n.try_at <= (select jobs.now())
) or exists (
    select 1
    from jobs.job_notices as n
    where n.state = 'claimed' and n.expires_at <= (select jobs.now())
) as due
