-- Say whose jobs these are; what was said before is replaced.
insert into cross_job_source as s (engine, application, tenant, customer_field)
values (%(engine)s, %(application)s, %(of_tenant)s, %(customer_field)s)
on conflict (one) do update
    set
        engine = excluded.engine,
        application = excluded.application,
        tenant = excluded.tenant,
        customer_field = excluded.customer_field
