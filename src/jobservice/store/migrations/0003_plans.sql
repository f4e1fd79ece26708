-- Plans, their items, releases, limits' sums, codes, stops, notices (MONEY.md 1 to 22). Runs as the owner.

-- `plan` = the plan whose claim stands on the item: its owner's while the plan is open, nobody else's once it was
-- confirmed (`held`). `about` = the payout that a review item asks about. The trigger below lets go of both marks when
-- anybody else changes the claim, so that no other statement need know of plans.
alter table jobs.items
    drop constraint items_state_check,
    add check (state in ('open', 'evidence-asked', 'rejected', 'resolved', 'released')),
    drop constraint items_check,
    add check ((state in ('rejected', 'resolved', 'released')) = (closed_at is not null)),
    add column plan uuid,
    add column plan_name text,
    add column held boolean not null default false,
    add column about uuid references jobs.items (id),
    add column payment_changed_by text,
    add column account_changed_at timestamptz,
    add column account_changed_by text,
    add check (plan is null or holder is not null),
    add check ((plan is null) = (plan_name is null)),
    add check (not held or plan is not null);
-- Who last changed amount, payee or account (null: nobody since the push), and when the account (MONEY.md 11, 12).
create index items_plan on jobs.items (plan, id) where plan is not null;
create index items_about on jobs.items (about) where about is not null;
create index items_payees on jobs.items (tenant, payee_id, pushed_at) where payee_id is not null;
create index items_accounts on jobs.items (tenant, account, pushed_at) where account is not null;

create function jobs.leave_plan() returns trigger
language plpgsql
as $$
begin
    new.plan := null;
    new.plan_name := null;
    new.held := false;
    return new;
end
$$;
create trigger items_leave_plan before update on jobs.items
for each row
when (
    old.plan is not null
    and new.plan is not distinct from old.plan
    and new.held = old.held
    and (new.holder is distinct from old.holder or new.fence <> old.fence)
)
execute function jobs.leave_plan();

create function jobs.note_payment_change() returns trigger
language plpgsql
as $$
begin
    new.payment_changed_by := new.changed_by;
    if new.account is distinct from old.account then
        new.account_changed_at := jobs.now();
        new.account_changed_by := new.changed_by;
    end if;
    return new;
end
$$;
create trigger items_payment_changed before update on jobs.items
for each row
when (
    new.amount_minor is distinct from old.amount_minor
    or new.currency is distinct from old.currency
    or new.payee_id is distinct from old.payee_id
    or new.payee_name is distinct from old.payee_name
    or new.account is distinct from old.account
)
execute function jobs.note_payment_change();

create table jobs.plans (
    id uuid primary key default jobs.uuid7(),
    tenant text not null references jobs.tenants (id),
    name text not null,
    command text not null,
    queue text not null,
    use_case text not null,
    use_case_version integer not null,
    parameters jsonb not null default '{}',
    filter text,
    owner text not null references jobs.people (id),
    approved_by text references jobs.people (id) check (approved_by <> owner),
    state text not null default 'open' check (
        state in (
            'open', 'armed', 'applying', 'paused', 'done', 'aborted', 'lapsed', 'dropped', 'voided', 'expired'
        )
    ),
    edition integer not null default 1,
    salt bytea not null check (length(salt) = 32),
    digest bytea not null check (length(digest) = 32),
    totals jsonb not null,
    largest jsonb not null default '[]', -- of what goes out, one a currency
    excluded jsonb not null default '[]', -- how many items each reason keeps out
    count integer not null check (count > 0),
    payees integer not null,
    made_at timestamptz not null default jobs.now(),
    frozen_at timestamptz not null,
    valid_until timestamptz not null, -- while it is open
    confirmed_at timestamptz,
    armed_until timestamptz,
    apply_until timestamptz,
    started_at timestamptz,
    ended_at timestamptz,
    ended_by text,
    reason text,
    signing_key text,
    signature bytea,
    version bigint not null default 1,
    -- The lease of the Worker that applies it (DESIGN.md, leases).
    holder uuid,
    expires_at timestamptz,
    fence bigint not null default 0,
    accounted_at timestamptz, -- when the Worker closed its account: nothing is left to do for it
    unique (tenant, name),
    check ((confirmed_at is null) = (signature is null) and (signature is null) = (signing_key is null)),
    check (state not in ('armed', 'applying', 'paused', 'done', 'lapsed') or confirmed_at is not null),
    check (state not in ('open', 'dropped', 'voided', 'expired') or confirmed_at is null),
    check ((holder is null) = (expires_at is null))
);
create index plans_owner on jobs.plans (tenant, owner, made_at desc);
create index plans_recent on jobs.plans (tenant, made_at desc);
create index plans_live on jobs.plans (state, made_at) where state in ('open', 'armed', 'applying', 'paused');
create index plans_unaccounted on jobs.plans (made_at, id) where confirmed_at is not null and accounted_at is null;

