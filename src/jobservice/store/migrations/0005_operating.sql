-- The operator's half: replays, recoveries, stops, alarms, draining, seals of the trail (requirements, section A;
-- MONEY.md 1, 20, 31). Runs as the owner.

-- A replay is a new attempt of the same occurrence with a budget of its own: `attempts` begins anew, `replays` counts,
-- and `fence_base` is the fence at which it began: fences keep rising. `recovery`: the one that runs it again now.
alter table jobs.occurrences
add column replays integer not null default 0,
add column fence_base bigint not null default 0,
add column recovery uuid,
add column discarded_at timestamptz,
add column discarded_by text,
add column discard_reason text,
add check ((discarded_at is null) = (discarded_by is null) and (discarded_at is null) = (discard_reason is null)),
add check (discarded_at is null or state = 'dead-letter');
create index occurrences_recovery on jobs.occurrences (recovery) where recovery is not null;
drop index jobs.occurrences_dead;
create index occurrences_dead on jobs.occurrences (tenant, ended_at, id) include (schedule)
where state = 'dead-letter' and discarded_at is null;
create index occurrences_retrying on jobs.occurrences (tenant, schedule) where state = 'scheduled' and attempts > 0;

alter table jobs.occurrence_attempts add column replay integer not null default 0;

-- Rises with each switch by a person: planner and Workers, who raise `version` with every run, leave it alone.
alter table jobs.schedules add column switched bigint not null default 1;
-- What claims leave out: few rows, read with each look.
create index schedules_off on jobs.schedules (tenant, schedule) where disabled_at is not null;

-- One row a replay: who asked for it, when and why (requirement audit-manual-replay). `before`: how it had ended.
create table jobs.occurrence_replays (
    occurrence uuid not null,
    replay integer not null check (replay > 0),
    tenant text not null,
    at timestamptz not null default jobs.now(),
    person text not null,
    reason text not null,
    recovery uuid,
    state_before text not null,
    cause_before text,
    ended_before timestamptz not null,
    attempts_before integer not null,
    fence_before bigint not null,
    not_done bigint not null, -- items that run again
    primary key (occurrence, replay)
);

-- A plan over more than one occurrence or schedule. What moves money carries the API's signature over its digest, which
-- the Worker verifies at every row, with the digest recomputed (MONEY.md 1, 19).
create table jobs.recoveries (
    id uuid primary key default jobs.uuid7(),
    tenant text not null references jobs.tenants (id),
    name text not null,
    act text not null check (act in ('replay', 'requeue', 'discard', 'disable')),
    reason text not null,
    asked jsonb not null, -- the order as it came: what it was made from
    owner text not null references jobs.people (id),
    state text not null default 'open' check (
        state in ('open', 'applying', 'paused', 'done', 'aborted', 'dropped', 'expired')
    ),
    edition integer not null default 1,
    moves text not null check (moves in ('money', 'nothing')),
    disable_until timestamptz,
    digest bytea not null check (length(digest) = 32),
    money jsonb not null default '[]',
    left_out jsonb not null default '[]', -- how many things each reason leaves out
    schedules jsonb not null default '[]', -- how many rows each schedule has
    count integer not null check (count > 0),
    made_at timestamptz not null default jobs.now(),
    frozen_at timestamptz not null,
    valid_until timestamptz not null,
    confirmed_at timestamptz,
    started_at timestamptz,
    ended_at timestamptz,
    ended_by text,
    why text,
    at_once integer not null default 8 check (at_once > 0),
    account jsonb not null default '{}', -- rows by turn, from its confirmation on
    over_at timestamptz, -- none of its rows changes any more
    signing_key text,
    signature bytea,
    version bigint not null default 1,
    unique (tenant, name),
    check (state not in ('applying', 'paused', 'done', 'aborted') or confirmed_at is not null),
    check (state not in ('open', 'dropped', 'expired') or confirmed_at is null),
    check ((signature is null) = (signing_key is null)),
    check (moves <> 'money' or confirmed_at is null or signature is not null)
);
create index recoveries_recent on jobs.recoveries (tenant, made_at desc, id desc);
create index recoveries_live on jobs.recoveries (state, made_at)
where over_at is null and state in ('open', 'applying', 'paused', 'aborted');

