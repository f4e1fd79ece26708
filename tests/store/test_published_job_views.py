"""The views that this service publishes over its own account: what they show, to whom, and that they are read by indexes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from jobservice.store.job_views import COLUMNS
from jobservice.store.statements import statement
from tests.conftest import People
from tests.job_rows import add_job, add_rows, id_at

BEGIN = datetime(2026, 11, 30, 12, tzinfo=UTC)
PAGE: dict[str, Any] = {
    **dict.fromkeys(
        ("after_position", "after_job", "statuses", "kinds", "scopes", "requesters", "words", "error", "since", "until")
    ),
    "tenant": "acme",
    "no_requester": False,
    "customers": None,
    "workspaces": None,
    "look_most": 20,
    "most": 10,
}
MANY = """
insert into jobs.jobs (
    family, id, tenant, kind, kind_version, moves, submission_identity, inputs_digest, requested_at, activity_at, lineage
)
select
    'payments', g.id, case when g.n %% 3 = 0 then 'globex' else 'acme' end, 'k.' || g.n %% 4, 1, 'nothing', 'i-' || g.n,
    sha256(''), %(at)s, %(at)s, g.id
from (
    select
        n,
        (lpad(to_hex((extract(epoch from %(at)s::timestamptz) * 1000)::bigint - n), 12, '0') || '7000a000000000000000')::uuid
            as id
    from generate_series(1, 5000) as n
) as g
"""


@pytest.fixture
def reader(people: People, database_url: Callable[[str], str]) -> Iterator[psycopg.Connection[Any]]:
    """A login of the role that has the views."""
    with psycopg.connect(database_url("jobs_views"), autocommit=True, row_factory=dict_row) as connection:
        connection.execute("set search_path = jobs, pg_catalog")
        yield connection


@pytest.mark.requirement("families")
@pytest.mark.requirement("INV-12")
def test_they_show_what_was_agreed_and_neither_handle_nor_version_nor_inputs(
    people: People, reader: psycopg.Connection[Any]
) -> None:
    first, second = (
        add_job(
            people.connection,
            BEGIN + timedelta(minutes=each),
            status="failed",
            customer="C-1",
            execution_handle=f"secret-{each}",
            holder=id_at(BEGIN, 99),
            inputs=psycopg.types.json.Jsonb({"month": "secret"}),
        )
        for each in (1, 2)
    )
    of_job = {"family": "payments", "job": first, "tenant": "acme"}
    step = {"position": 1, "step": "send", "label": "Send", "use_case": "u", "moves": "nothing", "result": "{}"}
    add_rows(people.connection, "job_steps", [{**of_job, **step}])
    add_rows(
        people.connection,
        "job_events",
        [{**of_job, "sequence": each, "kind": "progress", "sentence": f"{each}", "detail": "{}"} for each in (1, 2)],
    )
    page = reader.execute(statement("job_views/page"), PAGE).fetchall()
    assert [row["job"] for row in page] == [second, first]
    assert page[0]["position"] > page[1]["position"]
    behind = {**PAGE, "after_position": page[0]["position"], "after_job": second}
    assert [row["job"] for row in reader.execute(statement("job_views/page"), behind).fetchall()] == [first]
    steps = reader.execute(statement("job_views/steps"), {"tenant": "acme", "job": first}).fetchall()
    events = reader.execute(
        statement("job_views/events"), {"tenant": "acme", "job": first, "before": None, "most": 9}
    ).fetchall()
    assert [row["label"] for row in steps] == ["Send"]
    assert [row["sequence"] for row in events] == [2, 1]
    for view, columns in COLUMNS.items():
        rows = reader.execute(f"select * from {view}".encode()).fetchall()
        assert set(columns) <= set(rows[0])
        assert not {"execution_handle", "handle", "version", "inputs", "holder", "fence", "result", "detail"} & set(
            rows[0]
        )
        assert "secret" not in json.dumps(rows, default=str)


def test_their_reader_has_the_views_and_nothing_else(people: People, reader: psycopg.Connection[Any]) -> None:
    add_job(people.connection, BEGIN)
    assert reader.execute(statement("job_views/has_power")).fetchall() == []
    more = reader.execute(statement("job_views/may_more")).fetchall()
    assert [row["name"] for row in more if not row["name"].startswith("test_clock.")] == []
    for forbidden in ("select id from jobs.jobs", "delete from jobs.cross_job_query", "select * from jobs.job_lines"):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            reader.execute(forbidden.encode())


def test_they_are_read_by_indexes_of_the_account(people: People, reader: psycopg.Connection[Any]) -> None:
    people.connection.execute(MANY, {"at": BEGIN})
    people.connection.execute("analyze jobs.jobs")
    row = reader.execute(
        "select position, job from cross_job_query where tenant = 'acme' limit 1 offset 2000"
    ).fetchone()
    assert row is not None
    of_job = {"tenant": "acme", "job": row["job"]}
    asked: dict[str, dict[str, Any]] = {
        "job_views/page": {**PAGE, "after_position": row["position"], "after_job": row["job"]},
        "job_views/job": {**of_job, "customers": None, "workspaces": None},
        "job_views/steps": of_job,
        "job_views/events": {**of_job, "before": None, "most": 10},
    }
    for name, values in asked.items():
        text = b"explain (analyze, format json) " + statement(name).encode()
        found = reader.execute(text, values).fetchone()
        assert found is not None
        (plan,) = found["QUERY PLAN"]
        scans = [node for node in _nodes(plan["Plan"]) if str(node.get("Relation Name", "")).endswith("_jobs")]
        looked = sum(
            (each["Actual Rows"] + each.get("Rows Removed by Filter", 0)) * each["Actual Loops"] for each in scans
        )
        assert looked <= 100, (name, looked, [each.get("Index Name") for each in scans])


def _nodes(node: dict[str, Any]) -> list[dict[str, Any]]:
    return [node, *(each for below in node.get("Plans", ()) for each in _nodes(below))]
