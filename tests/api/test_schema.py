"""The API against its own document: generated requests, right and wrong ones, over a real server and database.

The endless stream is left out (`test_events.py`).
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi import checks

from examples.payments import application
from jobcontract import routes
from jobcontract.operating_routes import STOP_WORK
from jobcontract.permissions import Permission
from jobcontract.routes import KEY_HEADER, ROUTES, Route
from jobservice.api.app import create_app
from jobservice.api.server import serve
from jobservice.records import RecordSet
from jobservice.store.database import Database
from jobservice.store.revisions import code_version
from jobservice.usecases.service import Service
from tests.api import schema_things
from tests.api.conftest import DEADLINE, SIGNING_KEY
from tests.api.schema_things import FREE_TEXT, NEVER, QUERY, SCHEDULE, things
from tests.conftest import People, Server

pytestmark = pytest.mark.xdist_group("schema")  # one server and one reading of the document

EXAMPLES = 20
"""Requests for each operation: about a real thing, about any thing, wrong ones."""
CHECKS = [
    not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_schema_conformance,
    checks.response_headers_conformance,
    checks.missing_required_header,
    checks.unsupported_method,
    checks.allow_header_conformance,
    checks.negative_data_rejection,
]
OPERATIONS = [route for route in ROUTES if route is not routes.EVENTS]
PERSON = schema_things.PERSON | {
    Permission.ITEM_PUSH: "p.push",
    Permission.AUDIT_READ: "s.audit",
    Permission.OCCURRENCE_CANCEL: "o.lind",
}

HOLDER = {route.name: "m.ito" for route in (routes.RENEW_CLAIM, routes.RELEASE_CLAIM, routes.ACT)} | {
    routes.BREAK_CLAIM.name: "k.rao"
}
"""Who holds the real item when the operation is tried."""
CONTENT = {
    "amount": {"minor": -5, "currency": "GBP"},
    "payee": {"id": "P", "name": "N", "account": "ACCT1234"},
    "inputs": {"invoice": "I"},
}
TAKEN = "00000000-0000-7000-8000-000000000002"
"""The second item of the open plan."""
WARNING = "00000000-0000-7000-8000-000000000003"
"""A warning of it."""
REAL: dict[str, dict[str, Any]] = schema_things.REAL | {
    STOP_WORK.name: {"scope": "queue", "name": "payments.payouts"},
    routes.PUSH_ITEM.name: CONTENT | {"customer": None, "workspace": None},
    routes.CHANGE_ITEM.name: CONTENT | {"money_version": 1},
    routes.RENEW_CLAIM.name: {"fence": 1},
    routes.RELEASE_CLAIM.name: {"fence": 1},
    routes.BREAK_CLAIM.name: {"fence": 1},
    routes.ACT.name: {"fence": 1, "money_version": 1, "inputs": {"text": "a note"}},
    routes.MAKE_PLAN.name: {"command": "payments.release-many", "items": None, "filter": ""},
    routes.TAKE_OUT.name: {"items": [TAKEN]},
    routes.KEEP_IN.name: {"warning": WARNING},
    routes.WAS_PAID.name: {"fence": 1},
    routes.WAS_NOT_PAID.name: {"fence": 1},
}
"""Members without which a request about the real thing cannot be right; the rest of it is generated."""

OPEN_PLAN = frozenset(route.name for route in (routes.TAKE_OUT, routes.KEEP_IN, routes.DROP_PLAN, routes.CONFIRM_PLAN))
"""Orders about a plan that is not confirmed yet; every other one meets a plan that is being applied."""
TAKES_CODE = frozenset(route.name for route in (routes.CONFIRM_PLAN, routes.RESUME_PLAN, routes.WAS_NOT_PAID))
"""What cannot be carried out without a code from a phone, which nobody generates: `test_confirming.py`."""
GIVEN_BY_A_PAGE = schema_things.GIVEN_BY_A_PAGE | {
    routes.QUEUE_ITEMS.name: ("start", "cursor"),
    routes.OCCURRENCE_ITEMS.name: ("cursor",),
    routes.NEXT_INSTANTS.name: ("after",),
}
"""Parameters that say something about other rows or pages: right values cannot be generated, so some requests go
without."""


class Running:
    """The API under uvicorn in a thread of its own: the generated requests are made by a blocking client."""

    def __init__(self, database_url: str, record_set: RecordSet) -> None:
        self._database_url = database_url
        self._records = record_set
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._started = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="api")
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def __enter__(self) -> Running:
        self._thread.start()
        assert self._started.wait(DEADLINE)
        return self

    def __exit__(self, *error: object) -> None:
        if self._loop is not None and self._stop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(DEADLINE)

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        database = await Database.open(self._database_url, name="schema", most=5)
        service = Service(database=database, records=self._records, application=application, deployment="test")
        app = create_app(service, signing_key=SIGNING_KEY, schema_version=code_version())
        try:
            await serve(app, self._listener, stop=self._stop, started=self._started.set)
        finally:
            await database.close()
            self._listener.close()


@pytest.fixture(scope="module")
def api_url(server: Server, database_name: str, record_set: RecordSet) -> Iterator[str]:
    """The address of the running API."""
    with Running(server.url("jobs_api", database_name), record_set) as running:
        yield running.url


@pytest.fixture(scope="module")
def schema(api_url: str) -> schemathesis.BaseSchema:
    """The API's document as it serves it."""
    return schemathesis.openapi.from_url(f"{api_url}/v1/openapi.json")


