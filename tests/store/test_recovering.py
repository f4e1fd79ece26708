"""A row of a large recovery is found alone, however many have not started yet."""

from __future__ import annotations

import json

import pytest

from jobservice.store.statements import statement
from tests.conftest import People
from tests.store.test_occurrence_plans import _nodes

MADE = """
with made as (
    insert into jobs.recoveries (
        tenant, name, act, reason, asked, owner, moves, digest, count, frozen_at, valid_until, confirmed_at, state
    )
    values (
        'acme', 'r-1', 'discard', 'x', '{}', 'o.lind', 'nothing', sha256(''), 3000, jobs.now(), jobs.now(), jobs.now(),
        'applying'
    )
    returning id, tenant
)

insert into jobs.recovery_rows (recovery, number, tenant, key, target, name, schedule, moves, row_version)
select m.id, g, m.tenant, 'key ' || g, 'occurrence', 'x', 's.one', 'nothing', 1
from made as m, generate_series(1, 3000) as g
returning recovery::text
"""
ONE_ROW_EACH = """
insert into jobs.recovery_rows (recovery, number, tenant, key, target, name, schedule, moves, row_version)
select r.id, 1, r.tenant, 'key 1', 'occurrence', 'x', 's.one', 'nothing', 1
from jobs.recoveries as r
"""
EARLIER = """
insert into jobs.recoveries (
    tenant, name, act, reason, asked, owner, moves, digest, count, frozen_at, valid_until, confirmed_at, state
)
select
    'acme', 'e-' || g, 'discard', 'x', '{}', 'o.lind', 'nothing', sha256(''), 1, jobs.now(), jobs.now(), jobs.now(),
    'applying'
from generate_series(1, %(earlier)s) as g
"""


@pytest.mark.parametrize("earlier", [1, 300])
@pytest.mark.parametrize("plans", ["force_custom_plan", "force_generic_plan"])
def test_the_row_that_begins_is_found_alone(people: People, plans: str, earlier: int) -> None:
    """Also where the statistics are of before it was made, and all there were had one row."""
    connection = people.connection
    connection.execute(EARLIER, {"earlier": earlier})
    connection.execute(ONE_ROW_EACH)
    connection.execute("analyze jobs.recovery_rows")
    made = connection.execute(MADE).fetchone()
    assert made is not None
    values = {
        "recovery": made[0],
        "key": "key 7",
        "number": 7,
        "turn": "done",
        "sentence": None,
        "occurrence": None,
        "made": None,
    }
    with connection.transaction():
        connection.execute("select set_config('jobs.tenant', 'acme', true)")
        connection.execute("set local role jobs_worker")
        connection.execute(f"set local plan_cache_mode = {plans}".encode())
        text = b"explain (format json) " + statement("recovering/begin").encode()
        row = connection.execute(text, {**values, "tenant": "acme"}).fetchone()
    assert row is not None
    found = row[0] if isinstance(row[0], list) else json.loads(row[0])
    bounds = [node["Index Cond"] for node in _nodes(found[0]["Plan"]) if "Index Cond" in node]
    assert len(bounds) == 1
    assert "key = " in bounds[0] or "number = " in bounds[0]
