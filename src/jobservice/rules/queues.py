"""Owns what a queue and its use cases are, as values that records build and decisions read. No decisions of claims
here (`rules/claims.py`)."""

from __future__ import annotations

from dataclasses import dataclass

from jobcontract.states import ClaimMode, InputType, ItemState, Moves


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredInput:
    """One declared input of a use case or a queue's items."""

    name: str
    type: InputType
    title: str
    required: bool
    most: int | None = None
    """Most characters of a text; None = the system's own limit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UseCase:
    """A use-case record: what may be run on an item, in which states, with which inputs, and whether money moves."""

    id: str
    title: str
    moves: Moves
    states: frozenset[ItemState]
    inputs: tuple[DeclaredInput, ...]
    version: int = 1
    """Rises when what it does changes: a plan names the one it was made for."""
    audit_reason: str | None = None
    """The input that is the reason in the audit row of an act; None where the record says that there is none."""

    @property
    def verb(self) -> str:
        """The last part of the id: `payments.set-aside` -> `set-aside`."""
        return self.id.rpartition(".")[2]


@dataclass(frozen=True, slots=True, kw_only=True)
class Queue:
    """A queue record: its claim mode, what its items carry, what can be done to them, how long a claim lasts."""

    id: str
    title: str
    claim: ClaimMode
    money: bool
    inputs: tuple[DeclaredInput, ...]
    use_cases: tuple[UseCase, ...]
    lease_seconds: float
    score: str | None = None
    """Id of the rule that orders it; None: the oldest item is first (order-unscored-queues-by-age)."""

    def use_case(self, identifier: str) -> UseCase | None:
        """The use case of this queue with that id, or None."""
        return next((known for known in self.use_cases if known.id == identifier), None)
