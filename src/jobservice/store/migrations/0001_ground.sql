-- People, tenants, queues' items, claims, acts, audit, idempotency keys, hints, workers (MONEY.md 23, 29 to 34).
-- Runs as the owner. The roles jobs_api and jobs_worker exist already, and so does the schema with its version table;
-- they own nothing.

revoke all on schema jobs from public;
grant usage on schema jobs to jobs_api, jobs_worker;

-- The one clock (DESIGN.md, Time). STABLE so that index conditions may use it; only tests' template databases hold
-- another body, and service processes refuse to start on it.
create function jobs.now() returns timestamptz
language sql stable parallel safe
as 'select clock_timestamp()';

-- RFC 9562 version 7: 48 bits of milliseconds, then random bits. uuidv7() exists from PostgreSQL 18 only.
create function jobs.uuid7() returns uuid
language sql volatile parallel safe
as $$
    select encode(
        set_bit(
            set_bit(
                overlay(
                    uuid_send(gen_random_uuid())
                    placing substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
                    from 1 for 6
                ),
                52, 1
            ),
            53, 1
        ),
        'hex'
    )::uuid
$$;

-- The tenant of the running transaction; null when unset, so that no row matches.
create function jobs.tenant() returns text
language sql stable parallel safe
as $$ select nullif(current_setting('jobs.tenant', true), '') $$;

create table jobs.marks (
    name text primary key,
    value text not null
);

create table jobs.tenants (
    id text primary key,
    name text not null,
    created_at timestamptz not null default jobs.now()
);

create table jobs.people (
    id text primary key,
    name text not null,
    contact text not null,
    active boolean not null default true,
    demo boolean not null default false,
    created_at timestamptz not null default jobs.now()
);

create table jobs.memberships (
    person text not null references jobs.people (id),
    tenant text not null references jobs.tenants (id),
    role text not null check (role in ('finance', 'operator', 'support', 'auditor', 'pusher', 'administrator')),
    customers text[],
    workspaces text[],
    granted_at timestamptz not null default jobs.now(),
    primary key (person, tenant)
);
create index memberships_tenant on jobs.memberships (tenant, person);

create table jobs.tokens (
    id uuid primary key default jobs.uuid7(),
    person text not null references jobs.people (id),
    hash bytea not null unique check (length(hash) = 32),
    label text not null,
    role text,
    tenants text[],
    created_at timestamptz not null default jobs.now(),
    expires_at timestamptz not null,
    revoked_at timestamptz,
    check (expires_at > created_at and expires_at <= created_at + interval '30 days')
);
create index tokens_person on jobs.tokens (person, created_at);

create table jobs.items (
    id uuid primary key default jobs.uuid7(),
    tenant text not null references jobs.tenants (id),
    queue text not null,
    business_key text,
    title text not null,
    created timestamptz not null,
    state text not null default 'open' check (state in ('open', 'evidence-asked', 'rejected', 'resolved')),
    closed_at timestamptz,
    set_aside_until timestamptz,
    amount_minor bigint,
    currency text check (currency ~ '^[A-Z]{3}$'),
    payee_id text,
    payee_name text,
    account text,
    customer text,
    workspace text,
    inputs jsonb not null default '{}',
    payload jsonb not null default '{}',
    money_version bigint not null default 1,
    row_version bigint not null default 1,
    pushed_by text not null,
    pushed_at timestamptz not null default jobs.now(),
    changed_by text not null,
    changed_at timestamptz not null default jobs.now(),
    holder text references jobs.people (id),
    taken_at timestamptz,
    expires_at timestamptz,
    fence bigint not null default 0,
    unique (tenant, business_key),
    check ((state in ('rejected', 'resolved')) = (closed_at is not null)),
    check ((amount_minor is null) = (currency is null)),
    check ((amount_minor is null) or (payee_id is not null and payee_name is not null and account is not null)),
    check ((holder is null) = (expires_at is null) and (holder is null) = (taken_at is null)),
    check (holder is null or closed_at is null)
);
create index items_waiting on jobs.items (tenant, queue, created, id) where closed_at is null;
create index items_free on jobs.items (tenant, queue, created, id) where closed_at is null and holder is null;
create index items_closed on jobs.items (tenant, queue, created, id) where closed_at is not null;
create index items_expiring on jobs.items (tenant, queue, expires_at) where holder is not null;
create index items_held on jobs.items (tenant, holder, expires_at) where holder is not null;

-- One row a version that mattered: what an act shows when its version is no longer the item's.
create table jobs.item_versions (
    item uuid not null references jobs.items (id),
    money_version bigint not null,
    tenant text not null,
    changed_at timestamptz not null default jobs.now(),
    changed_by text not null,
    state text not null,
    set_aside_until timestamptz,
    title text not null,
    amount_minor bigint,
    currency text,
    payee_id text,
    payee_name text,
    account text,
    inputs jsonb not null,
    primary key (item, money_version)
);