create table jobs.recovery_rows (
    recovery uuid not null references jobs.recoveries (id),
    number integer not null,
    tenant text not null,
    key text not null,
    target text not null check (target in ('occurrence', 'skipped-instant', 'schedule')),
    name text not null,
    schedule text not null,
    moves text not null check (moves in ('money', 'nothing')),
    occurrence uuid, -- of one to be made from a skipped instant: once it is there
    scheduled_at timestamptz,
    state text,
    cause text,
    error text,
    done bigint,
    refused bigint,
    failed bigint,
    unfinished bigint,
    selected_all boolean,
    row_version bigint not null,
    turn text not null default 'not-started' check (turn in ('not-started', 'running', 'done', 'refused', 'failed')),
    sentence text,
    started_at timestamptz,
    ended_at timestamptz,
    primary key (recovery, key),
    unique (recovery, number) deferrable, -- judged at the end of a statement: taking out counts the rest anew
    check ((turn in ('done', 'refused', 'failed')) = (ended_at is not null))
);
-- The turn stands first: who finds a row by its recovery and key is not tempted to walk all rows of the recovery here.
create index recovery_rows_turns on jobs.recovery_rows (turn, recovery, number);

create table jobs.recovery_left_out (
    recovery uuid not null references jobs.recoveries (id),
    number integer not null,
    tenant text not null,
    name text not null,
    schedule text not null,
    reason text not null,
    sentence text not null,
    scheduled_at timestamptz,
    primary key (recovery, number)
);

-- What is held still, read in the statements that act (DESIGN.md, Stops).
create table jobs.stops (
    tenant text not null references jobs.tenants (id),
    scope text not null check (scope in ('queue', 'bulk-command', 'tenant')),
    name text not null,
    at timestamptz not null default jobs.now(),
    by text not null references jobs.people (id),
    reason text not null,
    version bigint not null default 1,
    primary key (tenant, scope, name)
);

-- Whoever stops something waits for what has read that it may go on (as `jobs.wait_for_turns`), so that nothing of it
-- is written after the answer: claims and acts hold the lock 1836021370 of their tenant, turns of plans 1836021369,
-- shared, from before they read this table until they end. Everybody takes them in this order, and before any row.
create function jobs.wait_for_work() returns trigger
language plpgsql
as $$
begin
    if new.scope <> 'bulk-command' then
        perform pg_advisory_xact_lock(1836021370, hashtext(new.tenant));
    end if;
    if new.scope <> 'queue' then
        perform pg_advisory_xact_lock(1836021369, hashtext(new.tenant));
    end if;
    new.at := jobs.now();
    return new;
end
$$;
create trigger stops_wait before insert on jobs.stops
for each row execute function jobs.wait_for_work();

-- Whether a tenant's work is held still, or one queue or command of it. Under row security: of the own tenant.
create function jobs.stopped(of_tenant text, of_scope text, of_name text) returns boolean
language sql stable parallel safe
as $$
    select exists (
        select 1
        from jobs.stops as s
        where
            s.tenant = of_tenant
            and (s.scope = 'tenant' or (s.scope = of_scope and s.name = of_name))
    )
$$;

-- Whether a schedule is switched off now.
create function jobs.switched_off(of_tenant text, of_schedule text) returns boolean
language sql stable parallel safe
as $$
    select exists (
        select 1
        from jobs.schedules as s
        where
            s.tenant = of_tenant
            and s.schedule = of_schedule
            and s.disabled_at is not null
            and (s.disabled_until is null or s.disabled_until > jobs.now())
    )
$$;

-- A Worker that is asked to take nothing new. Its own word is `draining_at`.
alter table jobs.workers
add column drain_asked_at timestamptz,
add column drain_asked_by text,
add column drain_reason text,
add check (
    (drain_asked_at is null) = (drain_asked_by is null) and (drain_asked_at is null) = (drain_reason is null)
);

