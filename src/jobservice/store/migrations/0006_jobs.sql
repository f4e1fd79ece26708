-- Background jobs: the account of each (root, steps, history), requester notices, causes, tallies (requirements,
-- section F; the invariants INV-01 to INV-12). Runs as the owner. The engine's own schema is made by the engine
-- (`jobservice migrate`), after this file.

grant usage on schema jobs to jobs_purge;

-- One definition for every family: an owner of kinds has tables of its own, which are partitions of these three
-- (`payments_jobs`, `payments_job_steps`, `payments_job_events`), made by jobs.ensure_family.
create table jobs.jobs (
    family text not null,
    id uuid not null default jobs.uuid7(), -- rises with time: listings are ordered by it
    tenant text not null,
    kind text not null,
    kind_version integer not null,
    status text not null default 'pending' check (status in ('pending', 'running', 'succeeded', 'failed', 'cancelled')),
    progress smallint not null default 0 check (progress between 0 and 100),
    moves text not null check (moves in ('money', 'nothing')),
    carrier text not null default 'engine' check (carrier in ('engine', 'plan')),
    submission_identity text not null check (length(submission_identity) between 1 and 200),
    inputs jsonb not null default '{}' check (jsonb_typeof(inputs) = 'object'),
    inputs_digest bytea not null check (length(inputs_digest) = 32),
    requester text,
    subject text,
    customer text,
    workspace text,
    requested_at timestamptz not null default jobs.now(),
    started_at timestamptz,
    activity_at timestamptz not null default jobs.now(),
    settled_at timestamptz,
    last_step text,
    last_step_status text,
    execution_handle text, -- the engine's name of the workflow: never leaves the service (INV-12)
    handed_over_at timestamptz,
    holder uuid, -- the Worker that runs it
    fence bigint not null default 0, -- rises with each taking up: what a former holder still writes meets nothing
    failure_summary text check (length(failure_summary) <= 1000),
    failure_reference text,
    cause uuid, -- jobs.job_causes
    lineage uuid not null, -- id of the first job of its lineage
    retry_of uuid,
    retry_reason text,
    cancel_asked_at timestamptz,
    cancel_asked_by text,
    cancel_reason text check (length(cancel_reason) <= 500),
    plan uuid, -- the confirmed plan that submitted it, or that it is the account of
    recovery uuid, -- the confirmed recovery that retried it
    depth smallint not null default 0 check (depth between 0 and 10), -- how many jobs submitted one another before it
    resolution text check (resolution in ('acknowledged', 'resolved', 'retried')),
    resolved_at timestamptz,
    resolved_by text,
    resolved_job uuid, -- the retry that succeeded
    resolution_reason text,
    ticket text,
    failure_effect text, -- id of the use case, as its kind declared at submission
    failure_effect_state text not null default 'none' check (failure_effect_state in ('none', 'due', 'done', 'failed')),
    failure_effect_attempts smallint not null default 0,
    failure_effect_at timestamptz, -- when it is tried next, or was done
    event_sequence bigint not null default 0, -- of its latest event
    version bigint not null default 1,
    primary key (family, id),
    unique (family, tenant, kind, submission_identity), -- INV-01
    foreign key (family, retry_of) references jobs.jobs (family, id),
    check ((status in ('succeeded', 'failed', 'cancelled')) = (settled_at is not null)), -- INV-02
    check (started_at is not null or status <> 'running'),
    check (status <> 'succeeded' or progress = 100),
    check ((failure_summary is not null) = (status = 'failed')),
    check (activity_at >= requested_at),
    check ((cancel_asked_at is null) = (cancel_reason is null)),
    check ((resolution is null) = (resolved_at is null)),
    check (resolution is null or status = 'failed'),
    check (status <> 'cancelled' or cancel_asked_at is not null),
    check (moves <> 'money' or plan is not null or recovery is not null), -- money: a confirmed plan's alone
    check ((retry_of is null) = (lineage = id)),
    check (failure_effect_state = 'none' or status = 'failed')
) partition by list (family);

-- INV-10: of a job and all retries that came of it, one at a time is unsettled.
create unique index jobs_one_retry on jobs.jobs (family, lineage) where settled_at is null;
create index jobs_retries on jobs.jobs (family, retry_of, id) where retry_of is not null;
create index jobs_lineage on jobs.jobs (lineage, tenant, id);

-- What listings walk, each from its end backwards. A change of status is written into all of them, so they are few;
-- progress and activity are in none. Of several things asked for one leads, and the rest is looked at in the rows.
create index jobs_listed on jobs.jobs (tenant, id);
create index jobs_kinds on jobs.jobs (tenant, kind, status, id);
-- (Under row security an index is used for what cannot leak; PostgreSQL knows that of CASE, and not of COALESCE.)
-- (With the columns themselves: what leads a listing is counted from an index alone.)
create index jobs_requesters on jobs.jobs (
    tenant, (case when requester is null then '' else requester end), id -- noqa: ST02
) include (requester);
-- (With the status: whoever sees only some customers has theirs counted from the index alone.)
create index jobs_customers on jobs.jobs (tenant, customer, id) include (status) where customer is not null;
create index jobs_workspaces on jobs.jobs (tenant, workspace, id) include (status) where workspace is not null;
create index jobs_failures on jobs.jobs (
    tenant, (case when resolution is null then 'none' else resolution end), id -- noqa: ST02
) include (resolution) where status = 'failed';
create index jobs_unresolved_customers on jobs.jobs (tenant, customer, id)
where status = 'failed' and resolution is null and customer is not null;
create index jobs_unresolved_workspaces on jobs.jobs (tenant, workspace, id)
where status = 'failed' and resolution is null and workspace is not null;
create index jobs_caused on jobs.jobs (tenant, cause, id) where cause is not null;
create index jobs_cancelling on jobs.jobs (tenant, id) where cancel_asked_at is not null and settled_at is null;
create index jobs_ended on jobs.jobs (tenant, settled_at, id) where status in ('failed', 'cancelled'); -- the timeline
create index jobs_failure_references on jobs.jobs (tenant, failure_reference) where failure_reference is not null;

