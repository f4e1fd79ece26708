"""A page of jobs walks an index of what leads, and looks at no more rows than it may, whatever is asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from jobcontract.job_states import JobView
from jobservice.store import job_listing as store
from jobservice.store.database import Database, Transaction
from jobservice.store.statements import statement
from jobservice.usecases.job_listing import Asked, count_jobs, list_jobs
from tests.usecases.desk import Desk
from tests.usecases.desk import desk as new_desk

MANY = 6_000
PUT = """
insert into jobs.jobs (
    family, id, tenant, kind, kind_version, status, progress, moves, submission_identity, inputs_digest, requester,
    customer, workspace, requested_at, activity_at, started_at, settled_at, failure_summary, failure_reference, cause,
    cancel_asked_at, cancel_reason, lineage
)
select
    case when g.n %% 3 = 0 then 'service' else 'payments' end, g.id,
    case when g.n %% 2 = 0 then 'acme' else 'globex' end, 'k.' || g.n %% 10, 1, g.status,
    case when g.status = 'succeeded' then 100 else 0 end, 'nothing', 'i-' || g.n, sha256(''),
    case when g.n %% 5 = 0 then 'm.ito' end, 'C-' || g.n %% 7, 'W-' || g.n %% 11, g.at, g.at,
    g.at, case when g.status <> 'running' then g.at end,
    case when g.status = 'failed' then 'No.' end, case when g.status = 'failed' then 'r-' || g.n end,
    case when g.status = 'failed' then %(cause)s::uuid end,
    case when g.n %% 100 in (2, 3) then g.at end, case when g.n %% 100 in (2, 3) then 'stop' end, g.id
