-- Schedules, their occurrences and leases, items of runs, skipped instants, cursors, Workers (requirements, section A).
-- Runs as the owner.

-- One row a schedule and tenant: how far its rhythm was decided. What a schedule is, its record says; `definition` is
-- the part of the record that decides what is planned, as text: an equal one is no change.
create table jobs.schedules (
    tenant text not null references jobs.tenants (id),
    schedule text not null,
    definition text not null,
    planned_until timestamptz not null, -- every instant up to here was planned or skipped, whatever comes later
    next_at timestamptz, -- the first instant after the planner's last look; null: never again, parked, or manual
    look_at timestamptz, -- when the planner looks at it next; null: only when something changes
    kept_seconds double precision, -- its retention, also after the records have it no more
    floor_at timestamptz, -- retention: what is at or before it may be gone, and is never planned again; only rises
    parked_at timestamptz,
    parked_reason text,
    retired_at timestamptz, -- the records do not have it any more
    disabled_at timestamptz, -- time disabled counts as downtime: the misfire policy makes up for it
    disabled_until timestamptz,
    disabled_by text,
    disabled_reason text,
    last_scheduled_at timestamptz,
    last_started_at timestamptz,
    last_completed_at timestamptz,
    version bigint not null default 1,
    primary key (tenant, schedule),
    check ((parked_at is null) = (parked_reason is null)),
    check ((disabled_at is null) = (disabled_by is null) and (disabled_at is null) = (disabled_reason is null)),
    check (disabled_until is null or disabled_at is not null)
);
create index schedules_look on jobs.schedules (look_at, tenant, schedule) where look_at is not null;

-- What the Worker counted over all tenants, for the metrics of a process that sees one tenant at a time.
create table jobs.figures (
    name text primary key,
    value bigint not null,
    counted_at timestamptz not null default jobs.now()
);

-- The identity is (tenant, schedule, scheduled_at). `lock` is what it runs under alone: the unique index on it is the
-- lock. `miss_at`: still unstarted then, it was missed, and the misfire policy decides; null once it started or was
-- made up for. `fence` rises with each claim. `position`: the key of the last item that was selected.
create table jobs.occurrences (
    id uuid primary key default jobs.uuid7(),
    tenant text not null,
    schedule text not null,
    scheduled_at timestamptz not null,
    origin text not null default 'planned' check (origin in ('planned', 'made-up', 'manual')),
    zone text not null default 'UTC',
    local_time timestamp, -- on the wall clock of the zone; null for a rhythm without one
    clock text check (clock in ('gap-end', 'shifted', 'first', 'second')), -- what a change of the clock made of it
    clock_policy text, -- what was stated for skipped and for repeated times; null for a rhythm that meets none
    tzdata text not null, -- version of the time zone database that it was computed with
    lock text not null,
    state text not null default 'scheduled' check (state in ('scheduled', 'processing', 'completed', 'dead-letter')),
    due_at timestamptz not null, -- when the next attempt may start
    miss_at timestamptz,
    attempts integer not null default 0,
    holder uuid,
    taken_at timestamptz,
    expires_at timestamptz,
    renewals integer not null default 0, -- of the present lease
    fence bigint not null default 0,
    started_at timestamptz, -- the first attempt
    attempt_started_at timestamptz,
    ended_at timestamptz,
    position text,
    selected_all boolean not null default false,
    done bigint not null default 0, -- items by outcome, over all attempts
    refused bigint not null default 0,
    failed bigint not null default 0,
    unfinished bigint not null default 0, -- selected, and without an outcome so far
    cause text check (cause in ('failed', 'over-bound', 'worker-lost', 'cancelled', 'unrunnable')),
    error text, -- of the last attempt: a sentence that is safe to show
    cancel_asked_at timestamptz,
    cancelled_by text,
    cancel_reason text,
    version bigint not null default 1,
    unique (tenant, schedule, scheduled_at),
    check ((state = 'processing') = (holder is not null)),
    check ((holder is null) = (expires_at is null) and (holder is null) = (taken_at is null)),
    check ((state in ('completed', 'dead-letter')) = (ended_at is not null)),
    check ((state = 'dead-letter') = (cause is not null)),
    check ((cancel_asked_at is null) = (cancelled_by is null) and (cancel_asked_at is null) = (cancel_reason is null))
);
-- What runs has a holder and an expiry. The two partial indexes on them say so each in its own words: a statement that asks for
-- one of them cannot be planned over another, whose dead entries an old transaction may keep (case PG-06).
create unique index occurrences_running on jobs.occurrences (tenant, lock) where holder is not null;
create index occurrences_waiting on jobs.occurrences (tenant, due_at, id) where state = 'scheduled';
create index occurrences_missing on jobs.occurrences (miss_at) where state = 'scheduled' and miss_at is not null;
create index occurrences_leases on jobs.occurrences (expires_at) where expires_at is not null;
create index occurrences_dead on jobs.occurrences (tenant, ended_at, id) where state = 'dead-letter';
-- What people list: all schedules of a tenant, newest first, each state walked by itself; and what of one schedule has
-- not been completed (its completed ones stand in the order of the unique index).
create index occurrences_listed on jobs.occurrences (tenant, state, scheduled_at desc, id desc);
create index occurrences_uncompleted on jobs.occurrences (tenant, schedule, state, scheduled_at desc, id desc)
where state <> 'completed';
create index occurrences_cancelled on jobs.occurrences (cancel_asked_at)
where cancel_asked_at is not null and state in ('scheduled', 'processing');

