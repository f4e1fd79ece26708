"""Owns the wire models of human work queues: the queues, their use cases, their totals."""

from __future__ import annotations

from typing import Annotated

from pydantic import AwareDatetime, Field

from jobcontract.states import ClaimMode, InputType, ItemState, Moves
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
    waiting: int
    mine: int
    """Live claims of the person who asks."""
    set_aside: int
    unclaimed: int
    oldest_created: AwareDatetime | None
    totals: tuple[QueueCurrencyTotal, ...]
    """Of the waiting items; the currency with most items first."""
    as_of: AwareDatetime
