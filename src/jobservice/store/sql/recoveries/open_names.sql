-- Names of a person's open recoveries, newest first. One past its end does not count, whoever has written so or not.
select r.name
from jobs.recoveries as r
where
    r.tenant = %(tenant)s
    and r.owner = %(owner)s
    and r.state = 'open'
    and r.valid_until > (select jobs.now())
order by r.made_at desc
