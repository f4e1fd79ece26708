-- Keeps what failed in the same way, once.
insert into jobs.job_causes (tenant, kind, step, text)
values (%(tenant)s, %(kind)s, %(step)s, %(text)s)
on conflict (tenant, kind, step, text) do nothing
returning id
