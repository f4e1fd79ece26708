"""Owns how the question of an uncertain payout is written: what was sent, when, under which key, and what to do. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from jobconsole.present.columns import Line, Piece, Tone
from jobconsole.present.items import field, heading, held_by
from jobconsole.present.times import ago, both
from jobcontract.states import Turn

if TYPE_CHECKING:
    from jobconsole.present.items import Seen
    from jobcontract.items import Item, ItemDetail, TurnRecord


def asked_turn(payout: ItemDetail | None) -> TurnRecord | None:
    """What the plan did whose outcome nobody knows; once it is known, the last thing that a plan did."""
    turns = payout.turns if payout is not None else ()
    return next((turn for turn in turns if turn.turn is Turn.UNCERTAIN), next(iter(turns), None))


def asked_lines(item: Item, payout: ItemDetail | None, seen: Seen, keys: Mapping[str, str]) -> tuple[Line, ...]:
    """The question, what is known of the payout, and what the person does next."""
    if payout is None:
        return ((Piece("Was this paid?", Tone.WARN),), (Piece("Reading the payout …", Tone.QUIET),), ())
    turn = asked_turn(payout)
    lines: list[Line] = [(Piece("? Was this paid?", Tone.WARN),), field("payout", *heading(payout.item))]
    if turn is not None:
        lines += _turn_lines(turn, seen)
    lines += [field("id", Piece(payout.item.id, Tone.QUIET)), *_what_next(item, seen, keys), ()]
    return tuple(lines)


def _turn_lines(turn: TurnRecord, seen: Seen) -> list[Line]:
    sent = f"{both(turn.sent_at, seen.zone)}, {ago(turn.sent_at, seen.now)}" if turn.sent_at else "not known"
    told = field("answer", Piece(turn.sentence or "none came", Tone.WARN))
    return [
        field("key", Piece(turn.outward_key or "none", Tone.STRONG), Piece(" is how the bank knows it", Tone.QUIET)),
        field("sent", Piece(sent)),
        field("plan", Piece(f"{turn.plan.name}, {'yours' if turn.owner.id == seen.me else f'of {turn.owner.id}'}")),
        *([told] if turn.turn is Turn.UNCERTAIN else []),
    ]


def _what_next(item: Item, seen: Seen, keys: Mapping[str, str]) -> list[Line]:
    if item.state.closed:
        return [field("", Piece("It was answered.", Tone.GOOD))]
    look = "Look it up at the bank by that key."
    if not held_by(item, seen.me, seen.now):
        return [field("next", Piece(f"{look} {keys['item.claim']} claims it, so that you may answer."))]
    paid = f"{keys['payout.was-paid']} it was paid, {keys['payout.was-not-paid']} it was not paid."
    return [field("next", Piece(f"{look} Then {paid}"))]