create table jobs.job_steps (
    family text not null,
    job uuid not null,
    position smallint not null check (position > 0),
    tenant text not null,
    step text not null,
    label text not null,
    use_case text not null,
    undo text, -- the use case that takes it back, where its kind says one
    moves text not null check (moves in ('money', 'nothing')),
    weight smallint not null default 1 check (weight > 0), -- its share of the job's progress
    status text not null default 'queued' check (
        status in ('queued', 'running', 'retrying', 'succeeded', 'failed', 'cancelled')
    ),
    attempts integer not null default 0 check (attempts >= 0), -- counted as each begins
    handed_back integer not null default 0, -- attempts that a stopping Worker gave back: they count against no limit
    progress smallint not null default 0 check (progress between 0 and 100),
    started_at timestamptz,
    settled_at timestamptz,
    next_attempt_at timestamptz,
    sentence text,
    failure_reference text,
    outward_key text, -- of a step that acts outside: equal in every attempt and every retry of the job
    sent_at timestamptz, -- committed before the call was made; none again where the outside world did not take it
    reference text, -- what the outside world calls it
    result jsonb, -- what later steps may read
    primary key (family, job, position),
    unique (family, job, step),
    foreign key (family, job) references jobs.jobs (family, id),
    check ((status in ('succeeded', 'failed', 'cancelled')) = (settled_at is not null)),
    check ((attempts = 0) = (started_at is null)),
    check (handed_back between 0 and attempts),
    check (status not in ('running', 'retrying', 'succeeded', 'failed') or attempts > 0),
    check ((status = 'retrying') = (next_attempt_at is not null))
) partition by list (family);

create index job_steps_failure_references on jobs.job_steps (tenant, failure_reference)
where failure_reference is not null;
create index job_steps_references on jobs.job_steps (tenant, reference) where reference is not null;
create index job_steps_outward on jobs.job_steps (tenant, outward_key) where outward_key is not null;

-- INV-06: sequences are given by the row lock on the root, so they have no holes; history only grows.
create table jobs.job_events (
    family text not null,
    job uuid not null,
    sequence bigint not null check (sequence > 0),
    tenant text not null,
    at timestamptz not null default jobs.now(),
    kind text not null,
    step text,
    status text,
    progress smallint check (progress between 0 and 100),
    sentence text not null,
    person text,
    detail jsonb not null default '{}',
    primary key (family, job, sequence),
    foreign key (family, job) references jobs.jobs (family, id)
) partition by list (family);

-- INV-11: one row a job and outcome.
create table jobs.job_notices (
    id uuid primary key default jobs.uuid7(),
    tenant text not null,
    family text not null,
    job uuid not null,
    outcome text not null check (outcome in ('succeeded', 'failed', 'cancelled')),
    person text not null, -- as the job says who asked for it: they may not be of the tenant any more
    state text not null default 'due' check (state in ('due', 'claimed', 'delivered', 'suppressed', 'given-up')),
    subject text not null,
    text text not null,
    corrects text check (corrects in ('succeeded', 'failed', 'cancelled')),
    made_at timestamptz not null default jobs.now(),
    try_at timestamptz not null default jobs.now(),
    attempts integer not null default 0,
    holder uuid,
    expires_at timestamptz,
    fence bigint not null default 0,
    delivered_at timestamptz,
    ended_at timestamptz,
    reason text, -- why it was suppressed or given up
    result text, -- of its last attempt
    unique (job, outcome),
    check ((state = 'claimed') = (holder is not null)),
    check ((holder is null) = (expires_at is null)),
    check ((state = 'delivered') = (delivered_at is not null)),
    check ((state in ('delivered', 'suppressed', 'given-up')) = (ended_at is not null)),
    check (state not in ('suppressed', 'given-up') or reason is not null)
);
create index job_notices_due on jobs.job_notices (try_at, id) where state = 'due';
create index job_notices_claimed on jobs.job_notices (expires_at) where state = 'claimed';
create table jobs.job_notice_attempts (
    notice uuid not null references jobs.job_notices (id),
    attempt integer not null check (attempt > 0),
    tenant text not null,
    at timestamptz not null default jobs.now(),
    holder uuid not null,
    result text not null,
    primary key (notice, attempt)
);

-- What failed in the same way: few rows, which a search may look through.
create table jobs.job_causes (
    id uuid primary key default jobs.uuid7(),
    tenant text not null,
    kind text not null,
    step text not null,
    text text not null check (length(text) <= 200),
    first_at timestamptz not null default jobs.now(),
    unique (tenant, kind, step, text)
);
create index job_causes_latest on jobs.job_causes (tenant, id);

-- How many jobs there are of each kind and status. Changes are added by a trigger and folded in by a Worker.
create table jobs.job_tallies (
    tenant text not null,
    kind text not null,
    status text not null,
    unresolved boolean not null,
    count bigint not null,
    folded_at timestamptz not null default jobs.now(),
    primary key (tenant, kind, status, unresolved)
);
create table jobs.job_tally_changes (
    id bigint generated always as identity,
    tenant text not null,
    kind text not null,
    status text not null,
    unresolved boolean not null,
    change bigint not null,
    primary key (tenant, id)
);
create function jobs.tally_new_job() returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    insert into jobs.job_tally_changes (tenant, kind, status, unresolved, change)
    values (new.tenant, new.kind, new.status, new.status = 'failed' and new.resolution is null, 1);
    return null;
