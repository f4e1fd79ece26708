"""Owns what an application is made of: its use cases, their outcomes, the call that each receives; its rules and scores.

An application registers functions here and keeps its records in a folder; it imports this module and `jobcontract`
only. Never imports the store, never decides about claims or permissions.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol

from jobcontract.ids import is_slug
from jobcontract.money import Money
from jobcontract.states import ItemState, OutcomeKind
from jobservice.application_jobs import FailedJob as FailedJob
from jobservice.application_jobs import FailureEffect as FailureEffect
from jobservice.application_jobs import JobSteps
from jobservice.application_jobs import NewJob as NewJob
from jobservice.application_jobs import OutwardStep as OutwardStep
from jobservice.application_jobs import Patience as Patience
from jobservice.application_jobs import PlanPayout as PlanPayout
from jobservice.application_jobs import StepCall as StepCall
from jobservice.application_jobs import StepOrder as StepOrder
from jobservice.application_scores import CannotScore as CannotScore
from jobservice.application_scores import Part as Part
from jobservice.application_scores import RegisteredRule as RegisteredRule
from jobservice.application_scores import Score as Score
from jobservice.application_scores import ScoreFunction as ScoreFunction
from jobservice.application_scores import ScoreInputs as ScoreInputs
from jobservice.application_scores import ScoreValue as ScoreValue
from jobservice.application_scores import score_of as score_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a use case ended: its kind and one sentence for people. Make one with the functions below."""

    kind: OutcomeKind
    sentence: str
    after_seconds: float | None = None
    """Of a retry: how long to wait."""
    reference: str | None = None
    """Of an uncertain outcome: the outward key to ask with; of one that is done: what the outside world calls it."""


def done(sentence: str, *, reference: str | None = None) -> Outcome:
    """It happened; `reference` is what the outside world calls it, like a bank's booking."""
    return Outcome(kind=OutcomeKind.DONE, sentence=sentence, reference=reference)


def refused(reason: str) -> Outcome:
    """The application's rules say no; nothing of it was done. The refusal itself is recorded."""
    return Outcome(kind=OutcomeKind.REFUSED, sentence=reason)


def retry(sentence: str, *, after_seconds: float) -> Outcome:
    """Not now; try again after some seconds."""
    return Outcome(kind=OutcomeKind.RETRY, sentence=sentence, after_seconds=after_seconds)


def failed(error: str) -> Outcome:
    """It went wrong; the sentence is safe to show."""
    return Outcome(kind=OutcomeKind.FAILED, sentence=error)


def uncertain(sentence: str, *, reference: str) -> Outcome:
    """Nobody knows whether it happened outside; no machine tries again (MONEY.md 4)."""
    return Outcome(kind=OutcomeKind.UNCERTAIN, sentence=sentence, reference=reference)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewPayment:
    """The money side of an item to push: what goes to whom."""

    money: Money
    payee_id: str
    payee_name: str
    account: str
    """Destination account, letters and digits; shown as its last four."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewWorkItem:
    """A work item to push. `key` is unique in the tenant for ever; `created` is UTC, None = now."""

    key: str
    title: str
    created: datetime | None = None
    payment: NewPayment | None = None
    inputs: Mapping[str, str | int | bool] = field(default_factory=dict)
    payload: Mapping[str, object] = field(default_factory=dict)
    customer: str | None = None
    workspace: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkItem:
    """An item as a use case sees it, locked for the length of its transaction."""

    id: str
    queue: str
    key: str | None
    title: str
    created: datetime
    state: ItemState
    payment: NewPayment | None
    inputs: Mapping[str, str | int | bool]
    money_version: int


class Call(Protocol):
    """What a use case may do to its item, inside its own transaction; nothing is visible before it commits."""

    @property
    def tenant(self) -> str:
        """The one tenant of this call."""

    @property
    def person(self) -> str:
        """Who acts."""

    @property
    def now(self) -> datetime:
        """The database's clock when the item was locked, UTC."""

    async def set_aside(self, until: datetime) -> None:
        """Keep the item out of the waiting list until then, and end the claim."""

    async def reopen(self, state: ItemState) -> None:
        """Leave the item open in `state` (open or evidence-asked)."""

    async def close(self, state: ItemState) -> None:
        """End the item as rejected or resolved, and end the claim."""

    async def hand_over(self, colleague: str) -> None:
        """Give the claim to a colleague with a raised fence; Refusal COLLEAGUE_UNFIT where they cannot take it."""


