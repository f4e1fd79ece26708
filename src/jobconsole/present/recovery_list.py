"""Owns the list of recoveries: its columns and the cells of a row. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from jobconsole.present.columns import Column, Piece, Tone
from jobconsole.present.plans import PlanSeen
from jobconsole.present.recoveries import (
    STATES,
    ended_count,
    seconds_left,
    state_now,
)
from jobconsole.present.times import ago, brief_span, countdown
from jobcontract.operating import RecoveryState
from jobcontract.states import Moves, Turn

if TYPE_CHECKING:
    from jobcontract.recoveries import Recovery


def recoveries_columns() -> tuple[Column, ...]:
    """The columns of the recoveries of a tenant."""
    return (
        Column(id="state", label="state", least=10, whole=True),
        Column(id="name", label="recovery", least=8, uncut=True, most=20, yields=5),
        Column(id="what", label="what", least=12, yields=1),
        Column(id="owner", label="owner", least=6, uncut=True, most=18, yields=2),
        Column(id="far", label="rows", least=5, right=True, uncut=True, most=18, yields=4),
        Column(id="odd", label="", least=1, uncut=True, most=14, yields=3),
        Column(id="when", label="when", least=8, uncut=True, most=18, yields=3),
    )


def recoveries_cells(recovery: Recovery, seen: PlanSeen) -> Mapping[str, Piece]:
    """The cells of one recovery's row by column id."""
    word, tone = STATES[state_now(recovery, seen.now)]
    mine = recovery.owner.id == seen.me
    far = f"{ended_count(recovery):,} of {recovery.count:,}" if recovery.account else f"{recovery.count:,}"
    return {
        "state": Piece(word, tone),
        "name": Piece(recovery.name, Tone.STRONG),
        "what": Piece(f"{'¤ ' if recovery.moves is Moves.MONEY else ''}{recovery.words}"),
        "owner": Piece("you" if mine else recovery.owner.id, Tone.MINE if mine else Tone.PLAIN),
        "far": Piece(far),
        "odd": _odd(recovery),
        "when": Piece(_when(recovery, seen), Tone.QUIET),
    }


def _odd(recovery: Recovery) -> Piece:
    bad = sum(each.count for each in recovery.account if each.turn in (Turn.FAILED, Turn.REFUSED, Turn.UNCERTAIN))
    return Piece(f"✗ {bad:,} not done" if bad else "", Tone.BAD)


def _when(recovery: Recovery, seen: PlanSeen) -> str:
    state = state_now(recovery, seen.now)
    if state is RecoveryState.OPEN:
        return f"valid {countdown(seconds_left(recovery, seen.now))}"
    if not state.ended and recovery.started_at is not None:
        return f"since {brief_span((seen.now - recovery.started_at).total_seconds())}"
    return ago(recovery.ended_at or recovery.expires_at, seen.now)