-- History of claims; the live one (ended_at is null) repeats what the item's row says.
create table jobs.claims (
    item uuid not null references jobs.items (id),
    fence bigint not null,
    tenant text not null,
    queue text not null,
    holder text not null,
    taken_at timestamptz not null,
    expires_at timestamptz not null,
    renewals integer not null default 0,
    ended_at timestamptz,
    ending text check (ending in ('released', 'lapsed', 'broken', 'handed-over', 'acted')),
    ended_by text,
    reason text,
    primary key (item, fence),
    check ((ended_at is null) = (ending is null))
);
create index claims_live on jobs.claims (expires_at) where ended_at is null;

create table jobs.acts (
    id bigint generated always as identity primary key,
    item uuid not null references jobs.items (id),
    tenant text not null,
    at timestamptz not null default jobs.now(),
    person text not null,
    use_case text not null,
    outcome text not null check (outcome in ('done', 'refused', 'retry', 'failed', 'uncertain')),
    sentence text not null,
    inputs jsonb not null,
    money_version bigint not null
);
create index acts_item on jobs.acts (item, id);

create table jobs.audit (
    id bigint generated always as identity primary key,
    at timestamptz not null default jobs.now(),
    tenant text,
    person text,
    action text not null,
    subject text not null,
    outcome text not null,
    detail jsonb not null default '{}',
    reference text
);
create index audit_tenant on jobs.audit (tenant, id);

create table jobs.idempotency_keys (
    tenant text not null,
    person text not null,
    method text not null,
    path text not null,
    key text not null,
    digest bytea not null,
    status integer not null,
    answer jsonb not null,
    created_at timestamptz not null default jobs.now(),
    expires_at timestamptz not null,
    primary key (tenant, person, method, path, key)
);
create index idempotency_keys_expiry on jobs.idempotency_keys (expires_at);

-- xid is the writing transaction: a reader that saw everything below its snapshot's xmin can resume there without a
-- hole, which a sequence (insert order, not commit order) cannot promise.
create table jobs.hints (
    id bigint generated always as identity primary key,
    xid bigint not null default (pg_current_xact_id()::text::bigint),
    tenant text not null,
    topic text not null,
    queue text not null,
    ref text not null,
    version bigint not null,
    at timestamptz not null default jobs.now()
);
create index hints_tenant on jobs.hints (tenant, xid, id);
create index hints_age on jobs.hints (at);

-- The highest xid of any hint removed so far: a position at or below it may have missed something.
create table jobs.hints_floor (
    one boolean primary key default true check (one),
    xid bigint not null
);
insert into jobs.hints_floor (xid) values (pg_current_xact_id()::text::bigint - 1);

create table jobs.workers (
    incarnation uuid primary key,
    version text not null,
    host text not null,
    started_at timestamptz not null default jobs.now(),
    beat_at timestamptz not null default jobs.now(),
    stopped_at timestamptz
);

create table jobs.duties (
    name text primary key,
    holder uuid,
    expires_at timestamptz,
    fence bigint not null default 0,
    finished_at timestamptz,
    check ((holder is null) = (expires_at is null))
);

create function jobs.refuse_change() returns trigger
language plpgsql
as $$
begin
    raise exception 'jobs.% only grows: % is refused', tg_table_name, lower(tg_op) using errcode = 'restrict_violation';
end
$$;
create trigger audit_grows before update or delete on jobs.audit
for each row execute function jobs.refuse_change();
create trigger audit_stays before truncate on jobs.audit
for each statement execute function jobs.refuse_change();
create trigger acts_grow before update or delete on jobs.acts
for each row execute function jobs.refuse_change();
create trigger acts_stay before truncate on jobs.acts
for each statement execute function jobs.refuse_change();

-- Signing in happens before a tenant is known: this is the one look past the walls, by the hash of a token alone.
create function jobs.authenticate(token_hash bytea)
returns table (
    token_id uuid, person text, name text, demo boolean, active boolean, expires_at timestamptz, revoked boolean,
    memberships jsonb, now timestamptz
)
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
    select
        t.id, p.id, p.name, p.demo, p.active, t.expires_at, t.revoked_at is not null,
        coalesce(
            (
                select jsonb_agg(
                    jsonb_build_object(
                        'tenant', m.tenant, 'name', n.name, 'role', m.role,
                        'customers', m.customers, 'workspaces', m.workspaces
                    )
                    order by m.tenant
                )
                from jobs.memberships as m
                inner join jobs.tenants as n on n.id = m.tenant
                where
                    m.person = p.id
                    and (t.tenants is null or m.tenant = any(t.tenants))
                    and (t.role is null or m.role = t.role)
            ),
            '[]'::jsonb
        ),
        jobs.now()
    from jobs.tokens as t
    inner join jobs.people as p on p.id = t.person
    where t.hash = token_hash