-- No foreign keys to plans and items: the one statement that writes fifty thousand rows takes both from those tables, from
-- which nothing is ever deleted, and checking each row anew cost more than writing it.
create table jobs.plan_items (
    plan uuid not null,
    item uuid not null,
    tenant text not null,
    number integer not null,
    money_version bigint not null,
    fence bigint not null,
    business_key text,
    title text not null,
    amount_minor bigint not null,
    currency text not null,
    payee_id text not null,
    payee_name text not null,
    account text not null,
    account_mark text not null,
    inputs jsonb not null,
    words text not null default '', -- what a search looks in, as jobs.items has it
    warned text[] not null default '{}',
    turn text not null default 'not-started' check (
        turn in ('not-started', 'running', 'waiting', 'done', 'refused', 'failed', 'uncertain')
    ),
    attempts integer not null default 0,
    try_at timestamptz,
    outward_key text,
    sent_at timestamptz,
    turn_fence bigint,
    ended_at timestamptz,
    sentence text,
    reference text,
    primary key (plan, item),
    unique (plan, number) deferrable, -- judged at the end of a statement: taking out counts the rest anew
    check ((turn in ('done', 'refused', 'failed', 'uncertain')) = (ended_at is not null)),
    check (turn <> 'running' or turn_fence is not null)
);
create index plan_items_turns on jobs.plan_items (plan, turn, number);
create index plan_items_item on jobs.plan_items (item, plan);
create index plan_items_uncertain on jobs.plan_items (tenant, item) where turn = 'uncertain';
create index plan_items_sent on jobs.plan_items (tenant, outward_key) where outward_key is not null;

-- A text as a digest takes it: its length in bytes of UTF-8, a colon, itself (`jobcontract.plan_digest`).
create function jobs.prefixed(t text) returns text
language sql stable parallel safe
as $$ select octet_length(convert_to(t, 'UTF8'))::text || ':' || t $$;

-- What was in the set and is not in the plan; `item` is what was asked for, whether there is such an item or not.
create table jobs.plan_exclusions (
    plan uuid not null references jobs.plans (id),
    item uuid not null,
    tenant text not null,
    reason text not null,
    who text,
    sentence text not null,
    title text,
    amount_minor bigint,
    currency text,
    payee_id text,
    payee_name text,
    account text,
    primary key (plan, item)
);
create index plan_exclusions_reason on jobs.plan_exclusions (plan, reason, item);

create table jobs.plan_warnings (
    id uuid primary key default jobs.uuid7(),
    plan uuid not null,
    item uuid not null,
    tenant text not null,
    kind text not null,
    place integer not null, -- of its kind among kinds: odd before ordinary
    sentence text not null,
    amount_rank bigint not null, -- -abs(amount): most money first
    must_answer boolean not null,
    answer text,
    answered_at timestamptz
);
create index plan_warnings_order on jobs.plan_warnings (plan, must_answer desc, place, amount_rank, id);
create index plan_warnings_item on jobs.plan_warnings (plan, item);

-- Money that went out: written by the Worker alone, for an item of a confirmed plan alone (MONEY.md 1, 19).
create table jobs.releases (
    item uuid primary key references jobs.items (id),
    tenant text not null,
    plan uuid not null,
    at timestamptz not null default jobs.now(),
    person text not null, -- owner of the plan
    said_by text, -- who said that it was paid, where nobody's answer did
    amount_minor bigint not null,
    currency text not null,
    payee_id text not null,
    account text not null,
    outward_key text not null,
    reference text,
    foreign key (plan, item) references jobs.plan_items (plan, item)
);
create index releases_person on jobs.releases (tenant, person, at);
create index releases_account on jobs.releases (tenant, account, at);
create index releases_payee on jobs.releases (tenant, payee_id, at);

