"""The digest that a freeze writes, recomputed by another statement over the rows as they are kept, and the vector file
recomputed in SQL."""

from __future__ import annotations

import json
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from jobcontract.ids import storable
from jobcontract.plan_digest import plan_digest
from jobcontract.plans import PlanOrder
from jobservice.usecases import plans
from tests.contract.test_plan_digest import VECTORS, head_of, rows_of
from tests.hostile import HOSTILE
from tests.usecases.desk import PAYOUTS, RELEASE_MANY, Desk, once
from tests.usecases.desk import desk as new_desk

pytestmark = pytest.mark.requirement("MONEY-9")

BY_SQL = """
with input as (select %(vector)s::jsonb as v),
texts as (
    select 1 as part, '' as sorted, n as place, t as text
    from input, unnest(array[
        v #>> '{head,tenant}', v #>> '{head,plan}', v #>> '{head,person}', v #>> '{head,command}',
        v #>> '{head,use_case}', v #>> '{head,use_case_version}',
        trunc(extract(epoch from (v #>> '{head,frozen_at}')::timestamptz) * 1000000)::bigint::text,
        (select count(*)::text from jsonb_object_keys(v #> '{head,parameters}'))
    ]) with ordinality as a (t, n)
    union all
    select 2, encode(convert_to(p.key, 'UTF8'), 'hex'), n, t
    from input, jsonb_each_text(v #> '{head,parameters}') as p, unnest(array[p.key, p.value]) with ordinality as a (t, n)
    union all
    select 3, '', n, t
    from input, unnest(array[v #>> '{head,count}', jsonb_array_length(v #> '{head,totals}')::text])
        with ordinality as a (t, n)
    union all
    select 4, s ->> 'currency', n, t
    from input, jsonb_array_elements(v #> '{head,totals}') as s, unnest(array[
        s ->> 'currency', s ->> 'exponent', s ->> 'out_minor', s ->> 'out_count', s ->> 'back_minor', s ->> 'back_count'
    ]) with ordinality as a (t, n)
    union all
    select 5, r ->> 'item', n, t
    from input, jsonb_array_elements(v -> 'rows') as r, unnest(array[
        r ->> 'item', r ->> 'money_version', r ->> 'key', r ->> 'title', r ->> 'minor', r ->> 'currency',
        r ->> 'exponent', r ->> 'payee_id', r ->> 'payee_name', r ->> 'account_last4', r ->> 'account_mark'
    ]) with ordinality as a (t, n)
)
select encode(
    sha256(
        'jobs.plan.1'::bytea || string_agg(
            convert_to(length(convert_to(text, 'UTF8')) || ':', 'UTF8') || convert_to(text, 'UTF8'),
            ''::bytea order by part, sorted collate "C", place
        )
    ),
    'hex'
)
from texts
"""
STORED = """
select jsonb_build_object(
    'head', jsonb_build_object(
        'tenant', p.tenant, 'plan', p.id, 'person', p.owner, 'command', p.command, 'use_case', p.use_case,
        'use_case_version', p.use_case_version, 'frozen_at', p.frozen_at, 'parameters', p.parameters,
        'count', (select count(*) from jobs.plan_items where plan = p.id),
        'totals', (
            select jsonb_agg(to_jsonb(s)) from (
                select currency, case currency when 'JPY' then 0 else 2 end as exponent,
                    coalesce(sum(amount_minor) filter (where amount_minor > 0), 0) as out_minor,
                    count(*) filter (where amount_minor > 0) as out_count,
                    coalesce(sum(-amount_minor) filter (where amount_minor < 0), 0) as back_minor,
                    count(*) filter (where amount_minor < 0) as back_count
                from jobs.plan_items where plan = p.id group by currency
            ) as s
        )
    ),
    'rows', (
        select jsonb_agg(
            jsonb_build_object(
                'item', i.item, 'money_version', i.money_version, 'key', coalesce(i.business_key, ''), 'title', i.title,
                'minor', i.amount_minor, 'currency', i.currency, 'exponent', case i.currency when 'JPY' then 0 else 2 end,
                'payee_id', i.payee_id, 'payee_name', i.payee_name, 'account_last4', right(i.account, 4),
                'account_mark', encode(sha256(p.salt || i.account::bytea), 'hex')
            )
        )
        from jobs.plan_items as i where i.plan = p.id
    )
), encode(p.digest, 'hex')
from jobs.plans as p
where p.id = %(plan)s
"""


def by_sql(connection: psycopg.Connection[Any], vector: object) -> str:
    row = connection.execute(BY_SQL.encode(), {"vector": Jsonb(vector)}).fetchone()
    assert row is not None
    return str(row[0])


@pytest.mark.parametrize("vector", VECTORS, ids=[each["name"] for each in VECTORS])
def test_the_vector_file_is_recomputed_in_sql(superuser: psycopg.Connection[Any], vector: dict[str, Any]) -> None:
    assert by_sql(superuser, vector) == vector["digest"]


async def test_what_a_freeze_writes_is_the_digest_of_the_rows_that_it_keeps(database: Any, people: Any) -> None:
    desk: Desk = new_desk(database, people)
    hostile = [text for text in HOSTILE if text and storable(text)]
    with people.connection.cursor() as cursor:  # past the checks of a push: whatever stands in a row is what is hashed
        cursor.executemany(
            "insert into jobs.items (tenant, queue, business_key, title, created, amount_minor, currency, payee_id,"
            " payee_name, account, pushed_by, changed_by) values ('acme', %s, %s, %s, jobs.now(), %s, %s, %s, %s, %s,"
            " 'p.push', 'p.push')",
            [
                (
                    PAYOUTS,
                    text if number % 2 else None,
                    text,
                    (-1) ** number * (number + 1) * 7,
                    "JPY" if number % 3 else "GBP",
                    text,
                    text,
                    f"GB29NWBK{number:014d}",
                )
                for number, text in enumerate(hostile)
            ],
        )
    order = PlanOrder(command=RELEASE_MANY, filter="")
    made = (await plans.make(desk.service, desk.actor("m.ito"), PAYOUTS, order, once())).body
    assert made["count"] == len(hostile) > 5
    row = people.connection.execute(STORED, {"plan": made["id"]}).fetchone()
    stored, digest = json.loads(json.dumps(row[0])), row[1]
    assert by_sql(people.connection, stored) == digest == plan_digest(head_of(stored), rows_of(stored))
