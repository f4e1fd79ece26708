"""Owns an in-memory service for tests of screens and twins: the same routes, problems, permissions and keys, no socket.

    fake = FakeService()
    item = fake.queues.add("payments.payouts", "Acme Ltd", minor=1250)
    service = fake.service("m.ito")          # a real client.Service over httpx.MockTransport
    fake.advance(900); fake.away = True; fake.publish_reset()
    fake.bulk.step(plan)                     # the Worker, moved by hand: see `fake_bulk`
    fake.jobs.add("t.minutely", every=60)    # schedules and what runs: see `fake_schedules`
    fake.account.add("payments.export")     # background jobs: see `fake_jobs`

Never imported by the console itself.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from datetime import UTC, datetime, timedelta
from urllib.parse import unquote

import httpx
from pydantic import BaseModel, SecretStr, ValidationError

from jobconsole.client import fake_explanations, fake_totals
from jobconsole.client.fake_acts import FakeActs
from jobconsole.client.fake_alarms import FakeAlarms
from jobconsole.client.fake_asked import PEOPLE, TENANT, Asked, Handler
from jobconsole.client.fake_audit import FakeTrail
from jobconsole.client.fake_bulk import FakeBulk
from jobconsole.client.fake_finding import FakeFinding
from jobconsole.client.fake_inputs import check_inputs
from jobconsole.client.fake_jobs import FakeAccount
from jobconsole.client.fake_listing import FakeListing
from jobconsole.client.fake_overview import FakeOverview
from jobconsole.client.fake_questions import FakeQuestions
from jobconsole.client.fake_queues import FakeItem, FakeQueues
from jobconsole.client.fake_recoveries import FakeRecoveries
from jobconsole.client.fake_schedules import FakeJobs
from jobconsole.client.fake_stops import FakeStops
from jobconsole.client.service import Service
from jobcontract import routes
from jobcontract.audit import AuditEntry
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.events import EventName, Hint, Hints, Topic
from jobcontract.items import (
    Acted,
    ActOrder,
    BreakClaim,
    Claimed,
    ClaimNextOrder,
    HeldClaim,
    ItemPage,
    Supposed,
    WhatIf,
)
from jobcontract.job_routes import REVEAL_JOB
from jobcontract.operating_routes import AUDIT_EXPORT
from jobcontract.permissions import GRANTS, missing
from jobcontract.queues import Queues
from jobcontract.session import Colleague, Colleagues, Person, Session, TenantRole
from jobcontract.states import Moves, OutcomeKind, Role


class FakeService:
    """The service in memory. `away` = cannot be reached; `status` = answers that to everything; `lost` answers get lost."""

    def __init__(self, *, start: datetime | None = None, cap: float = 28_800, most_claims: int = 50) -> None:
        self.time = start or datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
        self.queues = FakeQueues(lambda: self.time, cap=timedelta(seconds=cap), most_claims=most_claims)
        self.listing = FakeListing(queues=self.queues, people=tuple(PEOPLE))
        self.queues.on_change = self._hint
        self.queues.on_lapse = lambda row: self._record(None, "claim-lapsed", row.id, "done")
        self.bulk = FakeBulk(self.queues, self.listing, self._publish_hint)
        self.jobs = FakeJobs(lambda: self.time, self._publish_hint)
        self.acts = FakeActs(lambda: self.time, self.jobs)
        self.questions = FakeQuestions(lambda: self.time, self.jobs, lambda: self.audit, lambda: self.stops.all_work)
        self.stops = FakeStops(lambda: self.time, self.queues, self.bulk, self._publish_hint)
        self.alarms = FakeAlarms(lambda: self.time, self._publish_hint)
        self.account = FakeAccount(lambda: self.time, self._publish_hint)
        self.recoveries = FakeRecoveries(
            lambda: self.time, self.jobs, self.bulk.codes, self._publish_hint, self.account
        )
        self.overview = FakeOverview(
            queues=self.queues,
            bulk=self.bulk,
            jobs=self.jobs,
            stops=self.stops,
            alarms=self.alarms,
            recoveries=self.recoveries,
            account=self.account,
        )
        self.account.stopped = self.stops.holds_kind
        self.away = False
        self.status: int | None = None
        self.lost = 0
        """How many answers of acting calls get lost after the act was done."""
        self.signed_out: set[str] = set()
        self.requests: list[httpx.Request] = []
        self.audit: list[AuditEntry] = []
        self.trail = FakeTrail(lambda: self.time, self.audit)
        self.finding = FakeFinding(self.account, self.queues, self.bulk, self.recoveries, self.jobs, self.trail)
        self._keys: dict[tuple[str, ...], tuple[bytes, bytes]] = {}
        self._events: list[bytes] = []
        self._news = asyncio.Event()
        self._ended = False

    def service(self, person: str, *, tenant: str | None = TENANT) -> Service:
        """A client signed in as `person`."""
        return Service("http://127.0.0.1:1", SecretStr(f"jc_{person}"), tenant, transport=self.transport())

    def transport(self) -> httpx.MockTransport:
        """What a client is to send through."""
        return httpx.MockTransport(self.handle)

    def advance(self, seconds: float) -> None:
        """Move the service's clock on."""
        self.time += timedelta(seconds=seconds)

    def publish_reset(self) -> None:
        """Tell every stream to reload everything."""
        self._publish(EventName.RESET, "{}")

    def publish_ended(self) -> None:
        """End every stream: sign in again."""
        self._publish(EventName.ENDED, "{}")

    def close_streams(self) -> None:
        """Let every open stream end, as a restart does."""
        self._ended = True
        self._wake()

    async def handle(self, request: httpx.Request) -> httpx.Response:
        """Answer one request."""
        self.requests.append(request)
        if self.away:
            raise httpx.ConnectError("connection refused", request=request)
        if self.status is not None:
            return httpx.Response(self.status)
        try:
            person, tenant = self._sign_in(request)
            route, parts = self._route(request)
            if route.permission is not None and not route.admits(GRANTS[PEOPLE[person][1]]):
                raise Refusal(
                    ErrorCode.PERMISSION_MISSING, missing(route.permission, tenant), permission=route.permission
                )
            if route is routes.EVENTS:
                return self._stream(request)
            return self._answer(route, Asked(request, person, parts))
        except Refusal as refusal:
            return _problem(refusal)
        except ValidationError as error:
            return _problem(Refusal(ErrorCode.INVALID_REQUEST, str(error.errors()[0]["msg"])))

    def _sign_in(self, request: httpx.Request) -> tuple[str, str]:
        person = request.headers.get("Authorization", "").removeprefix("Bearer jc_")
        if person not in PEOPLE:
            raise Refusal(ErrorCode.UNAUTHENTICATED, "Sign in with a token first.")
        if person in self.signed_out:
            raise Refusal(ErrorCode.TOKEN_EXPIRED, "The token has expired or was revoked.")
        tenant = request.headers.get(routes.TENANT_HEADER, TENANT)
        if tenant != TENANT:
            raise Refusal(ErrorCode.TENANT_UNKNOWN, f"{tenant} is not a tenant of yours.")
        return person, tenant

    def _route(self, request: httpx.Request) -> tuple[routes.Route, dict[str, str]]:
        steps = request.url.raw_path.decode().partition("?")[0].split("/")
        for route in routes.ROUTES:
            places = route.path.split("/")
            if route.method != request.method or len(places) != len(steps):
                continue
            if all(place == step or place.startswith("{") for place, step in zip(places, steps, strict=True)):
                named = [(place.strip("{}"), step) for place, step in zip(places, steps, strict=True) if "{" in place]
                return route, {place.removesuffix(":path"): unquote(step) for place, step in named}
        raise Refusal(ErrorCode.NOT_FOUND, "There is no such address.")

    def _answer(self, route: routes.Route, asked: Asked) -> httpx.Response:
        if not route.acts:
            if route is routes.PLAN_EXPORT:
                return httpx.Response(200, headers={"Content-Type": "text/csv"}, content=self.bulk.export(asked))
            if route is AUDIT_EXPORT:
                return httpx.Response(200, headers={"Content-Type": "text/csv"}, content=self.trail.export(asked))
            return _json(200, _dumped(self._handlers()[route.name](asked)))
        key = asked.request.headers.get(routes.KEY_HEADER)
        if not key:
            raise Refusal(ErrorCode.IDEMPOTENCY_KEY_MISSING, "Send an Idempotency-Key.")
        place = (asked.person.id, route.method, asked.request.url.path, key)
        body = asked.same_body()
        known = self._keys.get(place)
        if known is not None and known[0] != body:
            raise Refusal(ErrorCode.IDEMPOTENCY_KEY_REUSED, "That key was used for another request.")
        answer = known[1] if known is not None else self._act(route, asked)
        if b'"item":null' not in answer and route is not REVEAL_JOB:  # a claim next of none; each look is written down
            self._keys[place] = (body, answer)
        if self.lost > 0:
            self.lost -= 1
            raise httpx.ReadError("connection reset", request=asked.request)
        return _json(200, answer)

    def _act(self, route: routes.Route, asked: Asked) -> bytes:
        subject = next(iter(asked.parts.values()), TENANT)
        action = asked.parts.get("use_case", route.name)
        try:
            answer = self._handlers()[route.name](asked)
        except Refusal as refusal:
            self._record(asked.person, action, subject, "refused", code=refusal.kind.code)
            raise
        if isinstance(answer, Claimed) and route is routes.CLAIM_NEXT:
            action, subject = routes.CLAIM.name, answer.item.id if answer.item else ""
        if subject:
            self._record(asked.person, action, subject, "done", **asked.reason())
        return _dumped(answer)

    def _handlers(self) -> Mapping[str, Handler]:
        return {
            "me": self._me,
            "colleagues": self._colleagues,
            "queues": lambda _: Queues(queues=tuple(self.stops.shown(each) for each in self.queues.queues)),
            "queue-totals": lambda asked: fake_totals.queue_totals(self.listing, asked.listing()),
            "queue-vocabulary": lambda asked: fake_totals.vocabulary(self.listing, asked.parts["queue"]),
            "queue-items": self._items,
            "item": lambda asked: self.queues.detail(self.queues.find(asked.parts["item"])),
            "explanation": lambda asked: fake_explanations.explanation(
                self.queues, self.queues.find(asked.parts["item"])
            ),
            "what-if": self._what_if,
            "claim": self._claim,
            "claim-next": self._claim_next,
            "renew-claim": self._renew,
            "release-claim": self._release,
            "break-claim": self._break,
            "act": self._run,
            **self.bulk.handlers(),
            **self.jobs.handlers(),
            **self.account.handlers(),
            **self.finding.handlers(),
            **self.acts.handlers(),
            **self.questions.handlers(),
            **self.stops.handlers(),
            **self.alarms.handlers(),
            **self.recoveries.handlers(),
            **self.trail.handlers(),
            "overview": self.overview.overview,
        }

    def _me(self, asked: Asked) -> Session:
        permissions = tuple(sorted(GRANTS[asked.role]))
        return Session(
            person=asked.person,
            tenants=(TenantRole(tenant=TENANT, name="Leeds", role=asked.role, permissions=permissions),),
            token_expires_at=self.time + timedelta(hours=12),
            deployment="fake",
            now=self.time,
        )

    def _colleagues(self, _asked: Asked) -> Colleagues:
        rows = (Colleague(id=person, name=name, role=role) for person, (name, role) in PEOPLE.items())
        return Colleagues(colleagues=tuple(sorted(rows, key=lambda row: row.name)))

    def _items(self, asked: Asked) -> ItemPage:
        return self.listing.page(asked.listing(), start=asked.query.get("start"), cursor=asked.query.get("cursor"))

    def _what_if(self, asked: Asked) -> Supposed:
        supposed = WhatIf.model_validate_json(asked.request.content)
        return fake_explanations.what_if(self.queues, self.queues.find(asked.parts["item"]), supposed)

    def _claim(self, asked: Asked) -> Claimed:
        row = self.queues.find(asked.parts["item"])
        self.stops.judge(row.queue.id)
        self.queues.claim(row, asked.person)
        return self._claimed(row)

    def _claim_next(self, asked: Asked) -> Claimed:
        order = ClaimNextOrder.model_validate_json(asked.request.content)
        self.stops.judge(asked.parts["queue"])
        for listed in self.listing.rows(asked.listing(order.filter)):
            if listed.holder is None:
                row = self.queues.find(listed.id)
                self.queues.claim(row, asked.person)
                return self._claimed(row)
        return Claimed(item=None, capped_at=None, as_of=self.time)

    def _renew(self, asked: Asked) -> Claimed:
        row = self.queues.find(asked.parts["item"])
        self.queues.renew(row, asked.person, HeldClaim.model_validate_json(asked.request.content).fence)
        return self._claimed(row)

    def _release(self, asked: Asked) -> Claimed:
        row = self.queues.find(asked.parts["item"])
        self.queues.release(row, asked.person, HeldClaim.model_validate_json(asked.request.content).fence)
        return self._claimed(row)

    def _break(self, asked: Asked) -> Claimed:
        row = self.queues.find(asked.parts["item"])
        order = BreakClaim.model_validate_json(asked.request.content)
        self.queues.take(row, asked.person, order.fence, order.reason)
        return self._claimed(row)

    def _claimed(self, row: FakeItem) -> Claimed:
        return Claimed(item=self.queues.shown(row), capped_at=self.queues.capped_at(row), as_of=self.time)

    def _run(self, asked: Asked) -> Acted:
        row = self.queues.find(asked.parts["item"])
        order = ActOrder.model_validate_json(asked.request.content)
        case = next((known for known in row.queue.use_cases if known.id == asked.parts["use_case"]), None)
        if case is None:
            raise Refusal(ErrorCode.NOT_FOUND, f"{row.queue.title} has no use case {asked.parts['use_case']}.")
        self.stops.judge(row.queue.id)
        self.queues.may_act(row, asked.person, order)
        if order.money_version != row.money_version:
            change = {"field": "version", "before": str(order.money_version), "after": str(row.money_version)}
            raise Refusal(ErrorCode.VERSION_CHANGED, "The item changed since you looked.", changes=[change])
        if case.moves is Moves.MONEY:
            raise Refusal(ErrorCode.NEEDS_PLAN, "Money moves only through a confirmed plan.")
        if row.state.closed:
            raise Refusal(ErrorCode.ITEM_CLOSED, f"The item is {row.state}.")
        if self.queues.state(row) not in case.states:
            raise Refusal(ErrorCode.USE_CASE_UNFIT, f"{case.title} is not possible: it is {self.queues.state(row)}.")
        check_inputs(case, order)
        sentence = self.queues.run(row, asked.person, case, order, self._fits)
        return Acted(outcome=OutcomeKind.DONE, sentence=sentence, item=self.queues.shown(row), as_of=self.time)

    def _fits(self, person: str) -> Person | None:
        if person not in PEOPLE or PEOPLE[person][1] is not Role.FINANCE:
            return None
        return Person(id=person, name=PEOPLE[person][0])

    def _record(self, person: Person | None, action: str, subject: str, outcome: str, **detail: str) -> None:
        entry = AuditEntry(
            id=len(self.audit) + 1,
            at=self.time,
            person=person,
            action=action,
            subject=subject,
            outcome=outcome,
            detail=detail,
        )
        self.audit.append(entry)

    def _hint(self, row: FakeItem) -> None:
        self._publish_hint(Topic.ITEM, row.queue.id, row.id, row.row_version)

    def _publish_hint(self, topic: Topic, queue: str, identifier: str, version: int) -> None:
        hint = Hint(topic=topic, tenant=TENANT, queue=queue, id=identifier, version=version)
        self._publish(EventName.HINTS, Hints(hints=(hint,)).model_dump_json())

    def _publish(self, name: EventName, data: str) -> None:
        position = len(self._events) + 1
        self._events.append(f"id: {position}\nevent: {name}\ndata: {data}\n\n".encode())
        self._wake()

    def _wake(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    def _stream(self, request: httpx.Request) -> httpx.Response:
        self._ended = False
        resumed = request.headers.get("Last-Event-ID")
        content = self._follow(int(resumed) if resumed is not None else len(self._events))
        return httpx.Response(200, headers={"Content-Type": "text/event-stream"}, content=content)

    async def _follow(self, position: int) -> AsyncIterator[bytes]:
        yield f'id: {position}\nevent: hints\ndata: {{"hints": []}}\n\n'.encode()
        while not self._ended:
            for event in self._events[position:]:
                yield event
                position += 1
            if position == len(self._events) and not self._ended:
                await self._news.wait()


def _dumped(answer: BaseModel) -> bytes:
    return answer.model_dump_json().encode()


def _json(status: int, body: bytes) -> httpx.Response:
    headers = {"Content-Type": "application/json", routes.REFERENCE_HEADER: "FAKE"}
    return httpx.Response(status, headers=headers, content=body)


def _problem(refusal: Refusal) -> httpx.Response:
    body = {
        "type": f"urn:jobconsole:{refusal.kind.code}",
        "title": refusal.kind.title,
        "status": refusal.kind.status,
        "code": refusal.kind.code,
        "detail": refusal.detail,
        "reference": "FAKE",
        **refusal.extra,
    }
    content = json.dumps(body).encode()
    return httpx.Response(refusal.kind.status, headers={"Content-Type": routes.PROBLEM_TYPE}, content=content)