$$;
revoke all on function jobs.authenticate(bytea) from public;
grant execute on function jobs.authenticate(bytea) to jobs_api;

-- Whether anybody of a demo can still sign in: what a service process must know before it starts (MONEY.md 35).
create function jobs.demo_people() returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$ select exists (select 1 from jobs.people where demo and active) $$;
revoke all on function jobs.demo_people() from public;
grant execute on function jobs.demo_people() to jobs_api, jobs_worker;

do $$
declare
    name text;
begin
    foreach name in array array[
        'marks', 'tenants', 'people', 'memberships', 'tokens', 'items', 'item_versions', 'claims', 'acts', 'audit',
        'idempotency_keys', 'hints', 'hints_floor', 'workers', 'duties'
    ] loop
        execute format('alter table jobs.%I enable row level security', name);
        execute format('alter table jobs.%I force row level security', name);
        execute format('create policy owner on jobs.%I to current_user using (true) with check (true)', name);
    end loop;
    -- One tenant a transaction; unset means no rows.
    foreach name in array array[
        'items', 'item_versions', 'claims', 'acts', 'audit', 'idempotency_keys', 'hints', 'memberships'
    ] loop
        execute format(
            'create policy api on jobs.%I to jobs_api using (tenant = jobs.tenant()) with check (tenant = jobs.tenant())',
            name
        );
    end loop;
    foreach name in array array['items', 'item_versions', 'acts', 'audit', 'memberships'] loop
        execute format(
            'create policy worker on jobs.%I to jobs_worker using (tenant = jobs.tenant())'
            ' with check (tenant = jobs.tenant())',
            name
        );
    end loop;
    -- Bookkeeping over all tenants is the Worker's (MONEY.md 29).
    foreach name in array array['idempotency_keys', 'hints', 'hints_floor', 'workers', 'duties'] loop
        execute format('create policy worker on jobs.%I to jobs_worker using (true) with check (true)', name);
    end loop;
end
$$;
-- Which claims lapsed is read over all tenants; how one ended is written tenant by tenant.
create policy worker_reads on jobs.claims for select to jobs_worker using (true);
create policy worker_ends on jobs.claims for update to jobs_worker
using (tenant = jobs.tenant()) with check (tenant = jobs.tenant());
create policy api on jobs.tenants for select to jobs_api using (id = jobs.tenant());
create policy api on jobs.people for select to jobs_api
using (exists (select 1 from jobs.memberships as m where m.person = people.id and m.tenant = jobs.tenant()));
create policy worker on jobs.people for select to jobs_worker
using (exists (select 1 from jobs.memberships as m where m.person = people.id and m.tenant = jobs.tenant()));
create policy service on jobs.marks for select to jobs_api, jobs_worker using (true);
-- The one row that no tenant has: a process started, with which records (MONEY.md 31).
create policy started on jobs.audit for insert to jobs_api, jobs_worker
with check (tenant is null and person is null and action = 'service-started');
create policy api on jobs.hints_floor for select to jobs_api using (true);
create policy api on jobs.workers for select to jobs_api using (true);

grant select on jobs.marks, jobs.tenants, jobs.memberships, jobs.hints_floor, jobs.workers to jobs_api;
grant select (id, name, active, demo) on jobs.people to jobs_api, jobs_worker;
grant select, insert, update on jobs.items, jobs.claims to jobs_api;
grant select, insert on jobs.item_versions, jobs.hints, jobs.idempotency_keys to jobs_api;
-- Ids and instants of what only grows are the database's own: nobody may write one in.
grant select on jobs.acts, jobs.audit to jobs_api;
grant insert (item, tenant, person, use_case, outcome, sentence, inputs, money_version) on jobs.acts to jobs_api;
grant insert (tenant, person, action, subject, outcome, detail, reference) on jobs.audit to jobs_api, jobs_worker;
grant select on jobs.marks, jobs.memberships, jobs.items to jobs_worker;
grant update (holder, taken_at, expires_at, row_version) on jobs.items to jobs_worker;
-- Across tenants the Worker sees what it needs to find rows by, never what was answered or why (MONEY.md 29).
grant select (item, fence, tenant, holder, expires_at, ended_at) on jobs.claims to jobs_worker;
grant update (ended_at, ending, ended_by, reason) on jobs.claims to jobs_worker;
grant select on jobs.audit to jobs_worker;
grant select (tenant, person, method, path, key, expires_at), delete on jobs.idempotency_keys to jobs_worker;
grant select, insert, delete on jobs.hints to jobs_worker;
grant select, update on jobs.hints_floor to jobs_worker;
grant select, insert, update on jobs.workers, jobs.duties to jobs_worker;