-- What needs somebody: open until it is over. One open alarm a kind and subject.
create table jobs.alarms (
    id uuid primary key default jobs.uuid7(),
    tenant text not null references jobs.tenants (id),
    kind text not null check (
        kind in ('stopped', 'worker-missing', 'parked', 'dead-letter', 'late', 'spike', 'missed', 'leaving')
    ),
    subject text not null,
    schedule text,
    sentence text not null,
    count bigint not null default 1,
    opened_at timestamptz not null default jobs.now(),
    seen_at timestamptz not null default jobs.now(),
    cleared_at timestamptz,
    acknowledged_at timestamptz,
    acknowledged_by text references jobs.people (id),
    note text,
    -- One message at a time, in the order of what happened: `telling` is what is told, or was told last.
    telling text check (telling in ('opened', 'acknowledged', 'cleared')),
    told text not null default 'nobody' check (told in ('nobody', 'waiting', 'sent', 'given-up')),
    told_at timestamptz,
    told_words text,
    tell_at timestamptz, -- when it is tried next
    tries integer not null default 0,
    version bigint not null default 1,
    check (
        (acknowledged_at is null) = (acknowledged_by is null) and (acknowledged_at is null) = (note is null)
    ),
    check ((told = 'nobody') = (telling is null)),
    check (told <> 'waiting' or tell_at is not null)
);
create unique index alarms_open on jobs.alarms (tenant, kind, subject) where cleared_at is null;
create index alarms_cleared on jobs.alarms (tenant, cleared_at desc, id desc) where cleared_at is not null;
create index alarms_again on jobs.alarms (tenant, kind, subject, cleared_at) where cleared_at is not null;
create index alarms_to_tell on jobs.alarms (tell_at, id) where told = 'waiting';
-- What the alarms are found by, over all tenants, every few seconds.
create index schedules_parked on jobs.schedules (tenant, schedule) where parked_at is not null;
create index skipped_instants_missed on jobs.skipped_instants (decided_at)
where policy in ('misfire-skip', 'misfire-once', 'misfire-each-interval');

-- Which transaction wrote an entry: what all readers see by now is sealed, whatever order its ids were given in.
alter table jobs.audit add column xid bigint not null default (pg_current_xact_id()::text::bigint);
create index audit_xid on jobs.audit (xid, id);

do $$
declare
    name text;
begin
    foreach name in array array[
        'occurrence_replays', 'recoveries', 'recovery_rows', 'recovery_left_out', 'stops', 'alarms'
    ] loop
        execute format('alter table jobs.%I enable row level security', name);
        execute format('alter table jobs.%I force row level security', name);
        execute format('create policy owner on jobs.%I to current_user using (true) with check (true)', name);
        execute format(
            'create policy api on jobs.%I to jobs_api using (tenant = jobs.tenant()) with check (tenant = jobs.tenant())',
            name
        );
        execute format(
            'create policy worker on jobs.%I to jobs_worker using (tenant = jobs.tenant() or jobs.tenant() is null)'
            ' with check (tenant = jobs.tenant() or jobs.tenant() is null)',
            name
        );
    end loop;
end
$$;

-- A person replays, discards or starts an occurrence over the API: in this shape, and no other.
grant update (
    state, due_at, miss_at, attempts, replays, fence_base, started_at, ended_at, cause, error, selected_all, refused,
    failed, unfinished, recovery, discarded_at, discarded_by, discard_reason
) on jobs.occurrences to jobs_api;
grant update (outcome, attempts, try_at, sentence, ended_at) on jobs.occurrence_items to jobs_api;
grant insert (
    tenant, schedule, scheduled_at, origin, zone, tzdata, lock, due_at
) on jobs.occurrences to jobs_api;
create policy api_starts_by_hand on jobs.occurrences as restrictive for insert to jobs_api
with check (origin = 'manual' and state = 'scheduled' and fence = 0 and replays = 0);
-- Whatever statement the API runs: an occurrence runs again only as a counted replay of no recovery, which what moves
-- money does not run under (MONEY.md 1, 19); else its course stays as the Worker wrote it. Versions only rise: rows of
-- recoveries are compared by them.
create function jobs.refuse_other_course() returns trigger
language plpgsql
as $$
begin
    if new.version > old.version and (
        case
            when new.replays = old.replays
                then
                    (
                        new.state, new.due_at, new.miss_at, new.attempts, new.fence_base, new.started_at, new.ended_at,
                        new.cause, new.error, new.selected_all, new.refused, new.failed, new.unfinished, new.recovery
                    ) is not distinct from (
                        old.state, old.due_at, old.miss_at, old.attempts, old.fence_base, old.started_at, old.ended_at,
                        old.cause, old.error, old.selected_all, old.refused, old.failed, old.unfinished, old.recovery
                    )
            else
                old.ended_at is not null
                and new.state = 'scheduled'
                and new.replays = old.replays + 1
                and new.fence_base = old.fence
                and new.attempts = 0
                and new.recovery is null
        end
    ) then
        return new;
    end if;
    raise exception 'occurrence % is run by the Worker', old.id using errcode = 'restrict_violation';