@pytest.fixture
def item(people: People) -> str:
    """An item that everyone may meet."""
    row = people.connection.execute(
        "insert into jobs.items (tenant, queue, business_key, title, created, amount_minor, currency, payee_id,"
        " payee_name, account, inputs, pushed_by, changed_by) values ('acme', 'payments.payouts', 'K-1', 'Title',"
        """ jobs.now(), 1, 'GBP', 'P', 'N', 'ACCT1234', '{"invoice": "I"}', 'p.push', 'p.push') returning id::text"""
    ).fetchone()
    assert row is not None
    return str(row[0])


@pytest.fixture
def planned(people: People, item: str) -> dict[str, str]:
    """A plan that is being applied (`applying`), an open one (`open`), and the review item of an uncertain payout."""
    made = {"item": item}
    for state in ("applying", "open"):
        row = people.connection.execute(
            "insert into jobs.plans (tenant, name, command, queue, use_case, use_case_version, owner, state, salt, digest,"
            " totals, count, payees, frozen_at, valid_until, confirmed_at, apply_until, signing_key, signature)"
            " select 'acme', 'lark-' || %(state)s, 'payments.release-many', 'payments.payouts', 'payments.release', 1,"
            " 'm.ito', %(state)s, %(bytes)s, %(bytes)s, '[]', 2, 1, jobs.now(), jobs.now() + '1 hour', c.at,"
            " c.at + '1 hour', c.key, c.signature from (select case when %(state)s <> 'open' then jobs.now() end,"
            " case when %(state)s <> 'open' then 'k' end, case when %(state)s <> 'open' then %(bytes)s end)"
            " as c (at, key, signature) returning id::text",
            {"state": state, "bytes": bytes(32)},
        ).fetchone()
        assert row is not None
        made[state] = str(row[0])
        for number in (1, 2):
            people.connection.execute(
                "with added as (insert into jobs.items (id, tenant, queue, title, created, amount_minor, currency,"
                " payee_id, payee_name, account, pushed_by, changed_by) values (coalesce(%s, jobs.uuid7()), 'acme', 'payments.payouts', 'T', jobs.now(), 5,"
                " 'GBP', 'P', 'N', 'ACCT1234', 'p.push', 'p.push') returning *)"
                " insert into jobs.plan_items (plan, item, tenant, number, money_version, fence, title, amount_minor,"
                " currency, payee_id, payee_name, account, account_mark, inputs, turn, sent_at, ended_at, outward_key)"
                " select %s, id, tenant, %s, 1, 1, title, amount_minor, currency, payee_id, payee_name, account, %s, '{}',"
                " %s, jobs.now(), %s, 'jc-' || id from added",
                (
                    TAKEN if (state, number) == ("open", 2) else None,
                    made[state],
                    number,
                    "0" * 64,
                    "uncertain" if (state, number) == ("applying", 1) else "not-started",
                    "2026-03-02T09:00:00Z" if (state, number) == ("applying", 1) else None,
                ),
            )
    people.connection.execute(
        "insert into jobs.plan_warnings (id, plan, item, tenant, kind, place, sentence, amount_rank, must_answer)"
        " select %s, plan, item, tenant, 'negative', 1, 'Odd.', 0, true from jobs.plan_items where item = %s",
        (WARNING, TAKEN),
    )
    row = people.connection.execute(
        "insert into jobs.items (tenant, queue, title, created, pushed_by, changed_by, about, holder, fence, taken_at,"
        " expires_at) select tenant, 'payments.uncertain', 'Paid?', jobs.now(), 'service', 'service', item, 'k.rao', 1,"
        " jobs.now(), jobs.now() + '1 hour' from jobs.plan_items where turn = 'uncertain' returning id::text"
    ).fetchone()
    assert row is not None
    made["review"] = str(row[0])
    return made