end
$$;
create function jobs.tally_changed_job() returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    insert into jobs.job_tally_changes (tenant, kind, status, unresolved, change)
    values
    (old.tenant, old.kind, old.status, old.status = 'failed' and old.resolution is null, -1),
    (new.tenant, new.kind, new.status, new.status = 'failed' and new.resolution is null, 1);
    return null;
end
$$;
create function jobs.tally_gone_jobs() returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
    insert into jobs.job_tally_changes (tenant, kind, status, unresolved, change)
    select o.tenant, o.kind, o.status, o.status = 'failed' and o.resolution is null, -count(*)
    from old_jobs as o
    group by 1, 2, 3, 4;
    return null;
end
$$;
-- Nobody writes a change but by what happens to a job: a wrong count would say that something failed, or did not.
revoke execute on function jobs.tally_new_job(), jobs.tally_changed_job(), jobs.tally_gone_jobs() from public;
-- Jobs are added and changed one by one: a row's own trigger costs half of what a statement's costs, and nothing where
-- nothing that is counted changed. They are removed by the thousand.
create trigger jobs_tally_new after insert on jobs.jobs
for each row execute function jobs.tally_new_job();
create trigger jobs_tally_changed after update on jobs.jobs
for each row
when (new.status <> old.status or (new.resolution is null) <> (old.resolution is null))
execute function jobs.tally_changed_job();
create trigger jobs_tally_gone after delete on jobs.jobs
referencing old table as old_jobs
for each statement execute function jobs.tally_gone_jobs();

-- A root moves only forward (INV-03, INV-04, INV-07), and what it was made from stays.
create function jobs.keep_job() returns trigger
language plpgsql
as $$
begin
    if old.settled_at is not null and (new.status, new.settled_at, new.progress, new.failure_summary, new.activity_at)
        is distinct from (old.status, old.settled_at, old.progress, old.failure_summary, old.activity_at)
    then
        raise exception 'job % is settled as %', old.id, old.status using errcode = 'restrict_violation';
    end if;
    if new.progress < old.progress then
        raise exception 'job %: progress falls from % to %', old.id, old.progress, new.progress
        using errcode = 'restrict_violation';
    end if;
    if new.activity_at < old.activity_at then
        raise exception 'job %: its last activity would be earlier', old.id using errcode = 'restrict_violation';
    end if;
    if old.status = 'running' and new.status = 'pending' then
        raise exception 'job % has begun', old.id using errcode = 'restrict_violation';
    end if;
    if new.event_sequence < old.event_sequence or new.fence < old.fence or new.version <= old.version then
        raise exception 'job %: sequence, fence and version rise', old.id using errcode = 'restrict_violation';
    end if;
    if (
        new.family, new.id, new.tenant, new.kind, new.kind_version, new.moves, new.carrier, new.submission_identity,
        new.inputs, new.inputs_digest, new.requester, new.requested_at, new.lineage, new.retry_of, new.plan, new.recovery,
        new.subject, new.customer, new.workspace, new.failure_effect, new.depth
    ) is distinct from (
        old.family, old.id, old.tenant, old.kind, old.kind_version, old.moves, old.carrier, old.submission_identity,
        old.inputs, old.inputs_digest, old.requester, old.requested_at, old.lineage, old.retry_of, old.plan, old.recovery,
        old.subject, old.customer, old.workspace, old.failure_effect, old.depth
    ) then
        raise exception 'job % stays what was submitted', old.id using errcode = 'restrict_violation';
    end if;
    if (
        old.cancel_asked_at is not null and (new.cancel_asked_at, new.cancel_asked_by, new.cancel_reason)
        is distinct from (old.cancel_asked_at, old.cancel_asked_by, old.cancel_reason)
    ) or (
        old.resolution is not null
        and (
            new.resolution, new.resolved_at, new.resolved_by, new.resolved_job, new.resolution_reason, new.ticket
        ) is distinct from (
            old.resolution, old.resolved_at, old.resolved_by, old.resolved_job, old.resolution_reason, old.ticket
        )
    ) then
        raise exception 'job %: what somebody said of it stays', old.id using errcode = 'restrict_violation';
    end if;
    if old.failure_effect_state = 'done' and new.failure_effect_state <> 'done' then -- INV-08: exactly once
        raise exception 'job %: its failure effect is done', old.id using errcode = 'restrict_violation';
    end if;
    if new.status = 'succeeded' and old.status <> 'succeeded' and exists (
        select 1 from jobs.job_steps as s
        where s.family = new.family and s.job = new.id and s.status <> 'succeeded'
    ) then
        raise exception 'job %: success refused, a step has not succeeded', old.id using errcode = 'restrict_violation';
    end if;
    if new.settled_at is not null then
        new.holder := null; -- nobody runs it any more, whoever settled it
    end if;
    return new;
end
$$;
create trigger jobs_keep before update on jobs.jobs
for each row execute function jobs.keep_job();

-- INV-10: a retry's predecessor is settled, of the same kind and tenant.
create function jobs.judge_retry() returns trigger
language plpgsql
as $$
declare
    before jobs.jobs;
begin
    select j.* into before from jobs.jobs as j where j.family = new.family and j.id = new.retry_of;
    if before.settled_at is null or before.kind <> new.kind or before.tenant <> new.tenant
        or before.lineage <> new.lineage
    then
        raise exception 'job %: what it is a retry of is not settled, or is another kind of job', new.id
        using errcode = 'restrict_violation';
    end if;
    return new;
end
$$;
create trigger jobs_judge_retry before insert on jobs.jobs
for each row
when (new.retry_of is not null)
execute function jobs.judge_retry();