-- What an answer said that came after the lease was lost, or twice: kept, and changes nothing (MONEY.md 3).
create table jobs.plan_evidence (
    id bigint generated always as identity primary key,
    tenant text not null,
    plan uuid not null,
    item uuid not null,
    at timestamptz not null default jobs.now(),
    worker uuid,
    fence bigint,
    source text not null check (source in ('late-answer', 'look-up', 'person')),
    person text, -- who said so
    outcome text not null,
    sentence text not null,
    reference text,
    check ((source = 'person') = (person is not null)),
    foreign key (plan, item) references jobs.plan_items (plan, item)
);
create index plan_evidence_item on jobs.plan_evidence (item, id);

-- What confirmed plans send out, by person and destination account: the rolling sums that limits compare with. The
-- confirming transaction locks the currency's row of jobs.limit_locks, then sums (MONEY.md 10).
create table jobs.outgoings (
    plan uuid not null references jobs.plans (id),
    tenant text not null,
    person text not null,
    account text not null,
    currency text not null,
    gross_minor bigint not null,
    count integer not null,
    at timestamptz not null,
    single boolean not null default false, -- freed from the code by the setting for single releases
    primary key (plan, account, currency),
    check (gross_minor >= 0 and count >= 0) -- no row makes room under a limit
);
create index outgoings_recent on jobs.outgoings (tenant, at);
create table jobs.limit_locks (
    tenant text not null references jobs.tenants (id),
    currency text not null,
    primary key (tenant, currency)
);

-- The switch: one row a tenant, read in the statement of every money item (MONEY.md 20). `identity` is the database
-- that money was allowed in: in another one, or a restored backup, nothing moves until it was reconciled (22).
create table jobs.money_switches (
    tenant text primary key references jobs.tenants (id),
    stopped boolean not null default false,
    at timestamptz,
    by text,
    reason text,
    version bigint not null default 1,
    check (stopped = (at is not null) and stopped = (reason is not null))
);
insert into jobs.money_switches (tenant)
select t.id
from jobs.tenants as t;
create function jobs.add_money_switch() returns trigger
language plpgsql
as $$
begin
    insert into jobs.money_switches (tenant, stopped, at, reason)
    select new.id, r.restored, case when r.restored then jobs.now() end, case when r.restored then 'This database was'
        ' restored from a backup, or moved.' end
    from (select jobs.restored() as restored) as r;
    return null;
end
$$;
create trigger tenants_money_switch after insert on jobs.tenants
for each row execute function jobs.add_money_switch();

-- Every turn holds this lock, shared, from before it reads the switch until it ends; whoever throws the switch waits
-- for those turns, and those that come after wait for it. A row lock would not do: turns that follow each other closely
-- share it without a gap, and a stop would wait for as long as money moves.
create function jobs.wait_for_turns() returns trigger
language plpgsql
as $$
begin
    if jobs.tenant() is not null then
        perform pg_advisory_xact_lock(1836021369, hashtext(jobs.tenant()));
    end if;
    return null;
end
$$;
create trigger money_switches_wait before update on jobs.money_switches
for each statement execute function jobs.wait_for_turns();

-- Which database this is (as `hints/database_identity`): another one, or a restored backup, has another.
create function jobs.identity() returns text
language sql stable
as $$
    select md5(concat_ws('/', s.system_identifier, c.timeline_id, d.oid))
    from pg_control_system() as s
    cross join pg_control_checkpoint() as c
    cross join pg_database as d
    where d.datname = current_database()
$$;

-- Whether money last moved in another database than this: then it stays stopped until it was reconciled (MONEY.md 22).
create function jobs.restored() returns boolean
language sql stable
as $$ select exists (select 1 from jobs.marks as m where m.name = 'money-identity' and m.value <> jobs.identity()) $$;

-- Run by every process at its start: keeps which database this is at the first, and stops the money of all tenants
-- where it is another one by now. A process of one tenant a transaction could not.
create function jobs.stop_if_restored() returns boolean
language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
    insert into jobs.marks (name, value) values ('money-identity', jobs.identity()) on conflict (name) do nothing;
    if not jobs.restored() then
        return false;
    end if;
    update jobs.money_switches
    set
        stopped = true,
        at = jobs.now(),
        by = null,
        reason = 'This database was restored from a backup, or moved. Compare with the bank first, on the server: '
            || 'jobservice money reconcile.',
        version = version + 1
    where not stopped;
    return true;
end
$$;
revoke all on function jobs.stop_if_restored() from public;
grant execute on function jobs.stop_if_restored() to jobs_api, jobs_worker;

create function jobs.refuse_start_in_restored() returns trigger
language plpgsql
as $$
begin
    if jobs.restored() then
        raise exception 'money stays stopped until this database was reconciled' using errcode = 'restrict_violation';
    end if;
    return new;
