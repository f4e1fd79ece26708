-- What the views say of every job of this source: whose it is, and which field of its arguments names a customer.
create table if not exists cross_job_source (
    one boolean primary key default true check (one),
    engine text not null,
    application text not null,
    tenant text not null,
    customer_field text
)