create function jobs.keep_step() returns trigger
language plpgsql
as $$
begin
    if old.settled_at is not null then
        raise exception 'step % of job % is settled as %', old.step, old.job, old.status
        using errcode = 'restrict_violation';
    end if;
    if new.attempts < old.attempts or new.progress < old.progress
        or (old.sent_at is not null and new.sent_at is null and (old.status, new.status) <> ('running', 'retrying'))
    then
        raise exception 'step % of job %: its attempts and progress only rise', old.step, old.job
        using errcode = 'restrict_violation';
    end if;
    if (new.family, new.job, new.position, new.tenant, new.step, new.label, new.use_case, new.undo, new.moves, new.weight)
        is distinct from
        (old.family, old.job, old.position, old.tenant, old.step, old.label, old.use_case, old.undo, old.moves, old.weight)
    then
        raise exception 'step % of job % stays what was submitted', old.step, old.job using errcode = 'restrict_violation';
    end if;
    return new;
end
$$;
create trigger job_steps_keep before update on jobs.job_steps
for each row execute function jobs.keep_step();

-- INV-06: nobody edits history. Only the role that purges may take a whole job away.
create trigger job_events_grow before update on jobs.job_events
for each row execute function jobs.refuse_change();
create function jobs.refuse_removal() returns trigger
language plpgsql
as $$
begin
    if current_user = 'jobs_purge' then
        return old;
    end if;
    raise exception 'jobs.% only grows: delete is refused', tg_table_name using errcode = 'restrict_violation';
end
$$;
create trigger job_events_stay before delete on jobs.job_events
for each row execute function jobs.refuse_removal();

-- INV-11: what was delivered or suppressed cannot be claimed again.
create function jobs.keep_job_notice() returns trigger
language plpgsql
as $$
begin
    if old.state in ('delivered', 'suppressed') then
        raise exception 'notice % is %', old.id, old.state using errcode = 'restrict_violation';
    end if;
    return new;
end
$$;
create trigger job_notices_keep before update on jobs.job_notices
for each row execute function jobs.keep_job_notice();

-- The three tables of one family of kinds. Runs as the owner; a second call changes nothing.
create function jobs.ensure_family(name text) returns boolean
language plpgsql
as $$
declare
    part text;
begin
    if name !~ '^[a-z][a-z0-9_]{0,30}$' then
        raise exception 'a family is named like payments, not %', name using errcode = 'invalid_parameter_value';
    end if;
    if to_regclass(format('jobs.%I', name || '_jobs')) is not null then
        return false;
    end if;
    foreach part in array array['jobs', 'job_steps', 'job_events'] loop
        execute format(
            'create table jobs.%I partition of jobs.%I for values in (%L) with (fillfactor = %s)',
            name || '_' || part, part, name,
            -- Room for what changes without an index: who runs it, how far it is. History never changes.
            case part when 'job_events' then 100 else 85 end
        );
        execute format('alter table jobs.%I enable row level security', name || '_' || part);
        execute format('alter table jobs.%I force row level security', name || '_' || part);
        execute format('create policy owner on jobs.%I to current_user using (true) with check (true)', name || '_' || part);
    end loop;
    execute format(
        'create trigger %I before truncate on jobs.%I for each statement execute function jobs.refuse_change()',
        name || '_job_events_whole', name || '_job_events'
    );
    return true;
end
$$;

-- The tenant is asked for in a select of its own: else the planner looks at whose it is when it plans. Plans are kept,
-- and one that was made for a tenant without jobs looks for a line among all of a tenant's.
do $$
declare
    name text;
begin
    foreach name in array array[
        'jobs', 'job_steps', 'job_events', 'job_notices', 'job_notice_attempts', 'job_causes', 'job_tallies',
        'job_tally_changes'
    ] loop
        execute format('alter table jobs.%I enable row level security', name);
        execute format('alter table jobs.%I force row level security', name);
        execute format('create policy owner on jobs.%I to current_user using (true) with check (true)', name);
        execute format(
            'create policy api on jobs.%I to jobs_api using (tenant = (select jobs.tenant()))'
            ' with check (tenant = jobs.tenant())',
            name
        );
        execute format(
            'create policy worker on jobs.%I to jobs_worker'
            ' using (tenant = (select jobs.tenant()) or (select jobs.tenant()) is null)'
            ' with check (tenant = jobs.tenant() or jobs.tenant() is null)',
            name
        );
        execute format('create policy purge on jobs.%I to jobs_purge using (true)', name);
        execute format('grant select on jobs.%I to jobs_api, jobs_worker, jobs_purge', name);
    end loop;
end
$$;