end
$$;
create trigger money_switches_restored before update on jobs.money_switches
for each row
when (old.stopped and not new.stopped)
execute function jobs.refuse_start_in_restored();

-- The secret of a person's phone, sealed (MONEY.md 13 to 17). `pending_*`: being enrolled. Counters are the person's
-- own, over all tenants; `last_step` never falls.
create table jobs.codes (
    person text primary key references jobs.people (id),
    key_id text,
    sealed bytea,
    enrolled_at timestamptz,
    rests_until timestamptz,
    pending_key_id text,
    pending_sealed bytea,
    pending_at timestamptz,
    last_step bigint not null default 0,
    in_a_row integer not null default 0,
    locks integer not null default 0,
    locked_until timestamptz,
    locked_for_good boolean not null default false,
    check ((key_id is null) = (sealed is null)),
    check ((pending_key_id is null) = (pending_sealed is null))
);
create table jobs.code_failures (
    id bigint generated always as identity primary key,
    person text not null references jobs.people (id),
    at timestamptz not null default jobs.now()
);
create index code_failures_person on jobs.code_failures (person, at);

-- What people are told outside the console (MONEY.md 14 to 16). `text` holds no code, no secret, no account.
create table jobs.notices (
    id uuid primary key default jobs.uuid7(),
    tenant text,
    person text not null references jobs.people (id),
    kind text not null,
    subject text not null,
    text text not null,
    about text,
    made_at timestamptz not null default jobs.now(),
    try_at timestamptz not null default jobs.now(),
    attempts integer not null default 0,
    sent_at timestamptz,
    given_up_at timestamptz,
    failure text
);
create index notices_due on jobs.notices (try_at, id) where sent_at is null and given_up_at is null;
create index notices_person on jobs.notices (person, made_at);

create trigger releases_grow before update or delete on jobs.releases
for each row execute function jobs.refuse_change();
create trigger releases_stay before truncate on jobs.releases
for each statement execute function jobs.refuse_change();
create trigger plan_evidence_grows before update or delete on jobs.plan_evidence
for each row execute function jobs.refuse_change();

-- A second wall in front of what a confirmed plan holds (MONEY.md 18): whatever statement the API runs, content, state
-- and claim of a held item stay while the plan lives and its window is open, and while nobody knows whether it was paid.
-- (Its queries are planned once a session: an abort asks them of 50,000 rows, and planning takes most of a millisecond.)
create function jobs.refuse_held() returns trigger
language plpgsql set plan_cache_mode = force_generic_plan
as $$
begin
    if current_user = 'jobs_api' and old.expires_at > jobs.now() and (
        exists (
            select 1
            from jobs.plans as p
            where p.id = old.plan and p.state in ('armed', 'applying', 'paused')
        )
        or exists (
            select 1
            from jobs.plan_items as t
            where t.plan = old.plan and t.item = old.id and t.turn in ('running', 'uncertain')
        )
    ) then
        raise exception 'item % is held by a confirmed plan', old.id using errcode = 'restrict_violation';
    end if;
    return new;
end
$$;
create trigger items_a_held before update on jobs.items
for each row
when (
    old.held
    and (
        new.held is distinct from old.held
        or new.plan is distinct from old.plan
        or new.holder is distinct from old.holder
        or new.fence <> old.fence
        or new.money_version <> old.money_version
        or new.state <> old.state
    )
)
execute function jobs.refuse_held();

do $$
declare
    name text;
begin
    foreach name in array array[
        'plans', 'plan_items', 'plan_exclusions', 'plan_warnings', 'releases', 'plan_evidence', 'outgoings',
        'limit_locks', 'money_switches', 'codes', 'code_failures', 'notices'
    ] loop
        execute format('alter table jobs.%I enable row level security', name);
        execute format('alter table jobs.%I force row level security', name);
        execute format('create policy owner on jobs.%I to current_user using (true) with check (true)', name);
    end loop;
    foreach name in array array[
        'plans', 'plan_items', 'plan_exclusions', 'plan_warnings', 'releases', 'plan_evidence', 'outgoings',
        'limit_locks', 'money_switches'
    ] loop
        execute format(
            'create policy api on jobs.%I to jobs_api using (tenant = jobs.tenant()) with check (tenant = jobs.tenant())',
            name
        );
        execute format(
            'create policy worker on jobs.%I to jobs_worker using (tenant = jobs.tenant())'
            ' with check (tenant = jobs.tenant())',
            name
        );
    end loop;
