"""Owns what confirming decides besides limits and codes: in which state what may be done to a plan, what is told of
items that changed, whether a confirmed plan waits armed (MONEY.md 12 to 14, 18, 20).

Pure: values in, sentences and states out. Never reads a clock, never sees a code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from jobcontract.items import Change
from jobcontract.plans import PlanChange
from jobcontract.states import PlanState
from jobservice.rules.bulk import BulkCommand
from jobservice.rules.items import Version, changes

CHANGED_TOLD = 50
"""Most items whose changes a refused confirmation tells."""
_SENTENCE_TOLD = 3
RUNS = frozenset({PlanState.ARMED, PlanState.APPLYING})
"""States in which items have, or will have, their turns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedRow:
    """A row of a plan that is no longer as it was frozen: what it showed, what the item is, whose the item is."""

    number: int
    item: str
    title: str
    before: Version
    after: Version
    claimed: bool
    """Whether the plan's own claim stands on it."""
    holder_name: str | None
    pushed_by_owner: bool
    changed_by_owner: bool


_STANDS: Mapping[PlanState, str] = {
    PlanState.OPEN: "is open: it has to be confirmed first",
    PlanState.ARMED: "is confirmed already: it is armed and starts at its time",
    PlanState.APPLYING: "is confirmed already, and is being applied",
    PlanState.PAUSED: "is confirmed already, and is paused",
    PlanState.DONE: "is confirmed already: every item has had its turn",
    PlanState.ABORTED: "was aborted",
    PlanState.LAPSED: "was confirmed, and its window has ended",
    PlanState.DROPPED: "was dropped",
    PlanState.VOIDED: "was voided",
    PlanState.EXPIRED: "has expired: nobody confirmed it in time. Make a new plan",
}


def state_sentence(name: str, state: PlanState) -> str:
    """Where the plan of that name stands, as the reason why something else is not possible."""
    return f"Plan {name} {_STANDS[state]}."


def told(row: ChangedRow) -> tuple[PlanChange, ...]:
    """Each field of a row that is not as the plan shows it, before and after; an account by its last four."""
    found = [*changes(row.before, row.after)]
    if not row.claimed:
        now = "free" if row.holder_name is None else f"held by {row.holder_name}"
        found.append(Change(field="claim", before="the plan's", after=now))
    if row.pushed_by_owner:
        found.append(Change(field="pushed by", before="another person", after="the plan's owner"))
    if row.changed_by_owner:
        found.append(Change(field="payment changed by", before="another person", after="the plan's owner"))
    if not found:
        found.append(Change(field="version", before=str(row.before.number), after=str(row.after.number)))
    return tuple(
        PlanChange(
            number=row.number,
            item=row.item,
            title=row.title,
            field=each.field,
            before=each.before,
            after=each.after,
        )
        for each in found
    )


def changed_sentence(all_told: Sequence[PlanChange], count: int) -> str:
    """What changed, in one sentence: the first of the fields, and how many items there are."""
    named = "; ".join(
        f"{each.number} {each.title}, {each.field}: {each.before} → {each.after}" for each in all_told[:_SENTENCE_TOLD]
    )
    items = "1 item is" if count == 1 else f"{count:,} items are"
    more = " and more" if len(all_told) > _SENTENCE_TOLD or count > _SENTENCE_TOLD else ""
    return f"{items} not as the plan shows: {named}{more}. Make a new plan."


def armed_until(command: BulkCommand, totals: Sequence[Mapping[str, Any]], now: datetime) -> datetime | None:
    """Until when a plan of these totals waits before it starts; None where it starts at once (MONEY.md 14)."""
    large = any(
        total["currency"] in command.armed_above and total["out_minor"] >= command.armed_above[total["currency"]]
        for total in totals
    )
    return now + timedelta(seconds=command.armed_seconds) if large and command.armed_seconds > 0 else None


def resumed_state(armed: datetime | None, now: datetime) -> PlanState:
    """The state that a resumed plan goes back to: what is left of its armed time still runs."""
    return PlanState.ARMED if armed is not None and armed > now else PlanState.APPLYING