-- What the API writes: a pending job that moves no money, asking for one to be cancelled, cancelling one that nobody
-- began, and why a failure asks for nothing any more. Everything else is the Worker's.
grant insert on jobs.jobs, jobs.job_steps, jobs.job_events to jobs_api, jobs_worker;
grant update (
    status, settled_at, activity_at, cancel_asked_at, cancel_asked_by, cancel_reason, resolution, resolved_at,
    resolved_by, resolution_reason, ticket, event_sequence, version, execution_handle, handed_over_at
) on jobs.jobs to jobs_api;
grant update (status, settled_at, next_attempt_at, sentence) on jobs.job_steps to jobs_api;
grant insert on jobs.job_causes to jobs_api, jobs_worker;
grant insert (tenant, family, job, outcome, person, subject, text, corrects, state, reason, ended_at)
on jobs.job_notices to jobs_api;
create policy api_tells_cancelled on jobs.job_notices as restrictive for insert to jobs_api
with check (outcome = 'cancelled' and state in ('due', 'suppressed') and attempts = 0);
create policy api_submits_pending on jobs.jobs as restrictive for insert to jobs_api
with check (
    status = 'pending' and moves = 'nothing' and carrier = 'engine' and progress = 0 and plan is null
    and recovery is null and started_at is null and holder is null and fence = 0 and failure_effect_state = 'none'
    and resolution is null and cancel_asked_at is null
);
create policy api_submits_queued on jobs.job_steps as restrictive for insert to jobs_api
with check (
    status = 'queued' and moves = 'nothing' and attempts = 0
    and sent_at is null and reference is null and result is null
);
create policy api_cancels_queued on jobs.job_steps as restrictive for update to jobs_api
using (status = 'queued') with check (status = 'cancelled');
create policy api_tells_of_people on jobs.job_events as restrictive for insert to jobs_api
with check (
    kind in ('submitted', 'cancel-asked', 'retried', 'resolved', 'revealed')
    or (kind = 'settled' and status = 'cancelled')
);
-- A key leads to any tenant's job: what hangs on a job is written only beside one of the same tenant, as far as it is.
create function jobs.refuse_steps_of_other_jobs() returns trigger
language plpgsql
as $$
begin
    if not exists (
        select 1
        from jobs.jobs as j
        where
            j.family = new.family and j.id = new.job and j.tenant = new.tenant and j.status = 'pending' and j.fence = 0
    ) then
        raise exception 'a step of a job that is not here, or that a Worker has' using errcode = 'restrict_violation';
    end if;
    return null;
end
$$;
create trigger job_steps_by_the_api after insert on jobs.job_steps
for each row
when (current_user = 'jobs_api')
execute function jobs.refuse_steps_of_other_jobs();
create function jobs.refuse_history_of_other_jobs() returns trigger
language plpgsql
as $$
begin
    if not exists (
        select 1
        from jobs.jobs as j
        where j.family = new.family and j.id = new.job and j.tenant = new.tenant and new.sequence <= j.event_sequence
    ) then
        raise exception 'a line of history of a job that is not here, or past its latest'
        using errcode = 'restrict_violation';
    end if;
    return null;
end
$$;
create trigger job_events_by_the_api after insert on jobs.job_events
for each row
when (current_user = 'jobs_api')
execute function jobs.refuse_history_of_other_jobs();
create function jobs.refuse_notices_of_other_jobs() returns trigger
language plpgsql
as $$
begin
    if not exists (
        select 1
        from jobs.jobs as j
        where
            j.family = new.family and j.id = new.job and j.tenant = new.tenant and j.requester = new.person
            and j.status = new.outcome
    ) then
        raise exception 'a notice of a job that is not here, did not end so, or is somebody else''s'
        using errcode = 'restrict_violation';
    end if;
    return null;
end
$$;
create trigger job_notices_by_the_api after insert on jobs.job_notices
for each row
when (current_user = 'jobs_api')
execute function jobs.refuse_notices_of_other_jobs();
create function jobs.refuse_other_change_of_job() returns trigger
language plpgsql
as $$
begin
    if new.status <> old.status and not (old.status = 'pending' and new.status = 'cancelled') then
        raise exception 'job %: the API cancels what nobody began, and no more', old.id
        using errcode = 'restrict_violation';
    end if;
    if new.resolution = 'retried' and old.resolution is distinct from 'retried' then
        raise exception 'job %: a retry that succeeds says so itself', old.id using errcode = 'restrict_violation';
    end if;
    if old.execution_handle is not null and new.execution_handle is distinct from old.execution_handle then
        raise exception 'job % was handed over already', old.id using errcode = 'restrict_violation';
    end if;
    return new;
end
$$;
create trigger jobs_by_the_api before update on jobs.jobs
for each row
when (current_user = 'jobs_api')
execute function jobs.refuse_other_change_of_job();

grant update on jobs.jobs, jobs.job_steps to jobs_worker;
grant insert, update on jobs.job_notices to jobs_worker;
grant insert on jobs.job_notice_attempts to jobs_worker;
grant insert, update, delete on jobs.job_tallies to jobs_worker;
grant delete on jobs.job_tally_changes to jobs_worker;
grant delete on
jobs.jobs, jobs.job_steps, jobs.job_events, jobs.job_notices, jobs.job_notice_attempts, jobs.job_causes to jobs_purge;
-- Whatever it is told: what lives stays whole, and what was settled a day ago or less.
create policy purge_settled on jobs.jobs as restrictive for delete to jobs_purge
using (settled_at < jobs.now() - interval '1 day' and failure_effect_state <> 'due');
create policy purge_settled on jobs.job_steps as restrictive for delete to jobs_purge
using (
    exists (
        select 1
        from jobs.jobs as j
        where j.family = job_steps.family and j.id = job_steps.job and j.settled_at < jobs.now() - interval '1 day'
    )
);
create policy purge_settled on jobs.job_events as restrictive for delete to jobs_purge
using (
    exists (
        select 1
        from jobs.jobs as j
        where j.family = job_events.family and j.id = job_events.job and j.settled_at < jobs.now() - interval '1 day'
    )
);
create policy purge_told on jobs.job_notices as restrictive for delete to jobs_purge
using (ended_at < jobs.now() - interval '1 day');

-- Recoveries of jobs: a retry or a cancel of each.
alter table jobs.recoveries
drop constraint recoveries_act_check,
add constraint recoveries_act_check check (act in ('replay', 'requeue', 'discard', 'disable', 'retry', 'cancel'));
alter table jobs.recovery_rows
drop constraint recovery_rows_target_check,
add constraint recovery_rows_target_check check (target in ('occurrence', 'skipped-instant', 'schedule', 'job')),
add column job uuid, -- of a target job; `schedule` is its kind
add column made uuid; -- the job that was made from it, where it was retried
grant update (made) on jobs.recovery_rows to jobs_worker;
-- What was not as it had been frozen when its turn came, by how it was: a job settles while nobody looks.
alter table jobs.recoveries add column drifted jsonb not null default '{}';
grant update (drifted) on jobs.recoveries to jobs_worker;