end
$$;
create trigger occurrences_a_course before update on jobs.occurrences
for each row
when (current_user = 'jobs_api')
execute function jobs.refuse_other_course();
-- An item loses an outcome that is not done, and gets one from a run alone.
create policy api_decides_no_item on jobs.occurrence_items as restrictive for update to jobs_api
using (outcome is distinct from 'done') with check (outcome is null);
grant select, insert on jobs.occurrence_replays to jobs_api, jobs_worker;
grant delete on jobs.occurrence_replays to jobs_worker;
grant update (
    disabled_at, disabled_until, disabled_by, disabled_reason, switched, version
) on jobs.schedules to jobs_api;
grant select, insert on jobs.recoveries, jobs.recovery_rows, jobs.recovery_left_out to jobs_api;
grant update (
    state, edition, digest, money, left_out, schedules, count, moves, frozen_at, valid_until, confirmed_at, started_at,
    ended_at, ended_by, why, account, signing_key, signature, version
) on jobs.recoveries to jobs_api;
grant delete on jobs.recovery_rows to jobs_api;
grant update (number) on jobs.recovery_rows to jobs_api;
-- What was confirmed stays as it was confirmed, and its turns are the Worker's.
create policy api_adds_to_open on jobs.recovery_rows as restrictive for insert to jobs_api
with check (
    turn = 'not-started'
    and recovery in (
        select r.id
        from jobs.recoveries as r
        where r.state = 'open'
    )
);
create policy api_counts_open on jobs.recovery_rows as restrictive for update to jobs_api
using (
    recovery in (
        select r.id
        from jobs.recoveries as r
        where r.state = 'open'
    )
);
create policy api_takes_out_of_open on jobs.recovery_rows as restrictive for delete to jobs_api
using (
    recovery in (
        select r.id
        from jobs.recoveries as r
        where r.state = 'open'
    )
);
create policy api_makes_open on jobs.recoveries as restrictive for insert to jobs_api
with check (state = 'open' and over_at is null);
create function jobs.refuse_other_step() returns trigger
language plpgsql
as $$
begin
    if
        new.version >= old.version
        and (
            new.state = old.state
            or (old.state = 'open' and new.state in ('applying', 'dropped', 'expired'))
            or (old.state = 'applying' and new.state in ('paused', 'aborted'))
            or (old.state = 'paused' and new.state in ('applying', 'aborted'))
        )
        and (
            old.state = 'open'
            or (
                new.edition, new.digest, new.money, new.left_out, new.schedules, new.count, new.moves, new.frozen_at,
                new.valid_until, new.confirmed_at, new.started_at, new.account, new.signing_key, new.signature
            ) is not distinct from (
                old.edition, old.digest, old.money, old.left_out, old.schedules, old.count, old.moves, old.frozen_at,
                old.valid_until, old.confirmed_at, old.started_at, old.account, old.signing_key, old.signature
            )
        )
    then
        return new;
    end if;
    raise exception 'recovery % stays as it was confirmed', old.name using errcode = 'restrict_violation';
end
$$;
create trigger recoveries_a_step before update on jobs.recoveries
for each row
when (current_user = 'jobs_api')
execute function jobs.refuse_other_step();
grant select on jobs.recoveries, jobs.recovery_rows to jobs_worker;
grant update (state, started_at, ended_at, ended_by, why, account, over_at, version) on jobs.recoveries to jobs_worker;
grant update (turn, sentence, started_at, ended_at, occurrence) on jobs.recovery_rows to jobs_worker;
grant select, insert, delete on jobs.stops to jobs_api;
grant select on jobs.stops to jobs_worker;
grant update (drain_asked_at, drain_asked_by, drain_reason) on jobs.workers to jobs_api;
create policy api_drains on jobs.workers for update to jobs_api using (true) with check (true);
grant select on jobs.alarms to jobs_api;
grant update (
    acknowledged_at, acknowledged_by, note, version, telling, told, tell_at, tries
) on jobs.alarms to jobs_api;
grant select, insert, update, delete on jobs.alarms to jobs_worker;