@pytest.fixture
def occurrence(people: People) -> str:
    """An occurrence that waits."""
    row = people.connection.execute(
        "insert into jobs.occurrences (tenant, schedule, scheduled_at, tzdata, lock, due_at) values ('acme', %(name)s,"
        " jobs.now(), '2026f', %(name)s, jobs.now()) returning id::text",
        {"name": SCHEDULE},
    ).fetchone()
    assert row is not None
    return str(row[0])


@pytest.fixture
def alarm(people: People) -> str:
    """An alarm that is open."""
    row = people.connection.execute(
        "insert into jobs.alarms (tenant, kind, subject, sentence) values ('acme', 'late', %s, 'It is late.')"
        " returning id::text",
        (SCHEDULE,),
    ).fetchone()
    assert row is not None
    return str(row[0])


def cases(operation: Any, route: Route, real: dict[str, str]) -> st.SearchStrategy[Any]:
    """Requests about a real thing, about any thing, and wrong ones, of those that the operation can be given."""
    named = {name: value for name, value in real.items() if f"{{{name}}}" in operation.path}

    def fill(case: Any) -> Any:
        if isinstance(case.body, dict):
            case.body.update(REAL.get(route.name, {}))
        for name in GIVEN_BY_A_PAGE.get(route.name, ()):
            case.query.pop(name, None)
        case.query.update(QUERY.get(route.name, {}))
        return case

    right = operation.as_strategy()
    about = operation.as_strategy(path_parameters=named) if named else right
    kinds = [right, about.map(fill) if named or route.name in {*REAL, *QUERY} else right]
    if operation.body or operation.path_parameters or operation.query or operation.headers:
        kinds.append(operation.as_strategy(GenerationMode.NEGATIVE))
    return st.one_of(kinds)


@pytest.mark.filterwarnings("ignore::DeprecationWarning:schemathesis", "ignore::DeprecationWarning:jsonschema")
@pytest.mark.parametrize("route", OPERATIONS, ids=lambda route: route.name)
def test_generated_requests_get_what_the_document_says(
    schema: schemathesis.BaseSchema,
    api_url: str,
    people: People,
    planned: dict[str, str],
    occurrence: str,
    alarm: str,
    route: Route,
) -> None:
    asks = route in (routes.WAS_PAID, routes.WAS_NOT_PAID)
    real = {
        "queue": "payments.payouts",
        "item": planned["review" if asks else "item"],
        "use_case": "payments.note",
        "key": "K-1",
        **things(people, route, occurrence),
        "plan": planned["open" if route.name in OPEN_PLAN else "applying"],
        "alarm": alarm,
    }
    person = PERSON.get(route.permission, "m.ito") if route.permission else "m.ito"
    person = "k.rao" if asks else person
    token = {"Authorization": f"Bearer {people.token(person)}"}

    operation = schema[route.path.replace(":path", "")][route.method]
    if route.name in HOLDER:
        people.connection.execute(
            "update jobs.items set holder = %s, fence = 1, taken_at = jobs.now(), expires_at = jobs.now() + '1 hour'",
            (HOLDER[route.name],),
        )
        people.connection.execute(
            "insert into jobs.claims (item, fence, tenant, queue, holder, taken_at, expires_at)"
            " select id, fence, tenant, queue, holder, taken_at, expires_at from jobs.items"
        )
    seen: set[int] = set()
    checked = [each for each in CHECKS if each is not checks.negative_data_rejection or route.name not in FREE_TEXT]

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=cases(operation, route, real))
    def run(case: Any) -> None:
        case.headers.pop("Jobs-Tenant", None)  # a tenant that is none of theirs is always the same refusal
        seen.add(case.call_and_validate(base_url=api_url, headers=token, checks=checked).status_code)

    run()
    good = {status for status in seen if status < 300}
    assert good or route.name in TAKES_CODE | NEVER, f"no request was ever carried out: {sorted(seen)}"
    assert route.public or seen - good, "no request was ever refused"


def test_the_key_header_is_the_documents(schema: schemathesis.BaseSchema) -> None:
    operation = schema[routes.CLAIM.path]["POST"]
    assert KEY_HEADER in {parameter.name for parameter in operation.headers}
