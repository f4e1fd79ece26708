-- Scores and the order they set, what a listing filters by, and the one form in which an item goes over the wire.
-- Runs as the owner.

-- `rank` is the order of a queue as one ascending key: -score, 0 where the queue has no rule. `placed_xid` is the
-- transaction that last put the row where it stands (rank or view): what a listing's catch-up page looks for.
-- `amount_rank` is the order by amount, largest first, inside one currency. `words` is what a search looks in,
-- casefolded, single blanks, one before the first word.
alter table jobs.items
    add column rank bigint not null default 0,
    add column placed_xid bigint not null default (pg_current_xact_id()::text::bigint),
    add column amount_rank bigint generated always as (-amount_minor) stored,
    add column words text not null default '',
    add column score integer,
    add column score_rule text,
    add column score_version integer,
    add column score_inputs jsonb,
    add column score_parts jsonb,
    add column score_failure text,
    add column scored_at timestamptz,
    add column rescore_at timestamptz,
    add check ((score_rule is null) = (scored_at is null) and (score_rule is null) = (score_version is null)),
    add check (score is null or (score_parts is not null and score_failure is null and rank = -score)),
    add check (score_rule is null or score is not null or score_failure is not null);

-- What is there already: folded as `searched_words` folds, as near as this server can. Its locale may know ASCII alone,
-- so a collation is named that knows all letters; PostgreSQL 18 has the first, one built with ICU the second.
do $$
declare
    collation_name name := coalesce((
        select c.collname
        from pg_collation as c
        where c.collnamespace = 'pg_catalog'::regnamespace
            and c.collname in ('pg_unicode_fast', 'und-x-icu', 'pg_c_utf8')
        order by array_position(array['pg_unicode_fast', 'und-x-icu', 'pg_c_utf8'], c.collname::text)
        limit 1
    ), 'default');
begin
    execute format(
        $update$
            update jobs.items
            set words = normalize(replace(replace(lower(regexp_replace(
                normalize(
                    ' ' || concat_ws(' ', title, payee_name, payee_id, right(account, 4), business_key), NFKC
                ),
                '[\s\u001c-\u001f\u0085\u1680\u2028\u2029]+', ' ', 'g'
            ) collate %I), 'ß', 'ss'), 'ς', 'σ'), NFKC)
        $update$,
        collation_name
    );
end
$$;

drop index jobs.items_waiting;
drop index jobs.items_free;
drop index jobs.items_closed;
create index items_waiting on jobs.items (tenant, queue, rank, created, id) where closed_at is null;
create index items_free on jobs.items (tenant, queue, rank, created, id) where closed_at is null and holder is null;
create index items_closed on jobs.items (tenant, queue, rank, created, id) where closed_at is not null;
create index items_set_aside on jobs.items (tenant, queue, rank, created, id)
where closed_at is null and set_aside_until is not null;
create index items_amounts on jobs.items (tenant, queue, currency, amount_rank, created, id) where closed_at is null;
create index items_closed_amounts on jobs.items (tenant, queue, currency, amount_rank, created, id)
where closed_at is not null;
create index items_placed on jobs.items (tenant, queue, placed_xid, id);
create index items_coming_back on jobs.items (tenant, queue, set_aside_until, id)
where closed_at is null and set_aside_until is not null;
create index items_rescoring on jobs.items (tenant, queue, rescore_at, id) where closed_at is null;

-- Whether an item belongs to a view at an instant. Like the two functions after it, this is one expression: the
-- planner puts it into the statement, so that partial indexes count.
create function jobs.in_view(i jobs.items, view text, at timestamptz) returns boolean
language sql immutable parallel safe
as $$
    select case
        when view = 'waiting' then i.closed_at is null and (i.set_aside_until is null or i.set_aside_until <= at)
        when view = 'set-aside' then i.closed_at is null and i.set_aside_until > at
        else i.closed_at is not null
    end
$$;

-- Whether an item is within a person's reach (MONEY.md 23); null narrows nothing.
create function jobs.in_reach(i jobs.items, customers text[], workspaces text[]) returns boolean
language sql immutable parallel safe
as $$
    select (customers is null or i.customer = any(customers)) and (workspaces is null or i.workspace = any(workspaces))
$$;

-- Whether an item matches a filter (`jobcontract.filters`), as the store wrote it: null matches everything.
create function jobs.matches(i jobs.items, f jsonb, at timestamptz) returns boolean
language sql stable parallel safe
as $$
    select f is null or (
        (f ->> 'currencies' is null or i.currency = any(string_to_array(f ->> 'currencies', ',')))
        and (f ->> 'amount_least' is null or i.amount_minor >= (f ->> 'amount_least')::bigint)
        and (f ->> 'amount_most' is null or i.amount_minor <= (f ->> 'amount_most')::bigint)
        and (f ->> 'score_least' is null or i.score >= (f ->> 'score_least')::integer)
        and (f ->> 'score_most' is null or i.score <= (f ->> 'score_most')::integer)
        and (f ->> 'scored' is null or (i.score is not null) = (f ->> 'scored')::boolean)
        and (
            f ->> 'age_least' is null
            or i.created <= at - (f ->> 'age_least')::bigint * interval '1 microsecond'
        )
        and (
            f ->> 'age_most' is null
            or i.created >= at - (f ->> 'age_most')::bigint * interval '1 microsecond'
        )
        and (
            f ->> 'states' is null
            or case when i.closed_at is null and i.set_aside_until > at then 'set-aside' else i.state end
            = any(string_to_array(f ->> 'states', ','))
        )
        and (
            (f ->> 'holders' is null and f ->> 'free' is null)
            or (i.expires_at > at and i.holder = any(string_to_array(f ->> 'holders', ',')))
            or (f ->> 'free' = 'true' and (i.expires_at is null or i.expires_at <= at))
        )
        and (f ->> 'words' is null or i.words like all(string_to_array(f ->> 'words', e'\x1f')))
        and (f ->> 'inputs' is null or i.inputs @@ (f ->> 'inputs')::jsonpath)
    )
$$;

-- An item as `jobcontract.items.Item` goes over the wire. `exponents`: decimals by currency. Put together as text: that
-- takes half of what json_build_object takes, and a page builds a hundred of them.
create function jobs.item_text(i jobs.items, holder_name text, at timestamptz, exponents jsonb) returns text
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
        ',"fence":', i.fence, '}'
    )
$$;

-- The same as a JSON value, for statements that answer about one item or few.
create function jobs.item_json(i jobs.items, holder_name text, at timestamptz, exponents jsonb) returns json
language sql stable parallel safe
as $$
    select jobs.item_text(i, holder_name, at, exponents)::json
$$;

-- Scores are the Worker's bookkeeping: it looks for tenants with work, then scores one tenant a transaction.
create policy worker on jobs.tenants for select to jobs_worker using (true);
grant select (id) on jobs.tenants to jobs_worker;
grant update (
    rank, placed_xid, score, score_rule, score_version, score_inputs, score_parts, score_failure, scored_at, rescore_at
) on jobs.items to jobs_worker;