UseCaseFunction = Callable[..., Awaitable[Outcome]]
"""`async def reject(call: Call, item: WorkItem, *, reason: str) -> Outcome`: keyword inputs as the record declares; of a
job `async def send(call: JobCall, item: JobItem) -> Outcome`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OutwardOrder:
    """What goes out for one item: its outward key is equal in every plan and every retry (MONEY.md 3)."""

    key: str
    tenant: str
    item: WorkItem


class Outward(Protocol):
    """The outside half of a use case: the one call, and the question what became of it (MONEY.md 3).

    The Worker commits that the item was *sent* before it calls, and the outcome after. Neither function sees a
    transaction; neither logs an account.
    """

    async def send(self, order: OutwardOrder) -> Outcome:
        """Make the call, once. `retry` only where it is certain that nothing happened outside; raise, or give
        `uncertain`, where nobody knows: then the Worker asks with `look_up`, and calls no second time."""

    async def look_up(self, key: str) -> Outcome | None:
        """What the outside world knows of that key: done or refused; None where it never heard of it. Raises where
        there was no answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobItem:
    """One item that a run selected: `key` is unique in the run, and in a job with a cursor its place in the order.

    `given` is what the use case needs to know of it: plain JSON, kept with the run, so neither secrets nor accounts.
    """

    key: str
    label: str
    """What people see of it."""
    given: Mapping[str, str | int | bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """A payout that went out: what a selection may know of it."""

    item: str
    queue: str
    at: datetime
    money: Money
    payee_id: str
    payee_name: str


class Selecting(Protocol):
    """What a selection may look at, in a read-only transaction of one tenant."""

    @property
    def tenant(self) -> str:
        """The one tenant of this run."""

    @property
    def schedule(self) -> str:
        """Id of the schedule."""

    @property
    def scheduled_at(self) -> datetime:
        """The instant that the run is for, UTC: decide by it and never by now, so that every attempt selects alike."""

    @property
    def previous_at(self) -> datetime | None:
        """The instant of the rhythm before it, UTC."""

    async def released(self, *, since: datetime, until: datetime, after: str | None, limit: int) -> Sequence[Released]:
        """Payouts released in [since, until), in the order of their time and id; `after` is the key that `release_key`
        gives one."""

    async def waiting(self, queue: str, *, after: str | None, limit: int) -> Sequence[WorkItem]:
        """Waiting items of a queue in the order of their ids; `after` is an id."""


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def release_key(released: Released) -> str:
    """The place of a release in their order, as a key of an item: its time in microseconds, and its item."""
    return f"{(released.at - _EPOCH) // timedelta(microseconds=1):016d}-{released.item}"


SelectionFunction = Callable[[Selecting, str | None, int], Awaitable[Sequence[JobItem]]]
"""`async def paid_suppliers(selecting, after, limit)`: at most `limit` items behind the key `after` (None = from the
first), in a stable order; empty at the end. Called batch by batch, and again where a run goes on after a crash."""


class JobCall(Protocol):
    """What the use case of a job may do for one item, inside its own transaction; nothing is visible before it commits."""

    @property
    def tenant(self) -> str:
        """The one tenant of this call."""

    @property
    def schedule(self) -> str:
        """Id of the schedule."""

    @property
    def scheduled_at(self) -> datetime:
        """The instant that the run is for, UTC."""

    @property
    def attempt(self) -> int:
        """Which attempt at this item it is, from 1."""

    @property
    def now(self) -> datetime:
        """The database's clock when the item was locked, UTC."""

    @property
    def scope(self) -> str:
        """The idempotency scope: the occurrence's identity and the item's key, equal in every attempt and replay."""

    async def push(self, queue: str, item: NewWorkItem) -> str:
        """Push a work item without money; its id. Where its business key was used before, the id of that one: done."""

    async def wait(self, seconds: float) -> None:
        """Wait; cancelling and the duration bound end it at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Companion:
    """A process that an example needs beside API and Worker, like a bank: started by `jobservice dev` alone.

    `python -m MODULE ARGUMENTS --until-stdin-closes`, where `{data}` stands for a folder of its own and `{port}` for a
    free port of this machine, the same over its restarts. It prints the JSON line `{"event": "ready"}`; the Worker gets
    `http://127.0.0.1:PORT` as the environment variable `variable`.
    """

    name: str
    module: str
    arguments: tuple[str, ...]
    variable: str


class Inbox(Protocol):
    """Pushes items inside a transaction that the application opened on its own connection."""

    async def push(self, connection: Any, tenant: str, queue: str, item: NewWorkItem, pusher: str) -> str:
        """Add the item; its id. Joins the open transaction and commits nothing.

        Refusal KEY_TAKEN where the business key was used before, INVALID_REQUEST where the content is not right.
        """


class Seeder(Protocol):
    """Puts example content into a fresh demo: called by `jobservice dev` alone."""

    async def __call__(
        self,
        now: datetime,
        push: Callable[[str, str, Sequence[NewWorkItem]], Awaitable[int]],
        submit: Callable[[str, Sequence[NewJob]], Awaitable[int]],
    ) -> Sequence[str]:
        """Push through `push(tenant, queue, items) -> how many were new`, submit jobs without money through
        `submit(tenant, jobs) -> how many were new`; sentences that say what was loaded.

        `now` is the database's clock, UTC: what example dates are counted from.
        """


class Application(JobSteps):
    """An application: its name, its folder of records, and the use cases registered under their ids."""

    def __init__(self, name: str, records: Path) -> None:
        if not is_slug(name):
            raise ValueError(f"{name!r} is not a name like payments")
        super().__init__()
        self.name = name
        self.records = records
        self.use_cases: dict[str, UseCaseFunction] = {}
        self.rules: dict[str, RegisteredRule] = {}
        self.selections: dict[str, SelectionFunction] = {}
        self.outwards: dict[str, Outward] = {}
        self.companions: tuple[Companion, ...] = ()
        self.seeder: Seeder | None = None
        self._inbox: Inbox | None = None

    def use_case(self, identifier: str) -> Callable[[UseCaseFunction], UseCaseFunction]:
        """Register the decorated function under the id of its record; ValueError where that id is taken."""

        def register(function: UseCaseFunction) -> UseCaseFunction:
            if identifier in self.use_cases:
                raise ValueError(f"{identifier} is registered twice")
            self.use_cases[identifier] = function
            return function

        return register

    def rule(self, identifier: str, *, version: int) -> Callable[[ScoreFunction], ScoreFunction]:
        """Register the decorated function as that version of a calculation rule; ValueError where the id is taken."""

        def register(function: ScoreFunction) -> ScoreFunction:
            if identifier in self.rules:
                raise ValueError(f"{identifier} is registered twice")
            self.rules[identifier] = RegisteredRule(version=version, function=function)
            return function

        return register

    def selection(self, identifier: str) -> Callable[[SelectionFunction], SelectionFunction]:
        """Register the decorated function as the selection of that id; ValueError where the id is taken."""

        def register(function: SelectionFunction) -> SelectionFunction:
            if identifier in self.selections:
                raise ValueError(f"{identifier} is registered twice")
            self.selections[identifier] = function
            return function

        return register

    def outward(self, identifier: str, outward: Outward) -> None:
        """Register the outside half of the use case of that id; ValueError where it has one."""
        if identifier in self.outwards:
            raise ValueError(f"the outside half of {identifier} is registered twice")
        self.outwards[identifier] = outward

    def connect(self, inbox: Inbox) -> None:
        """Give the application its way to push; done once, by the process that loads it."""
        self._inbox = inbox

    async def push(self, connection: Any, *, tenant: str, queue: str, item: NewWorkItem, pusher: str) -> str:
        """Push `item` inside the caller's open transaction on `connection`; the item's id (see `Inbox.push`)."""
        if self._inbox is None:
            raise RuntimeError(f"application {self.name} is not loaded by a service process yet")
        return await self._inbox.push(connection, tenant, queue, item, pusher)