end
$$;
-- Which plans want work, and leases on them, are the Worker's bookkeeping over all tenants (MONEY.md 29).
create policy worker_looks on jobs.plans for select to jobs_worker using (jobs.tenant() is null);
create policy worker_leases on jobs.plans for update to jobs_worker
using (jobs.tenant() is null) with check (jobs.tenant() is null);
create policy worker_looks on jobs.money_switches for select to jobs_worker using (jobs.tenant() is null);
-- Codes and notices belong to a person: of the tenant that the transaction is in.
create policy api on jobs.codes to jobs_api
using (exists (select 1 from jobs.memberships as m where m.person = codes.person and m.tenant = jobs.tenant()))
with check (exists (select 1 from jobs.memberships as m where m.person = codes.person and m.tenant = jobs.tenant()));
create policy api on jobs.code_failures to jobs_api
using (exists (select 1 from jobs.memberships as m where m.person = code_failures.person and m.tenant = jobs.tenant()))
with check (
    exists (select 1 from jobs.memberships as m where m.person = code_failures.person and m.tenant = jobs.tenant())
);
create policy api on jobs.notices for insert to jobs_api with check (tenant = jobs.tenant());
create policy worker on jobs.notices to jobs_worker using (true) with check (true);
-- Where somebody is told: of those who have a notice to come, whatever tenant they are in, or none by now.
create policy worker_tells on jobs.people for select to jobs_worker
using (
    jobs.tenant() is null
    and exists (
        select 1 from jobs.notices as n where n.person = people.id and n.sent_at is null and n.given_up_at is null
    )
);
-- *released* is the Worker's word (MONEY.md 19); review items are all that it adds, and people work them as any other.
create policy api_never_releases on jobs.items as restrictive to jobs_api
using (true) with check (state <> 'released');
create policy api_adds_no_reviews on jobs.items as restrictive for insert to jobs_api with check (about is null);
-- What had a turn is not forgotten: a row that was sent stays, and no row is added as if it had been.
create policy api_forgets_no_turn on jobs.plan_items as restrictive for delete to jobs_api
using (turn = 'not-started' and attempts = 0 and outward_key is null);
create policy api_adds_no_turn on jobs.plan_items as restrictive for insert to jobs_api
with check (turn = 'not-started' and attempts = 0 and outward_key is null);
create policy worker_adds_reviews on jobs.items as restrictive for insert to jobs_worker with check (about is not null);

grant select, insert on jobs.plans, jobs.plan_items, jobs.plan_exclusions, jobs.plan_warnings to jobs_api;
grant update (
    state, edition, digest, totals, largest, excluded, count, payees, frozen_at, valid_until, confirmed_at, armed_until,
    apply_until, started_at, ended_at, ended_by, reason, signing_key, signature, version, approved_by
) on jobs.plans to jobs_api;
grant update (number, fence, money_version, warned) on jobs.plan_items to jobs_api;
-- A person says how an uncertain payout ended; the Worker's role writes it (`was paid` releases).
grant delete on jobs.plan_items, jobs.plan_warnings to jobs_api;
grant update (answer, answered_at, must_answer) on jobs.plan_warnings to jobs_api;
grant select on jobs.releases, jobs.plan_evidence to jobs_api;
grant insert (tenant, plan, item, source, person, outcome, sentence, reference) on jobs.plan_evidence to jobs_api;
grant select, insert on jobs.outgoings, jobs.limit_locks to jobs_api;
grant update on jobs.limit_locks to jobs_api;
grant select, update on jobs.money_switches to jobs_api;
grant select, insert on jobs.codes, jobs.code_failures to jobs_api;
grant update (last_step, in_a_row, locks, locked_until, locked_for_good) on jobs.codes to jobs_api;
grant delete on jobs.code_failures to jobs_api;
grant insert (tenant, person, kind, subject, text, about) on jobs.notices to jobs_api;

