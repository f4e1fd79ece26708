-- Removes tallies of hours long ago.
delete from jobs.hourly_tallies as t
where t.hour < %(before)s::timestamptz