from (
    select
        n, %(now)s::timestamptz - make_interval(secs => n) as at,
        (lpad(to_hex((extract(epoch from %(now)s::timestamptz) * 1000)::bigint - n * 1000), 12, '0') || '7000'
            || 'a' || lpad(to_hex(n), 15, '0'))::uuid as id,
        case when n %% 9 = 0 then 'failed' when n %% 100 in (2, 3) then 'running' else 'succeeded' end as status
    from generate_series(1, %(many)s) as n
) as g
"""
FILTERS: Mapping[str, str] = {
    "": "jobs_listed",
    "status:failed": "jobs_kinds",
    "kind:k.2": "jobs_kinds",
    "kind:k.2 status:running": "jobs_kinds",
    "is:unresolved": "jobs_failures",
    "is:cancelling": "jobs_cancelling",
    "error:bank": "jobs_caused",
    "requester:m.ito": "jobs_requesters",
    "requester:none": "jobs_requesters",
    "scope:C-3": "jobs_customers",
    "scope:W-3": "jobs_workspaces",
    "age>1h": "jobs_listed",
    "scope:C-3 is:unresolved": "jobs_unresolved_customers",
    "is:retried kind:k.2": "jobs_failures",
    "requester:m.ito kind:k.4 status:running": "jobs_kinds",
    "requester:m.ito scope:C-3 status:cancelled age>10m": "jobs_requesters",
    "i-44": "jobs_family_tenant_kind_submission_identity_key",
    "r-36": "jobs_failure_references",
}
KEPT = """
select name, coalesce(array_length(parameter_types, 1), 0) as parameters
from pg_prepared_statements
where statement like '%job_lines%'
"""
PARENTS = """
select p.relname, c.relname
from pg_inherits as i
inner join pg_class as c on i.inhrelid = c.oid
inner join pg_class as p on i.inhparent = p.oid
where c.relkind in ('i', 'I')
"""


@pytest.fixture
def desk(database: Any, people: Any, superuser: psycopg.Connection[Any]) -> Desk:
    """Jobs of two tenants and two families, the statistics as they are."""
    cause = superuser.execute(
        "insert into jobs.job_causes (tenant, kind, step, text) values ('acme', 'k.1', 's', 'bank down') returning id"
    ).fetchone()
    assert cause is not None
    now = superuser.execute("select jobs.now()").fetchone()
    assert now is not None
    superuser.execute(PUT, {"many": MANY, "cause": cause[0], "now": now[0]})
    superuser.execute("analyze jobs.jobs")
    return new_desk(database, people)


@pytest.mark.requirement("families")
@pytest.mark.parametrize("plans", ["force_custom_plan", "force_generic_plan"])
async def test_every_filter_walks_its_index_and_looks_at_few_rows(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, plans: str
) -> None:
    monkeypatch.setattr(store, "LOOKED", 100)
    monkeypatch.setattr(store, "ENOUGH", 50)
    monkeypatch.setattr("jobservice.usecases.job_counting.COUNTED", 50)
    asked: list[tuple[str, dict[str, Any]]] = []
    for holder, name in ((Transaction, "rows"), (Transaction, "row"), (store, "texts")):
        monkeypatch.setattr(holder, name, _recorded(getattr(holder, name), asked))
    actor, connection = desk.actor("o.lind"), desk.people.connection
    parents = {child: parent for parent, child in connection.execute(PARENTS).fetchall()}
    for text, index in FILTERS.items():
        asked.clear()
        await list_jobs(desk.service, actor, Asked(view=JobView.ALL, filter=text, limit=10))
        await count_jobs(desk.service, actor, Asked(view=JobView.ALL, filter=text))
        for name, parameters in asked:
            scans = _scans(connection, plans, name, parameters)
            assert not [each for each in scans if each["Node Type"] in ("Seq Scan", "Bitmap Heap Scan")], (text, name)
            looked = sum(each["Actual Rows"] * each["Actual Loops"] for each in scans)
            looked += sum(each.get("Rows Removed by Filter", 0) * each["Actual Loops"] for each in scans)
            used = {parents.get(each.get("Index Name"), each.get("Index Name")) for each in scans}
            assert looked <= 1_500, (text, name, looked, used)
            if name == "job_listing/rarest":
                kinds = {each["Node Type"] for each in scans if each["Actual Loops"]}
                assert kinds <= {"Index Only Scan"}, (text, "what leads is counted without a look at the rows")
        pages = [each for each in asked if each[1].get("most") == 10]
        used = {
            parents.get(each["Index Name"], each["Index Name"])
            for name, parameters in pages
            for each in _scans(connection, plans, name, parameters)
        }
        assert index in used, (text, used)


async def test_plans_that_a_tenant_without_jobs_left_behind_serve_the_others(
    desk: Desk, database_url: Callable[[str], str]
) -> None:
    """A plan is kept with its connection, and whoever comes first may have nothing: guessed by their rows, a line is looked
    for among all rows of a tenant, which takes seconds for whoever has many."""
    database = await Database.open(database_url("jobs_api"), name="test", most=1)
    actor = replace(desk.actor("o.lind"), tenant="nowhere")
    parents = {child: parent for parent, child in desk.people.connection.execute(PARENTS).fetchall()}
    try:
        await list_jobs(replace(desk.service, database=database), actor, Asked(view=JobView.UNRESOLVED))
        async with database.transaction("acme", by_index=True) as transaction:
            (kept,) = await (await transaction.connection.execute(KEPT)).fetchall()
            nothing = ", ".join(["null"] * kept["parameters"])
            explained = f"explain (format json) execute {kept['name']} ({nothing})"
            (plan,) = await (await transaction.connection.execute(explained.encode(), prepare=False)).fetchall()
    finally:
        await database.close()
    scans = [each for each in _nodes(plan["QUERY PLAN"][0]["Plan"]) if "_jobs" in each.get("Relation Name", "")]
    walked = [each for each in scans if parents[each["Index Name"]] in ("jobs_failures", "jobs_retries")]
    lines = [each for each in scans if each not in walked]
    assert walked, "the page"
    assert ["(id = l.id)" in each.get("Index Cond", "") for each in lines] == [True, True]


def _recorded(original: Any, asked: list[tuple[str, dict[str, Any]]]) -> Any:
    """Runs a statement, and keeps what was asked."""

    async def run(transaction: Transaction, name: str, /, **parameters: Any) -> Any:
        asked.append((name, {"tenant": transaction.tenant, **parameters}))
        return await original(transaction, name, **parameters)

    return run


def _scans(
    connection: psycopg.Connection[Any], plans: str, name: str, parameters: dict[str, Any]
) -> list[dict[str, Any]]:
    """The scans of jobs, as the API's role runs the statement."""
    with connection.transaction(force_rollback=True):
        connection.execute("set local role jobs_api")
        connection.execute("select set_config('jobs.tenant', 'acme', true)")
        connection.execute(f"set local plan_cache_mode = {plans}".encode())
        connection.execute("set local enable_seqscan = off; set local enable_sort = off")
        text = b"explain (analyze, format json) " + statement(name).encode()
        row = connection.execute(text, parameters, prepare=True).fetchone()
    assert row is not None
    found = row[0] if isinstance(row[0], list) else json.loads(row[0])
    return [node for node in _nodes(found[0]["Plan"]) if str(node.get("Relation Name", "")).endswith("_jobs")]


def _nodes(node: dict[str, Any]) -> list[dict[str, Any]]:
    return [node, *(each for below in node.get("Plans", ()) for each in _nodes(below))]
