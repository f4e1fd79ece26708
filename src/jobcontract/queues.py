"""Owns the wire models of human work queues: the queues, their use cases, their totals."""

from __future__ import annotations

from typing import Annotated

from pydantic import AwareDatetime, Field

from jobcontract.states import ClaimMode, ConfirmMethod, InputType, ItemState, Moves
from jobcontract.wire import Answer


class UseCaseInput(Answer):
    """One input that a use case asks of the person."""

    name: str
    type: InputType
    title: str
    required: bool
    most: Annotated[int, Field(ge=1)] | None
    """Most characters of a text."""


class UseCase(Answer):
    """What can be done to an item of the queue. The last part of `id` is its verb (`payments.reject`: reject)."""

    id: str
    title: str
    moves: Moves
    states: tuple[ItemState, ...]
    """States of an item in which it may be run."""
    inputs: tuple[UseCaseInput, ...]


class BulkCommand(Answer):
    """What may be done to many items of the queue at once: plan, confirm, apply."""

    id: str
    title: str
    use_case: str
    confirm_by: ConfirmMethod | None
    """None where no code is needed: nothing moves."""
    most: int
    """Most items of one plan."""


class Queue(Answer):
    """A work queue as its record states it."""

    id: str
    title: str
    claim: ClaimMode
    money: bool
    """Whether its items carry an amount."""
    inputs: tuple[str, ...]
    """Names of the item inputs that every row shows."""
    use_cases: tuple[UseCase, ...]
    lease_seconds: int
    """How long a claim lasts without a key of its holder."""
    bulk: tuple[BulkCommand, ...] = ()
    uncertain_of: tuple[str, ...] = ()
    """Ids of the bulk commands whose uncertain outcomes wait in this queue for a person."""
    score: str | None = None
    """Id of the rule that orders it; None: the oldest item is first."""
    stopped: str | None = None
    """Who stopped it, when and why, as one sentence to stand beside its title, where a stop of it or of all work is in force: items still come
    in; nobody claims or acts."""


class Queues(Answer):
    """The queues of the tenant that the person may read, in the order of their titles."""

    queues: tuple[Queue, ...]


class QueueCurrencyTotal(Answer):
    """Sums of one currency in minor units: what goes out and what comes back, each with its count."""

    currency: str
    exponent: int
    out_minor: int
    out_count: int
    back_minor: int
    back_count: int


class QueueTotals(Answer):
    """What waits in a queue, counted at `as_of`; one total per currency and no grand total."""

    queue: str
    filter: str = ""
    """What was counted; every figure here is of the items that match it."""
    matching: int = 0
    """Items in the view that was asked for."""
    waiting: int
    mine: int
    """Live claims of the person who asks."""
    set_aside: int
    unclaimed: int
    oldest_created: AwareDatetime | None
    totals: tuple[QueueCurrencyTotal, ...]
    """Of the items in the view that was asked for; the currency with most items first."""
    exact: bool = True
    """False where more than 10,000 had to be counted: then the figures are those of `as_of`, which may be a while ago."""
    as_of: AwareDatetime


class FilterField(Answer):
    """A field that a filter of the queue may name, what kind of value it takes, and values to offer."""

    name: str
    """`amount`, `currency`, `holder`, `age`, `score`, `state`, `sort`, `input.NAME`."""
    type: str
    """`amount`, `age`, `score`, `word` (one of `values`), `text`, `integer`, `boolean`, `instant`, `person`."""
    title: str
    values: tuple[str, ...]
    """Values that its items have or may have, the most frequent first; never all there may be of a text."""


class Vocabulary(Answer):
    """What a filter of the queue may name."""

    queue: str
    fields: tuple[FilterField, ...]
    currencies: tuple[str, ...]
    """Currencies of its unfinished items; with one alone a filter on amount need not name it."""
    as_of: AwareDatetime