grant select on jobs.plans, jobs.plan_items, jobs.releases, jobs.outgoings, jobs.money_switches to jobs_worker;
grant update (
    state, started_at, ended_at, ended_by, reason, version, holder, expires_at, fence, accounted_at
) on jobs.plans to jobs_worker;
grant update (
    turn, attempts, try_at, outward_key, sent_at, turn_fence, ended_at, sentence, reference
) on jobs.plan_items to jobs_worker;
grant insert on jobs.releases to jobs_worker;
grant select, insert on jobs.plan_evidence to jobs_worker;
grant update (gross_minor, count) on jobs.outgoings to jobs_worker;
grant update (stopped, at, by, reason, version) on jobs.money_switches to jobs_worker;
grant select, insert, update on jobs.notices to jobs_worker;
grant select (contact) on jobs.people to jobs_worker;
grant update (plan, plan_name, held, fence, state, closed_at, money_version, changed_by, changed_at) on jobs.items to jobs_worker;
grant insert on jobs.items, jobs.item_versions to jobs_worker;
grant select on jobs.item_versions to jobs_worker;

-- A plan's row as `jobcontract.plans.PlanItem` goes over the wire, put together as text like an item: a page builds a
-- thousand of them.
create function jobs.plan_item_text(i jobs.plan_items, exponents jsonb) returns text
language sql stable parallel safe
as $$
    select concat(
        '{"number":', i.number,
        ',"item":"', i.item,
        '","key":', coalesce(to_json(i.business_key)::text, 'null'),
        ',"title":', to_json(i.title),
        ',"amount":{"minor":', i.amount_minor, ',"currency":"', i.currency, '","exponent":',
        coalesce((exponents -> i.currency)::text, 'null'),
        '},"payee":{"id":', to_json(i.payee_id), ',"name":', to_json(i.payee_name), ',"account_last4":',
        to_json(right(i.account, 4)),
        '},"account_mark":"', i.account_mark,
        '","inputs":', i.inputs,
        ',"money_version":', i.money_version,
        ',"warnings":', to_json(i.warned),
        ',"turn":"', i.turn,
        '","attempts":', i.attempts,
        ',"sentence":', coalesce(to_json(i.sentence)::text, 'null'),
        ',"reference":', coalesce(to_json(i.reference)::text, 'null'),
        ',"ended_at":', coalesce(to_json(i.ended_at)::text, 'null'), '}'
    )
$$;

-- An item as `jobcontract.items.Item` goes over the wire. `exponents`: decimals by currency. Put together as text: that
-- takes half of what json_build_object takes, and a page builds a hundred of them.
create or replace function jobs.item_text(i jobs.items, holder_name text, at timestamptz, exponents jsonb) returns text
language sql stable parallel safe
as $$
    select concat(
        '{"id":"', i.id,
        '","queue":', to_json(i.queue),
        ',"key":', coalesce(to_json(i.business_key)::text, 'null'),
        ',"title":', to_json(i.title),
        ',"created":', to_json(i.created),
        case
            when i.closed_at is null and i.set_aside_until > at
                then concat(',"state":"set-aside","set_aside_until":', to_json(i.set_aside_until))
            else concat(',"state":"', i.state, '","set_aside_until":null')
        end,
        ',"amount":', case
            when i.amount_minor is null then 'null'
            else concat(
                '{"minor":', i.amount_minor, ',"currency":"', i.currency, '","exponent":',
                coalesce((exponents -> i.currency)::text, 'null'), '}'
            )
        end,
        ',"payee":', case
            when i.payee_id is null then 'null'
            else concat(
                '{"id":', to_json(i.payee_id), ',"name":', to_json(i.payee_name), ',"account_last4":',
                to_json(right(i.account, 4)), '}'
            )
        end,
        ',"inputs":', i.inputs,
        ',"score":', case
            when i.score_rule is null then 'null'
            else concat(
                '{"value":', coalesce(i.score::text, 'null'), ',"rule":', to_json(i.score_rule), ',"version":',
                i.score_version, ',"parts":', coalesce(i.score_parts::text, '[]'), ',"scored_at":',
                to_json(i.scored_at), ',"failure":', coalesce(to_json(i.score_failure)::text, 'null'), '}'
            )
        end,
        ',"rank":', i.rank,
        ',"money_version":', i.money_version,
        case
            when i.expires_at > at then concat(
                ',"holder":{"id":', to_json(i.holder), ',"name":', to_json(coalesce(holder_name, i.holder)),
                '},"expires_at":', to_json(i.expires_at)
            )
            else ',"holder":null,"expires_at":null'
        end,
        ',"fence":', i.fence,
        case
            when i.plan is not null and i.expires_at > at then concat(
                ',"plan":{"id":"', i.plan, '","name":',
                to_json(i.plan_name),
                ',"held":', i.held::text, '}'
            )
            else ',"plan":null'
        end,
        ',"about":', coalesce(to_json(i.about)::text, 'null'), '}'
    )
$$;