-- What wakes Workers.
create trigger recoveries_wake after update on jobs.recoveries
for each row
when (new.state is distinct from old.state and new.confirmed_at is not null)
execute function jobs.wake('recoveries');
create trigger occurrences_replayed after update on jobs.occurrences
for each row
when (new.replays > old.replays)
execute function jobs.wake('occurrences');
create trigger occurrences_recovered after update on jobs.occurrences
for each row
when (new.recovery is not null and new.ended_at is not null and old.ended_at is null)
execute function jobs.wake('recoveries');
create trigger workers_drain after update on jobs.workers
for each row
when (new.drain_asked_at is distinct from old.drain_asked_at)
execute function jobs.wake('drain');
create function jobs.wake_after_stop() returns trigger
language plpgsql
as $$
begin
    perform pg_notify('jobs_work', 'stops');
    return null;
end
$$;
create trigger stops_wake after insert or delete on jobs.stops
for each statement execute function jobs.wake_after_stop();
create trigger alarms_wake after insert on jobs.alarms
for each row
when (new.told = 'waiting')
execute function jobs.wake('alarms');
create trigger alarms_wake_again after update on jobs.alarms
for each row
when (new.told = 'waiting' and old.told <> 'waiting')
execute function jobs.wake('alarms');

-- What of a plan waits, and when it is due: a schedule brings it forward, and the plan's run sees it by this.
create index plan_items_due on jobs.plan_items (plan, try_at) where turn = 'waiting';

-- Which schedule an entry is about: its history is the entries of it.
alter table jobs.audit
add column if not exists schedule text generated always as (detail ->> 'schedule') stored;

-- Seals of the trail (MONEY.md 31). Each entry has a place and a link: SHA-256 over the link before it and the entry.
-- An entry is sealed once no transaction that may still write an earlier one runs: the order is that of transactions,
-- and within one that of ids. Nothing is sealed twice, nothing is ever unsealed.
create table jobs.audit_seals (
    number bigint primary key,
    at timestamptz not null,
    life integer not null, -- rises where transaction ids begin anew: a dump that was restored into another server
    upto_xid bigint not null, -- up to this transaction, and this entry of it, everything of this life is sealed
    upto_id bigint not null,
    place bigint not null unique, -- of the last link
    count bigint not null check (count > 0),
    head bytea not null check (length(head) = 32)
);
create table jobs.audit_links (
    place bigint primary key,
    entry bigint not null unique,
    seal bigint not null,
    link bytea not null check (length(link) = 32)
);
create trigger audit_seals_grow before update or delete on jobs.audit_seals
for each row execute function jobs.refuse_change();
create trigger audit_seals_stay before truncate on jobs.audit_seals
for each statement execute function jobs.refuse_change();
create trigger audit_links_grow before update or delete on jobs.audit_links
for each row execute function jobs.refuse_change();
create trigger audit_links_stay before truncate on jobs.audit_links
for each statement execute function jobs.refuse_change();

-- The texts of an entry that are sealed, in this order; the instant in microseconds since 1970, UTC. `verify` reads the
-- same texts and puts the bytes together by itself.
create function jobs.audit_texts(entry jobs.audit) returns text[]
language sql stable set search_path = pg_catalog, pg_temp
as $$
    select array[
        entry.id::text,
        (extract(epoch from entry.at) * 1000000)::bigint::text,
        entry.tenant,
        entry.person,
        entry.action,
        entry.subject,
        entry.outcome,
        entry.detail::text,
        entry.reference,
        entry.schedule,
        entry.xid::text
    ]
$$;

-- The next link: each text is UTF-8 behind its length in four bytes; nothing at all has the length 4,294,967,295.
create function jobs.audit_link(before bytea, texts text[]) returns bytea
language sql immutable set search_path = pg_catalog, pg_temp
as $$
    select sha256(
        before || string_agg(
            case
                when part.value is null then '\xffffffff'::bytea
                else int4send(octet_length(convert_to(part.value, 'UTF8'))) || convert_to(part.value, 'UTF8')
            end,
            ''::bytea order by part.number
        )
    )
    from unnest(texts) with ordinality as part (value, number)