alter table jobs.stops
drop constraint stops_scope_check,
add constraint stops_scope_check check (scope in ('queue', 'bulk-command', 'job-kind', 'tenant'));

create trigger jobs_cancel_wakes after update on jobs.jobs
for each row
when (old.cancel_asked_at is null and new.cancel_asked_at is not null)
execute function jobs.wake('cancel-job');
create trigger jobs_cancelled_wake after update on jobs.jobs
for each row
when (old.settled_at is null and new.settled_at is not null and new.cancel_asked_at is not null)
execute function jobs.wake('recoveries');
create trigger job_notices_wake after insert on jobs.job_notices
for each statement execute function jobs.wake('job-notices');

-- Hands a job over to the engine, in the transaction that submits it: whoever may submit needs no right on the engine's
-- tables. The version is that of the interpreter, by hand: kinds are versioned as data. The workflow knows ids alone.
create function jobs.hand_over(family text, job uuid) returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
    handed jobs.jobs;
    handle text;
begin
    select j.* into handed from jobs.jobs as j
    where j.family = hand_over.family and j.id = hand_over.job
    for no key update;
    if handed.id is null or handed.tenant is distinct from coalesce(jobs.tenant(), handed.tenant) then
        raise exception 'job % is not here', hand_over.job using errcode = 'no_data_found';
    end if;
    if handed.status <> 'pending' or handed.carrier <> 'engine' then
        raise exception 'job % is %, and carried by the %: it is not handed over', handed.id, handed.status, handed.carrier
        using errcode = 'object_not_in_prerequisite_state';
    end if;
    handle := coalesce(handed.execution_handle, gen_random_uuid()::text);
    if exists (select 1 from jobs_engine.workflow_status as w where w.workflow_uuid = handle) then
        raise exception 'job % was handed over already', handed.id using errcode = 'object_not_in_prerequisite_state';
    end if;
    perform jobs_engine.enqueue_workflow(
        workflow_name => 'carry', queue_name => 'jobs', workflow_id => handle, app_version => 'interpreter-1',
        application_name => 'jobs',
        positional_args => array[to_json(handed.family), to_json(handed.id), to_json(handed.tenant)]
    );
    if handed.execution_handle is null or handed.handed_over_at is null then
        update jobs.jobs as j
        set execution_handle = handle, handed_over_at = jobs.now(), version = j.version + 1
        where j.family = handed.family and j.id = handed.id;
    end if;
    perform pg_notify('jobs_work', 'job-ready');
end
$$;
revoke execute on function jobs.hand_over(text, uuid) from public;
grant execute on function jobs.hand_over(text, uuid) to jobs_api, jobs_worker;

-- What the reconciler, the failure effects and the notices look for. By id: an index on what every report changes would
-- cost each of them.
create index jobs_unsettled on jobs.jobs (id) where settled_at is null and carrier = 'engine';
create index jobs_unsettled_plans on jobs.jobs (id) where settled_at is null and carrier = 'plan';
create index jobs_effects_due on jobs.jobs (failure_effect_at, id) where failure_effect_state = 'due';

-- Purging (MONEY.md 31): a role that deletes what is past its retention, and nothing else. Whatever it is told: a trail
-- of thirty days stays, what is not sealed stays, what was sent or released stays, what lives stays.
-- What is gone and the trail does not say yet ('' = of no tenant).
create table jobs.purged (
    tenant text not null,
    what text not null,
    count bigint not null check (count > 0),
    primary key (tenant, what)
);
-- Where verifying the trail begins: everything up to this seal was purged. No row: nothing was.
create table jobs.audit_base (
    one boolean primary key default true check (one),
    place bigint not null,
    at timestamptz not null default jobs.now()
);
create function jobs.raise_base() returns trigger
language plpgsql
as $$
begin
    if tg_op = 'DELETE' then
        raise exception 'the base of the trail only rises' using errcode = 'restrict_violation';
    end if;
    if (tg_op = 'UPDATE' and new.place <= old.place)
        or not exists (select 1 from jobs.audit_seals as s where s.place = new.place)
    then
        raise exception 'the base of the trail only rises, to the place of a seal' using errcode = 'restrict_violation';
    end if;
    return new;
end
$$;
create trigger audit_base_rises before insert or update or delete on jobs.audit_base
for each row execute function jobs.raise_base();
do $$
declare
    name text;
begin
    foreach name in array array['purged', 'audit_base'] loop
        execute format('alter table jobs.%I enable row level security', name);
        execute format('alter table jobs.%I force row level security', name);
        execute format('create policy owner on jobs.%I to current_user using (true) with check (true)', name);
        execute format('create policy purge on jobs.%I to jobs_purge using (true) with check (true)', name);
    end loop;
    foreach name in array array['audit', 'audit_links', 'audit_seals'] loop
        execute format('create policy purge on jobs.%I for select to jobs_purge using (true)', name);
        execute format('grant select, delete on jobs.%I to jobs_purge', name);
    end loop;
    foreach name in array array[
        'plans', 'plan_items', 'plan_exclusions', 'plan_warnings', 'outgoings', 'releases', 'plan_evidence',
        'recoveries', 'recovery_rows', 'recovery_left_out'
    ] loop
        execute format('create policy purge on jobs.%I for select to jobs_purge using (true)', name);
        execute format('grant select on jobs.%I to jobs_purge', name);
    end loop;
