"""Owns the small service that tests of use cases work with: a queue a claim mode, a scored one, an application, people."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.items import (
    ActOrder,
    BreakClaim,
    ChangedItem,
    ClaimNextOrder,
    ClaimOrder,
    HeldClaim,
    NewAmount,
    NewItem,
    NewPayee,
)
from jobcontract.money import Money, show
from jobcontract.states import ClaimMode, ConfirmMethod, InputType, ItemState, Moves, Role, RuleInputType
from jobservice.application import (
    Application,
    Call,
    CannotScore,
    Outcome,
    Part,
    Score,
    ScoreInputs,
    WorkItem,
    done,
    refused,
    retry,
    score_of,
    uncertain,
)
from jobservice.records import RecordSet
from jobservice.rules.bulk import BulkCommand, Limits
from jobservice.rules.queues import DeclaredInput, Queue, UseCase
from jobservice.rules.scores import Rule, RuleInput
from jobservice.rules.settings import Settings
from jobservice.store.database import Database
from jobservice.usecases import acts, claims, items
from jobservice.usecases.actor import Actor
from jobservice.usecases.idempotency import Answered, Once
from jobservice.usecases.service import Service

LEASE = 60.0
TOTAL = 150.0
PAYOUTS, DISPUTES, NOTES, SCORED = "t.payouts", "t.disputes", "t.notes", "t.scored"
UNCERTAIN, RELEASE_MANY = "t.uncertain", "t.release-many"
WORKABLE = frozenset({ItemState.OPEN, ItemState.EVIDENCE_ASKED, ItemState.SET_ASIDE})

SETTINGS = Settings(
    claims_lease=LEASE,
    claims_total=TOTAL,
    claims_max=3,
    payload_most=1_048_576,
    idempotency_keep=86_400,
    hints_keep=3_600,
    streams_max=5,
    listings_max=4,
    plan_max_items=50_000,
    plan_open=3,
    plan_expiry=900,
    plan_window=14_400,
    plan_attempts=3,
    recovery_max_items=50_000,
    recovery_open=3,
    recovery_expiry=1_800,
    recovery_at_once=8,
    warnings_days=30 * 86_400,
    code_rest=0,
    occurrence_lease=30,
    worker_grace=20,
    worker_slots=16,
    alarm_late_after=120,
    alarm_missed_for=3_600,
    alarm_spike_least=10,
    alarm_spike_factor=5,
    alarm_silent_after=60,
    alarm_quiet_after=120,
    jobs_at_once=100,
    jobs_keep=7_776_000,
    plans_keep=31_536_000,
    notices_keep=7_776_000,
    alarms_keep=7_776_000,
    audit_keep=63_072_000,
)


def text(name: str, *, most: int | None = None, required: bool = True) -> DeclaredInput:
    return DeclaredInput(name=name, type=InputType.TEXT, title=name.title(), required=required, most=most)


REASON = text("reason", most=500)


def use_case(verb: str, *inputs: DeclaredInput, moves: Moves = Moves.NOTHING, states: Any = WORKABLE) -> UseCase:
    return UseCase(
        id=f"t.{verb}",
        title=verb.title(),
        moves=moves,
        states=frozenset(states),
        inputs=inputs,
        audit_reason="reason" if REASON in inputs else None,
    )


UNTIL = DeclaredInput(name="until", type=InputType.INSTANT, title="Until", required=True)
COLLEAGUE = DeclaredInput(name="colleague", type=InputType.PERSON, title="Colleague", required=True)
USE_CASES = (
    use_case("reject", REASON),
    use_case("set-aside", UNTIL, REASON),
    use_case("note", text("text", most=2_000)),
    use_case("hand-over", COLLEAGUE, REASON),
    use_case("ask-evidence", text("question", most=500), states={ItemState.OPEN}),
    use_case("release", moves=Moves.MONEY),
    use_case("odd", text("how", most=20)),
)


def queue(
    identifier: str,
    mode: ClaimMode,
    *,
    money: bool,
    inputs: tuple[DeclaredInput, ...] = (),
    score: str | None = None,
) -> Queue:
    return Queue(
        id=identifier,
        title=identifier.rpartition(".")[2].title(),
        claim=mode,
        money=money,
        inputs=inputs,
        use_cases=USE_CASES,
        lease_seconds=0.0 if mode is ClaimMode.DISABLED else LEASE,
        score=score,
    )


REFRESH = 60.0
PROOF = text("proof", most=20, required=False)
PAGES = DeclaredInput(name="pages", type=InputType.INTEGER, title="Pages", required=False)
URGENCY = Rule(
    id="t.urgency",
    title="Urgency",
    version=1,
    formula="50 from a large amount on, 2 a day of age, 10 without proof.",
    inputs=(
        RuleInput(name="amount", type=RuleInputType.MONEY, title="Amount", source="amount"),
        RuleInput(name="age", type=RuleInputType.AGE, title="Age", source="created", unit="days"),
        RuleInput(name="proof", type=RuleInputType.TEXT, title="Proof", source="input.proof"),
    ),
    refresh_seconds=REFRESH,
    thresholds={
        "GBP": {"large": Money(minor=100_000, currency="GBP")},
        "JPY": {"large": Money(minor=200_000, currency="JPY")},
    },
)


BULK = BulkCommand(
    id=RELEASE_MANY,
    title="Release payouts",
    queue=PAYOUTS,
    use_case="t.release",
    confirm_by=ConfirmMethod.TOTP,
    limits=Limits(
        item={"GBP": 1_000_000, "EUR": 1_000_000, "JPY": 100_000_000},
        plan={"GBP": 100_000_000, "EUR": 100_000_000, "JPY": 10_000_000_000},
        person={"GBP": 200_000_000, "EUR": 200_000_000, "JPY": 20_000_000_000},
        account={"GBP": 200_000_000, "EUR": 200_000_000, "JPY": 20_000_000_000},
        person_count=100_000,
        account_count=100_000,
    ),
    uncertain=UNCERTAIN,
)

RECORDS = RecordSet(
    queues={
        each.id: each
        for each in (
            queue(PAYOUTS, ClaimMode.REQUIRED, money=True, inputs=(text("invoice", most=40),)),
            queue(DISPUTES, ClaimMode.OPTIONAL, money=True),
            queue(NOTES, ClaimMode.DISABLED, money=False),
            queue(SCORED, ClaimMode.REQUIRED, money=True, inputs=(PROOF, PAGES), score=URGENCY.id),
            queue(UNCERTAIN, ClaimMode.REQUIRED, money=True),
        )
    },
    rules={URGENCY.id: URGENCY},
    use_cases={each.id: each for each in USE_CASES},
    settings=SETTINGS,
    bulk={BULK.id: BULK},
    digest="00",
)

application = Application("t", Path(__file__).parent)


@application.use_case("t.reject")
async def reject(call: Call, item: WorkItem, *, reason: str) -> Outcome:
    await call.close(ItemState.REJECTED)
    return done(f"Rejected: {reason}")


@application.use_case("t.set-aside")
async def set_aside(call: Call, item: WorkItem, *, until: datetime, reason: str) -> Outcome:
    await call.set_aside(until)
    return done(f"Set aside: {reason}")


@application.use_case("t.note")
async def note(call: Call, item: WorkItem, *, text: str) -> Outcome:
    return done(f"Noted: {text}")


@application.use_case("t.hand-over")
async def hand_over(call: Call, item: WorkItem, *, colleague: str, reason: str) -> Outcome:
    await call.hand_over(colleague)
    return done(f"Handed to {colleague}: {reason}")


@application.use_case("t.ask-evidence")
async def ask_evidence(call: Call, item: WorkItem, *, question: str) -> Outcome:
    await call.reopen(ItemState.EVIDENCE_ASKED)
    return done(question)


@application.use_case("t.release")
async def release(call: Call, item: WorkItem) -> Outcome:
    raise AssertionError("money moves without a plan")


@application.use_case("t.odd")
async def odd(call: Call, item: WorkItem, *, how: str) -> Outcome:
    """Ends as it is told: after it asked for an effect that only `done` may keep."""
    await call.close(ItemState.RESOLVED)
    if how == "raises":
        raise ZeroDivisionError("secret /path of the application")
    if how == "hangs":
        await asyncio.Event().wait()
    if how == "twice":
        await call.reopen(ItemState.OPEN)
    if how == "nothing":
        return None  # type: ignore[return-value]  # what a careless application does
    outcomes = {
        "refused": refused("The rules say no."),
        "retry": retry("Not now.", after_seconds=5),
        "uncertain": uncertain("Nobody knows.", reference="out-1"),
    }
    return outcomes.get(how, done("Closed."))


@application.rule(URGENCY.id, version=URGENCY.version)
def urgency(inputs: ScoreInputs, now: datetime) -> Score:
    """Scores, or does what careless rules do, as the proof says."""
    amount, days, proof = inputs.money("amount"), (now - inputs.since("age")).days, inputs.values["proof"]
    if proof == "raises":
        raise ZeroDivisionError("secret /path of the application")
    if proof == "cannot":
        raise CannotScore("the register does not know this proof")
    if proof == "lies":
        return Score(value=1, parts=())
    large = amount.minor >= inputs.thresholds["large"].minor
    return score_of(
        Part(input="amount", shown=show(amount), points=50 if large else 0, words="large" if large else "not large"),
        Part(input="age", shown=f"{days} days old", points=2 * days, words="2 a day"),
        Part(input="proof", shown=f"proof {proof}" if proof else "no proof", points=0 if proof else 10, words="proof"),
    )


_numbers = itertools.count(1)


def once(path: str = "/x", *, key: str | None = None, body: bytes = b"b", method: str = "POST") -> Once:
    """A request of its own, unless a key is given."""
    return Once(method=method, path=path, key=key or f"key-{next(_numbers)}", digest=body)


def payout(key: str, minor: int = 1_234, currency: str = "GBP", **more: Any) -> NewItem:
    return NewItem(
        key=key,
        title=f"Payout {key}",
        amount=NewAmount(minor=minor, currency=currency),
        payee=NewPayee(id="sup-1", name="A Supplier Ltd", account="GB29NWBK60161331926819"),
        **({"inputs": {"invoice": "INV-1"}} | more),
    )


@dataclass(slots=True)
class Desk:
    """A service with its people: each method is one request of one person."""

    service: Service
    people: Any
    numbers: Any = field(default_factory=lambda: itertools.count(1))

    def actor(self, person: str, **more: Any) -> Any:
        """The actor of one of the cast; anybody else is a finance clerk of acme."""
        if person.startswith("clerk-"):
            return Actor(person=person, tenant="acme", role=Role.FINANCE, **more)
        return self.people.actor(person, **more)

    def with_settings(self, **values: Any) -> Desk:
        """The same desk under other settings."""
        records = replace(self.service.records, settings=replace(self.service.records.settings, **values))
        return Desk(replace(self.service, records=records), self.people)

    async def push(self, queue: str = PAYOUTS, new: NewItem | None = None, *, by: str = "p.push") -> dict[str, Any]:
        """Push an item; it as it goes over the wire."""
        if new is None:
            key = f"K-{next(self.numbers)}"
            new = NewItem(key=key, title=key) if queue == NOTES else payout(key)
        if queue == DISPUTES or (queue == SCORED and "invoice" in new.inputs):
            new = new.model_copy(update={"inputs": {}})
        answered = await items.push_item(self.service, self.actor(by), queue, new, once())
        return dict(answered.body["item"])

    async def change(
        self, key: str, version: int, *, queue: str = SCORED, title: str | None = None, by: str = "p.push", **more: Any
    ) -> dict[str, Any]:
        """Put new content (as `payout` makes it) in place of an item's; it as it goes over the wire."""
        new = payout(key, **({"inputs": {}} | more))
        changed = ChangedItem(
            money_version=version,
            title=title or new.title,
            amount=new.amount,
            payee=new.payee,
            inputs=new.inputs,
            payload=new.payload,
        )
        pushed = await items.change_item(self.service, self.actor(by), queue, key, changed)
        return pushed.item.model_dump(mode="json")

    async def claim(self, person: str, item: str, request: Once | None = None) -> Answered:
        return await claims.claim(self.service, self.actor(person), item, ClaimOrder(), request or once())

    async def renew(self, person: str, item: str, fence: int) -> Answered:
        return await claims.renew_claim(self.service, self.actor(person), item, HeldClaim(fence=fence), once())

    async def release(self, person: str, item: str, fence: int) -> Answered:
        return await claims.release_claim(self.service, self.actor(person), item, HeldClaim(fence=fence), once())

    async def take_from(self, person: str, item: str, fence: int, reason: str = "They are ill") -> Answered:
        order = BreakClaim(fence=fence, reason=reason)
        return await claims.break_claim(self.service, self.actor(person), item, order, once())

    async def next(self, person: str, queue: str = PAYOUTS, request: Once | None = None) -> Answered:
        return await claims.claim_next(self.service, self.actor(person), queue, ClaimNextOrder(), request or once())

    async def act(
        self, person: str, item: dict[str, Any], verb: str, *, request: Once | None = None, **inputs: Any
    ) -> Answered:
        """Act under the version and fence that `item` shows: the fence where the person holds it there."""
        holds = item["holder"] is not None and item["holder"]["id"] == person
        order = ActOrder(money_version=item["money_version"], fence=item["fence"] if holds else None, inputs=inputs)
        return await acts.act(self.service, self.actor(person), item["id"], f"t.{verb}", order, request or once())

    async def detail(self, item: str, person: str = "m.ito") -> Any:
        return await items.read_item(self.service, self.actor(person), item)

    def audited(self) -> list[tuple[str | None, str, str]]:
        """(person, action, outcome) of every audit row, oldest first."""
        rows = self.people.connection.execute("select person, action, outcome from jobs.audit order by id")
        return [tuple(row) for row in rows.fetchall()]


def desk(database: Database, people: Any) -> Desk:
    """A desk over a database."""
    service = Service(database=database, records=RECORDS, application=application, deployment="test", act_seconds=0.3)
    return Desk(service, people)


def in_days(days: int, now: datetime) -> str:
    """An instant so many days after `now`, as text."""
    return (now + timedelta(days=days)).isoformat()


async def refused_with(kind: ErrorCode, awaitable: Any) -> Refusal:
    """The refusal of that code; AssertionError where it was another or none."""
    with pytest.raises(Refusal) as caught:
        await awaitable
    refusal = caught.value
    assert refusal.kind is kind, f"{refusal.kind.code}: {refusal.detail}"
    return refusal
