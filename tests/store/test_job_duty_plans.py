"""Duties about jobs look at an index of what they want: ten thousand settled jobs cost them nothing."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg
import pytest

from jobservice.store.statements import statement
from tests.conftest import People
from tests.store.test_job_listing_plans import PUT

MANY = 10_000
OPEN = 30
"""So few are not settled, have an effect to come, or a requester to be told."""


@pytest.fixture
def jobs(people: People) -> psycopg.Connection[Any]:
    """Settled jobs with a notice each, and a few of everything that duties look for; the statistics as they are."""
    connection = people.connection
    now = connection.execute("select jobs.now()").fetchone()
    assert now is not None
    connection.execute(PUT, {"many": MANY, "cause": UUID(int=1), "now": now[0]})
    with connection.transaction():
        connection.execute("set local session_replication_role = replica")
        connection.execute(
            "update jobs.jobs set status = 'succeeded', progress = 100, settled_at = activity_at where settled_at is null"
        )
        connection.execute(
            "update jobs.jobs set status = 'running', settled_at = null where id in"
            " (select id from jobs.jobs where status = 'succeeded' order by id limit %s)",
            (OPEN,),
        )
        connection.execute(
            "update jobs.jobs set failure_effect = 'e', failure_effect_state = 'due', failure_effect_at = jobs.now()"
            " where id in (select id from jobs.jobs where status = 'failed' order by id limit %s)",
            (OPEN,),
        )
        connection.execute(
            "insert into jobs.job_notices (tenant, family, job, outcome, person, subject, text, state, delivered_at,"
            " ended_at) select tenant, family, id, 'failed', 'm.ito', 's', 't',"
            " case when n > %(open)s then 'delivered' else 'due' end, case when n > %(open)s then jobs.now() end,"
            " case when n > %(open)s then jobs.now() end from (select *, row_number() over () as n from jobs.jobs) as j",
            {"open": OPEN},
        )
    connection.execute("analyze jobs.jobs; analyze jobs.job_notices; analyze jobs_engine.workflow_status")
    return connection


NOTHING = datetime(2020, 1, 1).astimezone()
LOOKS: dict[str, tuple[str, dict[str, Any]]] = {
    "reconciling_jobs/unsettled": ("jobs_worker", {"after": UUID(int=0), "most": 2_000, "grace": 5.0}),
    "reconciling_jobs/live": (
        "jobs_worker",
        {"status": "", "priority": 0, "created_at": 0, "handle": "", "most": 2_000, "grace": 5.0},
    ),
    "failure_effects/due": ("jobs_worker", {}),
    "failure_effects/take": ("jobs_worker", {"first": 5.0, "longest": 3_600.0}),
    "job_notices/due": ("jobs_worker", {}),
    "job_notices/claim": ("jobs_worker", {"holder": UUID(int=1), "lease": 120.0, "most": 8}),
    "job_notices/lapse": ("jobs_worker", {"result": "r", "most": 8}),
    "job_tallies/waits": ("jobs_worker", {}),
    "purge/lineages": (
        "jobs_purge",
        {"family": "payments", "after": UUID(int=0), "until": UUID(int=2**128 - 1), "most": 100},
    ),
    "purge/lock_lineages": ("jobs_purge", {"family": "payments", "lineages": [UUID(int=1), UUID(int=2)]}),
    "purge/remove_events": ("jobs_purge", {"family": "payments", "jobs": [UUID(int=1)]}),
    "purge/remove_causes": ("jobs_purge", {"causes": [UUID(int=1)]}),
    "purge/plans": ("jobs_purge", {"past": NOTHING, "after_at": NOTHING, "after": UUID(int=0), "most": 10}),
}


@pytest.mark.requirement("reconciler")
def test_a_look_reads_what_it_wants_and_no_table(jobs: psycopg.Connection[Any]) -> None:
    for name, (role, parameters) in LOOKS.items():
        looked = _looked(jobs, name, role, parameters)
        assert looked <= 400, (name, looked)


def _looked(jobs: psycopg.Connection[Any], name: str, role: str, parameters: dict[str, Any]) -> float:
    """How many rows of the large tables a statement reads, run as its duty runs it."""
    with jobs.transaction(force_rollback=True):
        jobs.execute(f"set local role {role}".encode())
        if name.startswith(("reconciling_jobs/", "purge/")):
            jobs.execute("set local enable_seqscan = off; set local plan_cache_mode = force_generic_plan")
        text = b"explain (analyze, buffers, format json) " + statement(name).encode()
        row = jobs.execute(text, {"tenant": None, **parameters}, prepare=True).fetchone()
    assert row is not None
    found = row[0] if isinstance(row[0], list) else json.loads(row[0])
    nodes = list(_nodes(found[0]["Plan"]))
    large = [node for node in nodes if str(node.get("Relation Name", "")).endswith(("_jobs", "job_notices", "_events"))]
    looked: float = sum(
        (node["Actual Rows"] + node.get("Rows Removed by Filter", 0)) * node["Actual Loops"]
        for node in large
        if "Scan" in node["Node Type"]
    )
    return looked


def _nodes(node: dict[str, Any]) -> list[dict[str, Any]]:
    return [node, *(each for below in node.get("Plans", ()) for each in _nodes(below))]
