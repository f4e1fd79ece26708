"""Owns how a recovery is shown before it is confirmed: its title and how long it is valid, whose it is and why, what it leaves
out. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobconsole.present.columns import Line, Piece, Tone, joined, plain, whole_pieces, width_of
from jobconsole.present.plans import PlanSeen, counted
from jobconsole.present.recoveries import STATES, act_words, over_line, reason_words, seconds_left, state_now
from jobconsole.present.times import countdown, short
from jobcontract.operating import LeftOut, RecoveryState
from jobcontract.states import Moves

if TYPE_CHECKING:
    from jobcontract.recoveries import Recovery

SOON_SECONDS = 60.0
"""From then on the time that is left is a warning."""


def preview_title(recovery: Recovery, seen: PlanSeen, width: int) -> Line:
    """`Replay 14 occurrences of 2 schedules · tern-42 · valid 29:41`."""
    named, valid = Piece(recovery.name, Tone.STRONG), _validity(recovery, seen)
    room = width - width_of(plain(joined([named, valid]))) - 3
    return whole_pieces([Piece(act_words(recovery, room), Tone.STRONG), named, valid], width)


def _validity(recovery: Recovery, seen: PlanSeen) -> Piece:
    state = state_now(recovery, seen.now)
    if state is not RecoveryState.OPEN:
        return Piece(*STATES[state])
    seconds = seconds_left(recovery, seen.now)
    if seconds < SOON_SECONDS:
        return Piece(f"▲ {countdown(seconds)} left", Tone.WARN)
    return Piece(f"valid {countdown(seconds)}")


def preview_lines(recovery: Recovery, seen: PlanSeen, fault: str, anew: str) -> list[Line]:
    """Whose it is and why, how far the reading is or why it cannot be confirmed, what became of it."""
    whose = "you" if recovery.owner.id == seen.me else recovery.owner.id
    lines: list[Line] = [(Piece(f"why ({whose}): ", Tone.QUIET), Piece(recovery.reason))]
    state = state_now(recovery, seen.now)
    if recovery.disable_until is not None:
        until = short(recovery.disable_until, seen.zone, seen.now)
        lines.append((Piece(f"enabled again by themselves at {until}", Tone.QUIET),))
    if state is not RecoveryState.OPEN:
        lines.append(over_line(recovery, seen, anew))
    elif fault:
        lines.append((Piece(f"✗ {fault}", Tone.BAD),))
    elif seen.checked < recovery.count:
        lines.append((Piece(f"checked {seen.checked:,} of {recovery.count:,}", Tone.WARN),))
    elif recovery.moves is Moves.MONEY:
        lines.append((Piece("✓ every row was checked; confirming takes the six digits from your phone", Tone.GOOD),))
    else:
        lines.append((Piece("✓ every row was checked", Tone.GOOD),))
    return lines


def left_out_line(recovery: Recovery, chosen: str, key: str, width: int) -> Line:
    """`[14 rows]  3 left out  tab  2 moves money · 1 not ended yet`: the lists, the chosen one in brackets."""
    total = sum(each.count for each in recovery.left_out)
    parts = (("rows", counted(recovery.count, "row")), ("left", f"{total:,} left out"))
    pieces: list[Piece] = []
    for name, text in parts:
        here = name == chosen
        pieces += [Piece(f"[{text}]" if here else text, Tone.STRONG if here else Tone.QUIET), Piece("  ")]
    head = (*pieces, Piece(key, Tone.MINE), Piece("  "))
    reasons = [
        Piece(f"{each.count:,} {reason_words(each.reason)}", Tone.WARN if each.reason is LeftOut.MONEY else Tone.QUIET)
        for each in recovery.left_out
    ]
    return (*head, *whole_pieces(reasons, width - width_of(plain(head))))