$$;

-- Seals at most so many entries, in one batch; the seal, or no row where there was nothing to seal.
create function jobs.seal_audit(most integer)
returns table (number bigint, place bigint, count bigint, head bytea, at timestamptz)
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
    last jobs.audit_seals;
    lowest bigint; -- every transaction below it has ended
    next_one bigint; -- no transaction has this id, or a higher one, yet
    anew boolean; -- ids of transactions begin anew, and what the life before left is not sealed yet
    entry jobs.audit;
    link bytea;
    linked bigint := 0;
begin
    -- One sealer at a time. What it reads after this, it reads with a snapshot of its own.
    lock table jobs.audit_seals in share row exclusive mode;
    select s.* into last from jobs.audit_seals as s order by s.number desc limit 1;
    if last.number is null then
        last := (0, jobs.now(), 1, 0, 0, 0, 1, sha256('jobs.audit.1'::bytea));
    end if;
    select pg_snapshot_xmin(c.snapshot)::text::bigint, pg_snapshot_xmax(c.snapshot)::text::bigint
    into lowest, next_one
    from (select pg_current_snapshot() as snapshot) as c;
    anew := lowest < last.upto_xid or last.upto_xid < 0;
    link := last.head;
    place := last.place;
    for entry in
        select a.*
        from jobs.audit as a
        where
            a.xid < lowest
            and (a.xid, a.id) > (last.upto_xid, last.upto_id)
            and not anew
            and not exists (select 1 from jobs.audit_links as l where l.entry = a.id)
        union all
        select a.*
        from jobs.audit as a
        where
            anew
            and (a.xid < lowest or a.xid >= next_one)
            and not exists (select 1 from jobs.audit_links as l where l.entry = a.id)
        order by xid, id
        limit most
    loop
        linked := linked + 1;
        place := place + 1;
        link := jobs.audit_link(link, jobs.audit_texts(entry));
        insert into jobs.audit_links (place, entry, seal, link) values (place, entry.id, last.number + 1, link);
    end loop;
    if linked = 0 then
        return;
    end if;
    number := last.number + 1;
    count := linked;
    head := link;
    at := jobs.now();
    insert into jobs.audit_seals (number, at, life, upto_xid, upto_id, place, count, head)
    values (
        number,
        at,
        last.life + (lowest < last.upto_xid)::integer,
        case when linked < most then lowest when anew then -1 else entry.xid end,
        case when linked < most or anew then 0 else entry.id end,
        place,
        linked,
        link
    );
    return next;
end
$$;
-- Whether a batch would find something: the same entries, and one of them is enough.
create function jobs.audit_waits() returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
    with behind as (
        select
            coalesce((select s.upto_xid from jobs.audit_seals as s order by s.number desc limit 1), 0) as xid,
            coalesce((select s.upto_id from jobs.audit_seals as s order by s.number desc limit 1), 0) as id,
            pg_snapshot_xmin(pg_current_snapshot())::text::bigint as lowest
    )

    select
        b.lowest < b.xid
        or b.xid < 0
        or exists (
            select 1
            from jobs.audit as a
            where
                a.xid < b.lowest
                and (a.xid, a.id) > (b.xid, b.id)
                and not exists (select 1 from jobs.audit_links as l where l.entry = a.id)
        )
    from behind as b
$$;
-- The owner alone computes links: a service role that verified would see a part of the trail and call it a gap.
revoke all on function jobs.audit_texts(jobs.audit) from public;
revoke all on function jobs.audit_link(bytea, text[]) from public;
revoke all on function jobs.seal_audit(integer), jobs.audit_waits() from public;
grant execute on function jobs.seal_audit(integer), jobs.audit_waits() to jobs_worker;

alter table jobs.audit_seals enable row level security;
alter table jobs.audit_seals force row level security;
alter table jobs.audit_links enable row level security;
alter table jobs.audit_links force row level security;
do $$
begin
    execute 'create policy owner on jobs.audit_seals to current_user using (true) with check (true)';
    execute 'create policy owner on jobs.audit_links to current_user using (true) with check (true)';
