"""Owns what a recovery does to one schedule when its row has its turn, and how what becomes of a row is told and kept in the
trail. Pace, order and account of rows: `recovering.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jobcontract.states import Turn
from jobservice.store import audit, hints, switches
from jobservice.store.database import Transaction
from jobservice.store.recoveries import LockedRecovery
from jobservice.store.recovering import NextRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """What became of a row's act."""

    turn: Turn
    sentence: str | None = None
    occurrence: str | None = None
    """What was made for it."""
    made: str | None = None
    """The job that was made for it."""


async def disable(transaction: Transaction, found: LockedRecovery, row: NextRow) -> Begun:
    """Switch a schedule off as the person who confirmed wanted it."""
    standing = await switches.lock(transaction, row.key)
    if standing is None:
        return Begun(turn=Turn.REFUSED, sentence=f"The records do not have {row.key} any more.")
    if standing["switched"] != row.row_version:
        sentence = f"{row.key} was switched off or on by a person since the recovery was frozen."
        return Begun(turn=Turn.REFUSED, sentence=sentence)
    now, until = standing["now"], found.disable_until
    if until is not None and until <= now:
        return Begun(turn=Turn.REFUSED, sentence="The time at which it was to be enabled again has passed.")
    # One whose time ran out is on, whatever its columns still say; of another version than was seen it is not touched.
    off = standing["disabled_at"] is not None and (
        standing["disabled_until"] is None or standing["disabled_until"] > now
    )
    if off:
        by = standing["disabled_by_name"]
        return Begun(turn=Turn.REFUSED, sentence=f"{row.key} is disabled already, by {by}.")
    written = await switches.disable(
        transaction,
        row.key,
        version=standing["version"],
        person=found.owner,
        reason=found.reason,
        until=until,
        off=False,
    )
    if not written:
        raise RuntimeError("a locked schedule is as it was read")
    detail = {
        "schedule": row.key,
        "before": {"disabled": False, "version": standing["version"]},
        "after": {
            "disabled": True,
            "until": None if until is None else until.isoformat(),
            "version": standing["version"] + 1,
        },
    }
    await audit.add(transaction, entry(found, "disable-schedule", row.key, detail))
    await hints.add_schedules(transaction, ((found.tenant, row.key),))
    return Begun(turn=Turn.DONE, sentence="Disabled.")


def entry(
    found: LockedRecovery, action: str, subject: str, detail: Mapping[str, object], *, by_itself: bool = False
) -> audit.NewEntry:
    """A row of the trail: in the name of who confirmed, unless the service did it by itself."""
    return audit.NewEntry(
        person=None if by_itself else found.owner,
        action=action,
        subject=subject,
        outcome="done",
        detail={**detail, "reason": found.reason, "recovery": found.id},
        reference=None,
    )
