"""Owns how a recovery is shown while it is applied and after: how far it is, every outcome counted, what keeps it or came of it.
Pure; figures are never cut.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from jobconsole.present.columns import Line, Piece, Tone, joined, plain, whole_pieces, width_of, wrap_pieces
from jobconsole.present.money import bar
from jobconsole.present.plan_progress import TURNS
from jobconsole.present.plans import PlanSeen, counted
from jobconsole.present.recoveries import (
    JOBS,
    STATES,
    act_words,
    ended_count,
    over_line,
    state_now,
)
from jobconsole.present.times import brief_span, short
from jobcontract.operating import RecoveryState
from jobcontract.states import Moves, Turn

if TYPE_CHECKING:
    from jobcontract.recoveries import Recovery


def progress_title(recovery: Recovery, seen: PlanSeen, width: int) -> Line:
    """`Replay 14 occurrences of 2 schedules · tern-42 of o.lind` at the left, where it stands at the right."""
    word, tone = STATES[state_now(recovery, seen.now)]
    whose = "yours" if recovery.owner.id == seen.me else f"of {recovery.owner.id}"
    room = width - width_of(word) - 2
    named = Piece(recovery.name, Tone.STRONG)
    fit = room - width_of(plain(joined([named, Piece(whose)]))) - 3
    left = whole_pieces([Piece(act_words(recovery, fit), Tone.STRONG), named, Piece(whose, Tone.QUIET)], room)
    return (*left, Piece(" " * max(2, width - width_of(plain(left)) - width_of(word))), Piece(word, tone))


def bar_line(recovery: Recovery, width: int) -> Line:
    """`███████░░░  9 of 14`."""
    ended = ended_count(recovery)
    text = f"{ended:,} of {recovery.count:,}"
    cells = min(60, max(8, width - width_of(text) - 2))
    bad = any(each.count for each in recovery.account if each.turn in (Turn.FAILED, Turn.REFUSED, Turn.UNCERTAIN))
    tone = Tone.WARN if bad else Tone.GOOD if ended == recovery.count else Tone.MINE
    part = ended / recovery.count if recovery.count else 0.0
    return (Piece(bar(part, cells), tone), Piece("  "), Piece(text, Tone.STRONG))


def account_line(recovery: Recovery, width: int) -> list[Line]:
    """Every turn that some row is in, then what was planned: they add up, or it is said that they do not."""
    counts = {each.turn: each.count for each in recovery.account}
    pieces = [Piece(f"{word} {counts[turn]:,}", tone) for turn, (word, tone) in TURNS.items() if counts.get(turn)]
    pieces = [Piece(each.text.removeprefix("· "), each.tone) for each in pieces]  # that sign parts them already
    lines = wrap_pieces([*pieces, Piece(f"= {counted(recovery.count, 'row')}", Tone.STRONG)], width)
    if sum(counts.values()) != recovery.count:
        lines.append((Piece("✗ The outcomes do not add up to the rows: tell whoever runs the service.", Tone.BAD),))
    return lines


def progress_lines(recovery: Recovery, seen: PlanSeen, keys: Mapping[str, str]) -> list[Line]:
    """Why it was made, what keeps it from going on or what came of it."""
    lines: list[Line] = [(Piece("why: ", Tone.QUIET), Piece(recovery.reason))]
    who = "the service" if recovery.ended_by is None else recovery.ended_by.id
    who = "you" if recovery.ended_by is not None and recovery.ended_by.id == seen.me else who
    why = f": {recovery.why}" if recovery.why else ""
    ended = "" if recovery.ended_at is None else f" at {short(recovery.ended_at, seen.zone, seen.now)}"
    if recovery.state is RecoveryState.PAUSED:
        takes = "a reason and a fresh code" if recovery.moves is Moves.MONEY else "a reason"
        lines.append(
            (
                Piece(f"‖ paused by {who}{why}", Tone.WARN),
                Piece(f" · {keys['recovery.resume']} resumes it with {takes}"),
            )
        )
    elif recovery.state is RecoveryState.DONE:
        took = ""
        if recovery.started_at is not None and recovery.ended_at is not None:
            took = f" after {brief_span((recovery.ended_at - recovery.started_at).total_seconds())}"
        lines.append((Piece(f"✓ Every row had its turn{ended}{took}.", Tone.GOOD),))
    elif recovery.state is RecoveryState.ABORTED:
        stop = "" if why.endswith((".", "?", "!")) else "."
        gone_on = Piece(" What had begun goes on to its end.")
        lines.append((Piece(f"✗ Aborted by {who}{ended}{why}{stop}", Tone.BAD), gone_on))
    elif recovery.state is not RecoveryState.APPLYING:
        lines.append(over_line(recovery, seen, keys["recovery.make-anew"]))
    if recovery.act in JOBS and recovery.why and recovery.state in (RecoveryState.APPLYING, RecoveryState.DONE):
        lines.append((Piece(f"▲ {recovery.why}", Tone.WARN),))  # how many jobs were not as they had been frozen
    return lines