-- One row an attempt that ended: who held which lease, how long, and how it ended.
create table jobs.occurrence_attempts (
    occurrence uuid not null,
    fence bigint not null,
    tenant text not null,
    attempt integer not null,
    worker uuid not null,
    taken_at timestamptz not null,
    started_at timestamptz,
    expires_at timestamptz not null,
    renewals integer not null,
    ended_at timestamptz not null,
    ending text not null check (
        ending in ('completed', 'retry', 'failed', 'over-bound', 'cancelled', 'lost', 'handed-back')
    ),
    error text,
    primary key (occurrence, fence)
);

-- Items of a run: written when they were selected, before any is begun. `outcome` is null until it is decided. No row an
-- item on the batch path, where the occurrence's position and counts move with the effects in one transaction; only what
-- was not done there has one.
create table jobs.occurrence_items (
    occurrence uuid not null,
    key text not null,
    tenant text not null,
    number bigint not null, -- in the order of the selection, from 1
    label text not null,
    given jsonb not null default '{}',
    outcome text check (outcome in ('done', 'refused', 'failed', 'uncertain')),
    attempts integer not null default 0,
    try_at timestamptz,
    sentence text,
    fence bigint, -- of the lease under which it was last worked on
    ended_at timestamptz,
    primary key (occurrence, key),
    unique (occurrence, number),
    check ((outcome is null) = (ended_at is null))
);
create index occurrence_items_open on jobs.occurrence_items (occurrence, number) where outcome is null;
create index occurrence_items_failed on jobs.occurrence_items (occurrence, number)
where outcome in ('failed', 'uncertain');

-- Instants that never became an occurrence, or that one was taken back for: a run of neighbours with one cause is one
-- row. `merged_into`: the instant that runs in their place.
create table jobs.skipped_instants (
    id uuid primary key default jobs.uuid7(),
    tenant text not null,
    schedule text not null,
    first_at timestamptz not null,
    last_at timestamptz not null,
    count bigint not null check (count > 0),
    policy text not null check (
        policy in ('misfire-skip', 'misfire-once', 'misfire-each-interval', 'skipped-hour', 'repeated-hour', 'retention')
    ),
    cause text not null, -- a sentence
    local_time timestamp,
    merged_into timestamptz,
    zone text not null,
    tzdata text not null,
    decided_at timestamptz not null default jobs.now(),
    unique (tenant, schedule, first_at, policy),
    check (last_at >= first_at)
);

-- What a run of skips goes on with is found by where it ended.
create index skipped_instants_last on jobs.skipped_instants (tenant, schedule, last_at);

-- Where a saga-driving job goes on: moved in the transaction of the item that it stands behind.
create table jobs.cursors (
    tenant text not null,
    name text not null,
    position text not null,
    occurrence uuid not null,
    fence bigint not null,
    moved_at timestamptz not null default jobs.now(),
    version bigint not null default 1,
    primary key (tenant, name)
);

-- What a Worker wanted to write under a lease that was not its own any more.
create table jobs.refused_completions (
    id bigint generated always as identity primary key,
    tenant text not null,
    occurrence uuid not null,
    at timestamptz not null default jobs.now(),
    worker uuid not null,
    fence bigint not null,
    what text not null check (what in ('completion', 'item', 'batch', 'hand-back'))
);
create index refused_completions_occurrence on jobs.refused_completions (occurrence, id);

alter table jobs.workers
    add column slots integer not null default 0, -- occurrences at once
    add column draining_at timestamptz; -- it takes nothing new

-- What selections of runs look through.
create index releases_at on jobs.releases (tenant, at, item);
create index items_by_id on jobs.items (tenant, queue, id) where closed_at is null;

-- What wakes Workers: a poll stands behind it, so that a lost notification costs a moment and nothing else.
create function jobs.wake_for_occurrences() returns trigger
language plpgsql
as $$
begin
    if exists (select 1 from added as a where a.state = 'scheduled' and a.due_at <= jobs.now()) then
        perform pg_notify('jobs_work', 'occurrences');
    end if;
    return null;
