"""A row of a large recovery is found by its key, however many have not started yet."""

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


@pytest.mark.parametrize("plans", ["force_custom_plan", "force_generic_plan"])
def test_the_row_that_begins_is_found_by_its_key(people: People, plans: str) -> None:
    connection = people.connection
    made = connection.execute(MADE).fetchone()
    assert made is not None
    values = {"recovery": made[0], "key": "key 7", "turn": "done", "sentence": None, "occurrence": None, "made": None}
    with connection.transaction():
        connection.execute("select set_config('jobs.tenant', 'acme', true)")
        connection.execute("set local role jobs_worker")
        connection.execute(f"set local plan_cache_mode = {plans}".encode())
        text = b"explain (format json) " + statement("recovering/begin").encode()
        row = connection.execute(text, {**values, "tenant": "acme"}).fetchone()
    assert row is not None
    found = row[0] if isinstance(row[0], list) else json.loads(row[0])
    used = {node["Index Name"] for node in _nodes(found[0]["Plan"]) if "Index Name" in node}
    assert used == {"recovery_rows_pkey"}
