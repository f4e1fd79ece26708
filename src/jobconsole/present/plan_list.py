"""Owns how the plans of a tenant are listed: where each stands, whose it is, how far it is, what it moves. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from jobconsole.present.columns import Column, Piece, Tone
from jobconsole.present.money import STATES, ended_count
from jobconsole.present.plan_progress import TURNS, moved_words
from jobconsole.present.plans import state_now
from jobconsole.present.times import ago, countdown, short
from jobcontract.states import PlanState, Turn

if TYPE_CHECKING:
    from jobconsole.present.plans import PlanSeen
    from jobcontract.plans import Plan


def plans_columns() -> tuple[Column, ...]:
    """The columns of the plans of a tenant; their totals stand under each."""
    return (
        Column(id="state", label="state", least=10, whole=True),
        Column(id="name", label="plan", least=8, uncut=True, most=24, yields=5),
        Column(id="what", label="what", least=10, yields=1),
        Column(id="owner", label="owner", least=6, uncut=True, most=20, yields=2),
        Column(id="far", label="items", least=5, right=True, uncut=True, most=20, yields=4),
        Column(id="when", label="when", least=8, uncut=True, most=26, yields=3),
    )


def plans_cells(plan: Plan, seen: PlanSeen) -> Mapping[str, Piece]:
    """The cells of one plan's row by column id."""
    word, tone = STATES[state_now(plan, seen.now)]
    mine = plan.owner.id == seen.me
    confirmed = plan.confirmed_at is not None
    return {
        "state": Piece(word, tone),
        "name": Piece(plan.name, Tone.STRONG),
        "what": Piece(plan.title),
        "owner": Piece("you" if mine else plan.owner.id, Tone.MINE if mine else Tone.PLAIN),
        "far": Piece(f"{ended_count(plan):,} of {plan.count:,}" if confirmed else f"{plan.count:,}"),
        "when": Piece(plan_when(plan, seen), Tone.WARN if plan.state is PlanState.ARMED else Tone.QUIET),
    }


def plan_when(plan: Plan, seen: PlanSeen) -> str:
    """Until when it is valid or runs; of an ended one how long ago that was."""
    state, now = state_now(plan, seen.now), seen.now
    if state is PlanState.OPEN:
        return f"valid {countdown((plan.expires_at - now).total_seconds())}"
    if state is PlanState.ARMED and plan.armed_until is not None:
        return f"starts in {countdown((plan.armed_until - now).total_seconds())}"
    if state.confirmed and plan.apply_until is not None:
        return f"until {short(plan.apply_until, seen.zone, now)}"
    return ago(plan.ended_at or plan.expires_at, now)


def plans_under(plan: Plan) -> Sequence[Piece]:
    """What one plan moves: a whole text a currency, and what needs a look."""
    odd = {Turn.UNCERTAIN: Tone.WARN, Turn.FAILED: Tone.BAD, Turn.REFUSED: Tone.BAD}
    bad = [
        Piece(f"{TURNS[each.turn][0]} {each.count:,}", odd[each.turn])
        for each in plan.account
        if each.turn in odd and each.count
    ]
    answer = [Piece(f"▲ {plan.to_answer:,} to answer", Tone.WARN)] if plan.to_answer and not plan.account else []
    return [*(Piece(text) for text in moved_words(plan.totals)), *bad, *answer]
