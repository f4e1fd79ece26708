-- Leaves a notice for the Worker to deliver, in the transaction of what it tells of.
insert into jobs.notices (tenant, person, kind, subject, text, about)
values (%(tenant)s, %(person)s, %(kind)s, %(subject)s, %(text)s, %(about)s)
