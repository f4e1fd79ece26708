-- A Worker process begins; its incarnation is new with every start. Nothing where it is known already.
insert into jobs.workers (incarnation, version, host, slots)
values (%(incarnation)s, %(version)s, %(host)s, %(slots)s)
on conflict (incarnation) do nothing
