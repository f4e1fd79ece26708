"""Owns the words in which a recovery is confirmed: what each row does, of which schedules, how much is left out, what changed
since it was frozen. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jobconsole.present.columns import Line, Piece, Tone, joined
from jobconsole.present.frozen_changes import change_lines
from jobconsole.present.plans import PlanSeen
from jobconsole.present.recoveries import (
    DOES,
    money_lines,
    schedules_line,
    seconds_left,
)
from jobconsole.present.times import countdown, short
from jobcontract.operating import RecoveryAct

if TYPE_CHECKING:
    from jobcontract.plans import PlanChange
    from jobcontract.recoveries import Recovery


def confirm_lines(recovery: Recovery, undone: str, seen: PlanSeen, width: int) -> list[Line]:
    """What is confirmed: what each row does, of which schedules, how much is left out, how long it stays valid."""
    lines: list[Line] = [(Piece(DOES[recovery.act]),)]
    if recovery.act is not RecoveryAct.DISABLE:
        lines.append(schedules_line(recovery, undone, width))
    lines += money_lines(recovery, width)
    if recovery.disable_until is not None:
        lines.append((Piece(f"Enabled again by themselves: {short(recovery.disable_until, seen.zone, seen.now)}."),))
    if recovery.act in (RecoveryAct.REPLAY, RecoveryAct.REQUEUE, RecoveryAct.RETRY):
        most = f"At most {recovery.at_once:,} run at a time, the oldest first." if recovery.count > 1 else ""
        lines += [(Piece(most, Tone.QUIET),)] if most else []
    left_out = sum(each.count for each in recovery.left_out)
    left = seconds_left(recovery, seen.now)
    told = joined(
        [
            Piece(f"recovery {recovery.name}, valid {countdown(left)}", Tone.QUIET if left else Tone.WARN),
            Piece(f"{left_out:,} left out" if left_out else "", Tone.QUIET),
        ]
    )
    return [*lines, told]


def recovery_change_lines(changes: Sequence[PlanChange], anew: str) -> list[Line]:
    """What changed since it was frozen."""
    return change_lines(changes, "it", f"Nothing was done. {anew} makes a new recovery of the same set.")
