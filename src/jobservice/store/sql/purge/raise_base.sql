-- From here on verifying the trail begins behind this place.
insert into jobs.audit_base as b (place)
values (%(place)s)
on conflict (one) do update set place = excluded.place, at = jobs.now()