end
$$;
-- Whoever reads an entry reads how it is sealed; a seal itself says nothing of any tenant.
create policy api on jobs.audit_links for select to jobs_api
using (
    exists (
        select 1
        from jobs.audit as a
        where a.id = audit_links.entry and a.tenant = jobs.tenant()
    )
);
create policy api on jobs.audit_seals for select to jobs_api using (true);
create policy worker on jobs.audit_seals for select to jobs_worker using (true);
grant select on jobs.audit_links, jobs.audit_seals to jobs_api;
grant select on jobs.audit_seals to jobs_worker;

-- Reading the trail: the newest first, under a filter; each kind of filter has its index.
drop index jobs.audit_tenant;
create index audit_listed on jobs.audit (tenant, at desc, id desc);
create index audit_person on jobs.audit (tenant, person, at desc, id desc);
create index audit_action on jobs.audit (tenant, action, at desc, id desc);
create index audit_subject on jobs.audit (tenant, subject, at desc, id desc);
create index if not exists audit_schedule on jobs.audit (tenant, schedule, at desc, id desc)
where schedule is not null;
create index audit_not_done on jobs.audit (tenant, outcome, at desc, id desc)
where outcome <> 'done';

-- How many attempts went well, dead letters came and instants were missed, by hour: the overview's sparklines. Counted
-- by a duty from what ended in the hour, as often as it likes: a row is what was counted last. `figures.tallied-until`:
-- all that ended before it is in them.
create table jobs.hourly_tallies (
    tenant text not null references jobs.tenants (id),
    hour timestamptz not null,
    completed bigint not null default 0,
    dead bigint not null default 0,
    missed bigint not null default 0,
    counted_at timestamptz not null default jobs.now(),
    primary key (tenant, hour)
);
alter table jobs.hourly_tallies enable row level security;
alter table jobs.hourly_tallies force row level security;
create policy owner on jobs.hourly_tallies to current_user using (true) with check (true);
create policy api on jobs.hourly_tallies for select to jobs_api using (tenant = jobs.tenant());
create policy worker on jobs.hourly_tallies to jobs_worker
using (tenant = jobs.tenant() or jobs.tenant() is null) with check (tenant = jobs.tenant() or jobs.tenant() is null);
grant select on jobs.hourly_tallies to jobs_api;
grant select, insert, update, delete on jobs.hourly_tallies to jobs_worker;
-- How many dead letters a schedule has; what waits longest in a queue.
create index occurrences_dead_of on jobs.occurrences (tenant, schedule)
where state = 'dead-letter' and discarded_at is null;
create index items_oldest on jobs.items (tenant, queue, created) where closed_at is null;
-- Only grows at its end, and so costs little to keep.
create index occurrence_attempts_ended on jobs.occurrence_attempts (tenant, ended_at);

-- How many occurrences run, over all tenants: a figure, and nothing of any of them (why something waits for a slot).
create function jobs.slots_taken() returns bigint
language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
    select count(*) from jobs.occurrences as o where o.expires_at is not null
$$;
revoke all on function jobs.slots_taken() from public;
grant execute on function jobs.slots_taken() to jobs_api, jobs_worker;

-- The timeline of an incident: each of its sources is a range of an index.
create index audit_timeline on jobs.audit (tenant, at, id)
where not detail ?| array['queue', 'outward_key', 'plan_name', 'recovery'];
create index occurrences_died on jobs.occurrences (tenant, ended_at, id) where state = 'dead-letter';
create index occurrences_late on jobs.occurrences (tenant, started_at, id)
where started_at - scheduled_at > interval '1 minute';
create index occurrences_made_good on jobs.occurrences (tenant, ended_at, id)
where state = 'completed' and (attempts > 1 or replays > 0);
create index occurrence_attempts_ill on jobs.occurrence_attempts (tenant, ended_at, occurrence)
where ending <> 'completed';
create index refused_completions_at on jobs.refused_completions (tenant, at, id);
create index skipped_instants_decided on jobs.skipped_instants (tenant, decided_at, id);
create index alarms_opened on jobs.alarms (tenant, opened_at, id);
create index plans_ended on jobs.plans (tenant, ended_at, id) where state in ('voided', 'expired');
create index recoveries_ended on jobs.recoveries (tenant, ended_at, id) where state in ('done', 'expired');
