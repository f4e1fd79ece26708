-- Ids of a page of the tenant's recoveries that a person sees, the latest first, with one more than asked for where
-- there is more.
select
    r.id::text as id,
    r.made_at
from jobs.recoveries as r
where
    r.tenant = %(tenant)s
    and case
        when r.act in ('retry', 'cancel') then %(jobs)s and (%(owner)s::text is null or r.owner = %(owner)s)
        else %(runs)s
    end
    and (
        not %(live)s
        or r.state in ('applying', 'paused')
        or (r.state = 'open' and r.valid_until > (select jobs.now()))
    )
    and (r.made_at, r.id) < (%(at)s::timestamptz, %(after)s::uuid)
order by r.made_at desc, r.id desc
limit %(most)s + 1
