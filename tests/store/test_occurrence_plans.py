"""Claims are planned over the indexes that they are meant for, whatever an old transaction keeps in the others (PG-06)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import psycopg
import pytest

from jobservice.store.statements import statement
from tests.conftest import People

MANY = 2_000
"""With locks of 400 characters the index on locks has one level more than the others, and looks dearer to the planner: as
it is where tens of thousands came and went."""
PUT = """
insert into jobs.occurrences (tenant, schedule, scheduled_at, tzdata, lock, due_at)
select
    'acme', 's.one', jobs.now() - make_interval(secs => g), 't', repeat('l', 400) || g, jobs.now() - make_interval(secs => g)
from generate_series(%(first)s::integer, %(last)s::integer) as g
"""
TAKE = """
update jobs.occurrences
set state = 'processing', holder = %(holder)s, fence = 1, taken_at = jobs.now(), expires_at = jobs.now()
where state = 'scheduled'
"""
END = """
update jobs.occurrences
set state = 'completed', holder = null, taken_at = null, expires_at = null, ended_at = jobs.now()
where state = 'processing'
"""
EARLY = datetime(2000, 1, 1, tzinfo=UTC)
LOOK = {
    "tenants": [],
    "heads": [],
    "since": EARLY,
    "lapsed_since": EARLY,
    "free": 100,
    "everywhere": ["s.one"],
    "somewhere": [],
}
CLAIM = {
    "tenants": ["acme"],
    "shares": [16],
    "heads": [EARLY],
    "holder": UUID(int=9),
    "lease": 30.0,
    **{"everywhere": ["s.one"], "somewhere": []},
}


@pytest.mark.parametrize(("name", "values"), [("look", LOOK), ("claim", CLAIM)])
@pytest.mark.parametrize("plans", ["force_custom_plan", "force_generic_plan"])
def test_what_runs_under_a_lock_is_looked_for_in_the_index_on_locks(
    people: People, name: str, values: dict[str, Any], plans: str
) -> None:
    connection: psycopg.Connection[Any] = people.connection
    connection.execute(PUT, {"first": 1, "last": MANY})
    connection.execute(TAKE, {"holder": UUID(int=9)})
    connection.execute(END)
    connection.execute(PUT, {"first": MANY + 1, "last": MANY + 50})
    connection.execute("analyze jobs.occurrences")  # it counts no dead entry of any index
    with connection.transaction():
        connection.execute("set local role jobs_worker")
        connection.execute(f"set local plan_cache_mode = {plans}".encode())
        text = b"explain (format json) " + statement(f"occurrence_leases/{name}").encode()
        row = connection.execute(text, values).fetchone()
    assert row is not None
    found = row[0] if isinstance(row[0], list) else json.loads(row[0])
    indexes = {node["Index Name"] for node in _nodes(found[0]["Plan"]) if node.get("Alias") in ("r", "r_1")}
    assert indexes == {"occurrences_running"}


def _nodes(node: dict[str, Any]) -> list[dict[str, Any]]:
    return [node, *(each for below in node.get("Plans", ()) for each in _nodes(below))]
