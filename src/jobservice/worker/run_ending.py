"""Owns what a run says of itself at its end: how the attempt ended, and what the occurrence is to become. Writes nothing."""

from __future__ import annotations

from dataclasses import dataclass

from jobcontract.states import AttemptEnding, DeadCause, OccurrenceState
from jobservice.store.occurrence_items import ItemEnding


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """Items of an occurrence by outcome, over all its attempts; `unfinished` were selected and have no outcome yet."""

    done: int = 0
    refused: int = 0
    failed: int = 0
    """Uncertain ones too: nobody knows of them, and no machine tries again."""
    unfinished: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How one attempt ended. `state` is SCHEDULED where the occurrence is to be tried again, or was handed back.

    The counts and `position` are the occurrence's whole ones, as they are to stand in its row.
    """

    attempt: AttemptEnding
    state: OccurrenceState
    cause: DeadCause | None = None
    """Of a dead letter."""
    error: str | None = None
    """A sentence that is safe to show; None where there is nothing to say."""
    retry_after: float | None = None
    """Seconds until the next attempt, back-off and what a use case asked for included; None: at once, or never."""
    counts: Counts = Counts()
    position: str | None = None
    """Key of the last item that was selected."""
    selected_all: bool = False
    item: ItemEnding | None = None
    """Of a run that is its own item and did nothing in a transaction: how the item ended, to be written with all this."""
    label: str = ""
    """Of that item."""


class RunLost(Exception):
    """The lease is not ours any more: nothing is settled. What was to be written stands in `jobs.refused_completions`."""