end
$$;
create trigger occurrences_wake after insert on jobs.occurrences
referencing new table as added
for each statement execute function jobs.wake_for_occurrences();
create function jobs.wake() returns trigger
language plpgsql
as $$
begin
    perform pg_notify('jobs_work', tg_argv[0]);
    return null;
end
$$;
create trigger occurrences_cancel after update on jobs.occurrences
for each row
when (old.cancel_asked_at is null and new.cancel_asked_at is not null)
execute function jobs.wake('cancel');
create trigger plans_wake after update on jobs.plans
for each row
when (
    new.state is distinct from old.state
    and new.state in ('armed', 'applying', 'aborted', 'lapsed')
    and new.confirmed_at is not null
)
execute function jobs.wake('plans');
create trigger money_switches_wake after update on jobs.money_switches
for each row
when (old.stopped and not new.stopped)
execute function jobs.wake('plans');
create trigger plan_evidence_wake after insert on jobs.plan_evidence
for each row
when (new.source = 'person')
execute function jobs.wake('evidence');
create trigger notices_wake after insert on jobs.notices
for each statement execute function jobs.wake('notices');

-- Fences and the floor of retention only rise, whoever writes.
create function jobs.refuse_fall() returns trigger
language plpgsql
as $$
begin
    raise exception 'jobs.%: what only rises was to fall', tg_table_name using errcode = 'restrict_violation';
end
$$;
create trigger occurrences_fence before update on jobs.occurrences
for each row
when (
    new.fence < old.fence
    or (new.holder is not null and new.holder is distinct from old.holder and new.fence = old.fence)
    or new.tenant <> old.tenant
    or new.schedule <> old.schedule
    or new.scheduled_at <> old.scheduled_at
)
execute function jobs.refuse_fall();
create trigger schedules_floor before update on jobs.schedules
for each row
when (new.floor_at < old.floor_at or (new.floor_at is null and old.floor_at is not null))
execute function jobs.refuse_fall();

-- Whoever disables or enables a schedule has the planner look at it at once.
create function jobs.look_at_schedule() returns trigger
language plpgsql
as $$
begin
    new.look_at := jobs.now();
    perform pg_notify('jobs_work', 'schedules');
    return new;
end
$$;
create trigger schedules_disabled before update on jobs.schedules
for each row
when (
    new.disabled_at is distinct from old.disabled_at
    or new.disabled_until is distinct from old.disabled_until
)
execute function jobs.look_at_schedule();

do $$
declare
    name text;
begin
    foreach name in array array[
        'schedules', 'occurrences', 'occurrence_attempts', 'occurrence_items', 'skipped_instants', 'cursors',
        'refused_completions'
    ] loop
        execute format('alter table jobs.%I enable row level security', name);
        execute format('alter table jobs.%I force row level security', name);
        execute format('create policy owner on jobs.%I to current_user using (true) with check (true)', name);
        execute format(
            'create policy api on jobs.%I to jobs_api using (tenant = jobs.tenant()) with check (tenant = jobs.tenant())',
            name
        );
        -- Planning, leases and retention are the Worker's bookkeeping over all tenants; a run is in one (MONEY.md 29).
        execute format(
            'create policy worker on jobs.%I to jobs_worker using (tenant = jobs.tenant() or jobs.tenant() is null)'
            ' with check (tenant = jobs.tenant() or jobs.tenant() is null)',
            name
        );
    end loop;
end
$$;
alter table jobs.figures enable row level security;
alter table jobs.figures force row level security;
create policy owner on jobs.figures to current_user using (true) with check (true);
create policy api on jobs.figures for select to jobs_api using (true);
create policy worker on jobs.figures to jobs_worker using (true) with check (true);
-- A run may push work for people, and never money (MONEY.md 1).
drop policy worker_adds_reviews on jobs.items;
create policy worker_adds on jobs.items as restrictive for insert to jobs_worker
with check (about is not null or amount_minor is null);

grant select on
jobs.schedules, jobs.occurrences, jobs.occurrence_attempts, jobs.occurrence_items, jobs.skipped_instants,
jobs.cursors, jobs.refused_completions
to jobs_api;
-- A person asks that an occurrence be cancelled; the Worker ends it.
grant update (cancel_asked_at, cancelled_by, cancel_reason, version) on jobs.occurrences to jobs_api;
grant select, insert, update, delete on
jobs.schedules, jobs.occurrences, jobs.occurrence_items, jobs.skipped_instants
to jobs_worker;
grant select, insert, delete on jobs.occurrence_attempts, jobs.refused_completions to jobs_worker;
grant select, insert, update on jobs.cursors, jobs.figures to jobs_worker;
grant select on jobs.figures to jobs_api;
grant delete on jobs.workers to jobs_worker;
