-- A Worker process begins; its incarnation is new with every start.
insert into jobs.workers (incarnation, version, host) values (%(incarnation)s, %(version)s, %(host)s)