end
$$;
grant select, insert, update, delete on jobs.purged to jobs_purge;
grant select, insert, update (place, at) on jobs.audit_base to jobs_purge;
drop trigger audit_grows on jobs.audit;
create trigger audit_grows before update on jobs.audit
for each row execute function jobs.refuse_change();
create trigger audit_remains before delete on jobs.audit
for each row execute function jobs.refuse_removal();
drop trigger audit_links_grow on jobs.audit_links;
create trigger audit_links_grow before update on jobs.audit_links
for each row execute function jobs.refuse_change();
create trigger audit_links_remain before delete on jobs.audit_links
for each row execute function jobs.refuse_removal();
drop trigger audit_seals_grow on jobs.audit_seals;
create trigger audit_seals_grow before update on jobs.audit_seals
for each row execute function jobs.refuse_change();
create trigger audit_seals_remain before delete on jobs.audit_seals
for each row execute function jobs.refuse_removal();
create policy purge_sealed on jobs.audit for delete to jobs_purge
using (
    at < jobs.now() - interval '30 days'
    and exists (
        select 1
        from jobs.audit_links as l
        where l.entry = audit.id and l.place <= (select b.place from jobs.audit_base as b)
    )
);
create policy purge_says on jobs.audit for insert to jobs_purge
with check (person is null and action in ('purge', 'purge-audit'));
grant insert (tenant, person, action, subject, outcome, detail, reference) on jobs.audit to jobs_purge;
-- It removes no entry that is not as it was sealed: it computes the links first, as verifying does.
grant execute on function jobs.audit_texts(jobs.audit) to jobs_purge;
create policy purge_sealed on jobs.audit_links for delete to jobs_purge
using (
    place <= (select b.place from jobs.audit_base as b)
    and not exists (
        select 1
        from jobs.audit as a
        where a.id = audit_links.entry
    )
);
create policy purge_sealed on jobs.audit_seals for delete to jobs_purge
using (place < (select b.place from jobs.audit_base as b));
-- A row of which something was sent, or of which nobody knows, is evidence and stays, with its plan (MONEY.md 3, 5, 8).
create policy purge_unsent on jobs.plan_items for delete to jobs_purge
using (outward_key is null and sent_at is null and turn not in ('running', 'uncertain'));
create policy purge_with_plan on jobs.plan_exclusions for delete to jobs_purge using (true);
create policy purge_with_plan on jobs.plan_warnings for delete to jobs_purge using (true);
create policy purge_nothing_out on jobs.outgoings for delete to jobs_purge using (gross_minor = 0 and count = 0);
create policy purge_ended on jobs.plans for delete to jobs_purge
using (
    ended_at < jobs.now() - interval '1 day'
    and state in ('done', 'aborted', 'lapsed', 'dropped', 'voided', 'expired')
    and (confirmed_at is null or accounted_at is not null)
);
create policy purge_ended on jobs.recoveries for delete to jobs_purge
using (
    ended_at < jobs.now() - interval '1 day'
    and state in ('done', 'aborted', 'dropped', 'expired')
    and (confirmed_at is null or over_at is not null)
);
create policy purge_with_recovery on jobs.recovery_rows for delete to jobs_purge using (turn <> 'running');
create policy purge_with_recovery on jobs.recovery_left_out for delete to jobs_purge using (true);
grant delete on
jobs.plans, jobs.plan_items, jobs.plan_exclusions, jobs.plan_warnings, jobs.outgoings, jobs.recoveries,
jobs.recovery_rows, jobs.recovery_left_out to jobs_purge;
create policy purge on jobs.items for select to jobs_purge using (plan is not null);
grant select (id, plan) on jobs.items to jobs_purge;
create policy purge on jobs.idempotency_keys for select to jobs_purge using (true);
create policy purge_expired on jobs.idempotency_keys for delete to jobs_purge using (expires_at < jobs.now());
grant select (tenant, person, method, path, key, expires_at), delete on jobs.idempotency_keys to jobs_purge;
-- Notices about confirmations and locks, once they were delivered or given up; alarms, once they are over and nobody is
-- to be told of them any more.
create policy purge on jobs.notices for select to jobs_purge using (true);
create policy purge_delivered on jobs.notices for delete to jobs_purge
using ((sent_at is not null or given_up_at is not null) and made_at < jobs.now() - interval '1 day');
grant select (id, tenant, made_at, sent_at, given_up_at), delete on jobs.notices to jobs_purge;
create policy purge on jobs.alarms for select to jobs_purge using (true);
create policy purge_over on jobs.alarms for delete to jobs_purge
using (cleared_at < jobs.now() - interval '1 day' and told <> 'waiting');
grant select (id, tenant, cleared_at, told), delete on jobs.alarms to jobs_purge;
-- To lock what it is about to remove: whoever makes a retry of it waits, and then finds that it is gone.
grant update (version) on jobs.jobs to jobs_purge;
create index plans_past on jobs.plans (ended_at, id) where ended_at is not null;
create index recoveries_past on jobs.recoveries (ended_at, id) where ended_at is not null;
create index notices_past on jobs.notices (made_at) where sent_at is not null or given_up_at is not null;
create index alarms_past on jobs.alarms (cleared_at) where cleared_at is not null;

-- What is not the application's: a job that is the account of a confirmed plan.
select jobs.ensure_family('service');

-- Ids follow the one clock: a job's age is a range of ids.
create or replace function jobs.uuid7() returns uuid
language sql volatile parallel safe
as $$
    select encode(
        set_bit(
            set_bit(
                overlay(
                    uuid_send(gen_random_uuid())
                    placing substring(int8send(floor(extract(epoch from jobs.now()) * 1000)::bigint) from 3)
                    from 1 for 6
                ),
                52, 1
            ),
            53, 1
        ),
        'hex'
    )::uuid
$$;

-- The families that there are.
create function jobs.families() returns table (family text)
language sql stable
as $$
    select left(c.relname::text, -length('_jobs'))
    from pg_catalog.pg_inherits as i
    inner join pg_catalog.pg_class as c on i.inhrelid = c.oid
    where i.inhparent = 'jobs.jobs'::regclass
$$;

-- The kinds that a tenant has jobs of, by one step over the index for each of them.
create function jobs.kinds_of(of_tenant text) returns table (family text, kind text)
language sql stable
as $$
    with recursive k as (
        select
            f.family,
            (
                select j.kind
                from jobs.jobs as j
                where j.family = f.family and j.tenant = of_tenant
                order by j.kind
                limit 1
            ) as kind
        from jobs.families() as f
        union all
        select
            k.family,
            (
                select j.kind
                from jobs.jobs as j
                where j.family = k.family and j.tenant = of_tenant and j.kind > k.kind
                order by j.kind
                limit 1
            ) as kind
        from k
        where k.kind is not null
    )

    select
        k.family,
        k.kind
    from k
    where k.kind is not null
$$;

-- Whether a job is what a listing asks for, within reach; null asks for nothing. What failed is of one resolution, or
-- none; `cancelling` stands beside the resolutions: either is enough. A scope is customer or workspace. All words hold.
create function jobs.job_fits(
    j jobs.jobs, kinds text[], statuses text[], resolutions text[], cancelling boolean, requesters text[],
    scopes text[], causes uuid[], words text[], customers text[], workspaces text[]
) returns boolean
language sql immutable parallel safe
as $$
    select
        (kinds is null or j.kind = any(kinds))
        and (statuses is null or j.status = any(statuses))
        and (
            (resolutions is null and not cancelling)
            or (j.status = 'failed' and coalesce(j.resolution, 'none') = any(resolutions))
            or (cancelling and j.cancel_asked_at is not null and j.settled_at is null)
        )
        and (requesters is null or coalesce(j.requester, '') = any(requesters))
        and (scopes is null or j.customer = any(scopes) or j.workspace = any(scopes))
        and (causes is null or j.cause = any(causes))
        and (words is null or words <@ array[j.id::text, j.submission_identity, coalesce(j.failure_reference, '')])
        and (customers is null or j.customer = any(customers))
        and (workspaces is null or j.workspace = any(workspaces))
$$;

-- A job as people read it in a line, with the reader's own rights.
create view jobs.job_lines with (security_invoker = true) as
select
    j.family,
    j.id,
    j.tenant,
    j.kind,
    j.status,
    j.progress,
    j.moves,
    j.subject,
    j.submission_identity,
    j.requester,
    p.name as requester_name,
    j.customer,
    j.workspace,
    j.requested_at,
    j.started_at,
    j.activity_at,
    j.settled_at,
    j.last_step,
    j.last_step_status,
    j.failure_summary,
    j.failure_reference,
    j.retry_of,
    (
        select r.id
        from jobs.jobs as r
        where r.family = j.family and r.retry_of = j.id
        order by r.id desc
        limit 1
    ) as retried_by,
    j.cancel_asked_at,
    j.resolution
from jobs.jobs as j
left join jobs.people as p on j.requester = p.id;
grant select on jobs.job_lines to jobs_api, jobs_worker;

-- What other readers see of every family (requirement families): no handle of the engine, no version, no inputs.
-- `position` is the order of the account, the latest highest; whoever reads names the tenant, and what they may see.
-- The views run as their owner; the role that reads them has nothing else (decisions/2026-12-01-monitoring-views.md).
create function jobs.position_of(job uuid) returns bigint
language sql immutable parallel safe
as $$ select ('x' || encode(substring(uuid_send(job) from 1 for 7), 'hex'))::bit(56)::bigint $$;
create index jobs_positions on jobs.jobs (tenant, jobs.position_of(id));

create view jobs.cross_job_query as
select
    j.family,
    j.id::text as job,
    j.tenant,
    j.customer,
    j.workspace,
    j.kind,
    j.status,
    j.progress::integer as progress,
    j.subject,
    j.requester,
    j.submission_identity,
    j.requested_at,
    j.started_at,
    j.activity_at,
    j.settled_at,
    j.last_step,
    j.last_step_status,
    j.failure_summary,
    j.failure_reference,
    j.retry_of::text as retry_of,
    jobs.position_of(j.id) as position,
    'jobservice'::text as engine
from jobs.jobs as j;

-- Steps and history of a job are looked for by the job, whose id is text here.
create index jobs_texts on jobs.jobs (tenant, (id::text));
create view jobs.cross_job_steps as
select
    j.family,
    j.id::text as job,
    j.tenant,
    s.position::integer as position,
    s.step,
    s.label,
    s.status,
    s.attempts,
    s.started_at,
    s.settled_at,
    s.sentence
from jobs.jobs as j
inner join jobs.job_steps as s on j.family = s.family and j.id = s.job;

create view jobs.cross_job_events as
select
    j.family,
    j.id::text as job,
    j.tenant,
    e.sequence,
    e.at,
    e.kind,
    e.step,
    e.status,
    e.progress::integer as progress,
    e.sentence
from jobs.jobs as j
inner join jobs.job_events as e on j.family = e.family and j.id = e.job;
grant usage on schema jobs to jobs_views;
grant select on jobs.cross_job_query, jobs.cross_job_steps, jobs.cross_job_events to jobs_views;

-- What a text that somebody has at hand leads to.
create index plan_items_reference on jobs.plan_items (tenant, reference) where reference is not null;
create index audit_reference on jobs.audit (tenant, reference) where reference is not null;
