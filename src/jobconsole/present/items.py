"""Owns how one work item is written: cells of its row, its second line, and every line of its detail. Pure.

Amount, sign, currency and last four stand before the name and are never cut (MONEY.md 27). State is a symbol, a word
and a colour. What an item carries is data: it is written as it is, made safe where it is laid out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import TYPE_CHECKING

from jobconsole.present.amounts import account_text, amount_piece, amount_text, doubtful
from jobconsole.present.columns import Line, Piece, Tone, joined, width_of
from jobconsole.present.times import LAPSING_SECONDS, age, ago, both, countdown, short
from jobcontract.states import ClaimEnding, ClaimMode, ItemState, OutcomeKind, Turn

if TYPE_CHECKING:
    from jobcontract.items import ActRecord, ClaimRecord, Item, ItemDetail, PlanRef, TurnRecord

LABEL = 9
"""Cells of the label before each line of a detail."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """From where an item is looked at: by whom, when by the service's clock, in which zone, under which claim mode."""

    me: str
    now: datetime
    zone: tzinfo
    claim: ClaimMode
    scored: bool = False
    """Whether the queue has a rule, so that an item without a score waits for one."""


def left(item: Item, now: datetime) -> float | None:
    """Seconds that the present claim has left; None while nobody holds the item."""
    if item.holder is None or item.expires_at is None:
        return None
    seconds = (item.expires_at - now).total_seconds()
    return seconds if seconds > 0 else None


def held_by(item: Item, me: str, now: datetime) -> bool:
    """Whether the person's own claim on the item is live."""
    return item.holder is not None and item.holder.id == me and left(item, now) is not None


def state_piece(item: Item, seen: Seen) -> Piece:
    """Symbol and word of where the item stands: who holds it, or that it is free, set aside or closed."""
    if item.state is ItemState.REJECTED:
        return Piece("✗ rejected", Tone.BAD)
    if item.state is ItemState.RESOLVED:
        return Piece("✓ resolved", Tone.GOOD)
    if item.state is ItemState.RELEASED:
        return Piece("✓ released", Tone.GOOD)
    if item.plan is not None:
        return _plan_piece(item.plan)
    if item.set_aside_until is not None and item.set_aside_until > seen.now:
        return Piece(f"‖ until {short(item.set_aside_until, seen.zone, seen.now)}", Tone.QUIET)
    seconds = left(item, seen.now)
    if item.holder is None or seconds is None:
        return _free_piece(item, seen)
    mine = item.holder.id == seen.me
    if seconds < LAPSING_SECONDS:
        return Piece(f"▲ me {countdown(seconds)} lapsing" if mine else f"▲ {item.holder.id} lapsing", Tone.WARN)
    return Piece(f"◆ me {countdown(seconds)}", Tone.MINE) if mine else Piece(f"◆ {item.holder.id}", Tone.PLAIN)


def widest_state(item: Item, seen: Seen) -> str:
    """The widest text that `state_piece` may come to while nobody acts: what a column has to leave room for."""
    texts = [state_piece(item, seen).text]
    if item.holder is not None and not item.state.closed and item.plan is None:
        mine = item.holder.id == seen.me
        texts += ["○ free, lapsed", "▲ me 4:59 lapsing" if mine else f"▲ {item.holder.id} lapsing"]
    return max(texts, key=width_of)


def _plan_piece(plan: PlanRef) -> Piece:
    return Piece(f"◆ held by plan {plan.name}", Tone.MINE) if plan.held else Piece(f"◆ in plan {plan.name}", Tone.PLAIN)


def _free_piece(item: Item, seen: Seen) -> Piece:
    if seen.claim is ClaimMode.DISABLED:
        return Piece("○ open", Tone.FREE)
    return Piece("○ free, lapsed" if item.holder is not None else "○ free", Tone.FREE)


def name_of(item: Item) -> str:
    """What a row calls the item: its payee, else its title."""
    return item.payee.name if item.payee is not None else item.title


def verb_of(use_case: str) -> str:
    """The last part of a use case's id: `payments.set-aside` is `set-aside`."""
    return use_case.rpartition(".")[2]


def what_is_done(title: str, queue: str) -> str:
    """What an act does, for its dialog and its button: `Reject payout`; a title that is a phrase stays as it is."""
    if {"a", "an", "the", "for", "to"} & set(title.casefold().split()):
        return title
    noun = queue.rpartition(".")[2].replace("-", " ")
    return f"{title} {noun.removesuffix('s')}"


def input_text(name: str, value: bool | int | str | None) -> str:
    """A declared input in words: `invoice on file`, `no invoice on file`, `attempts 3`, `region unknown`."""
    words = name.replace("-", " ").replace("_", " ")
    if value is None:
        return f"{words} unknown"
    if isinstance(value, bool):
        return words if value else f"no {words}"
    return f"{words} {value}"


def inputs_of(item: Item, now: datetime) -> tuple[str, ...]:
    """What decides the item's place in the list and its urgency, in words: its age first."""
    texts = [age(item.created, now)]
    if item.amount is not None and item.amount.minor < 0:
        texts.append("credit")
    return (*texts, *_declared(item))


def _declared(item: Item) -> list[str]:
    asked = ["evidence asked"] if item.state is ItemState.EVIDENCE_ASKED else []
    return asked + [input_text(name, value) for name, value in item.inputs.items()]


def field(label: str, *pieces: Piece) -> Line:
    """One labelled line of a detail."""
    return (Piece(f"{label:<{LABEL}}", Tone.QUIET), *pieces)


def heading(item: Item) -> Line:
    """What the detail is about: amount, account, name."""
    if item.amount is None:
        return (Piece(item.title, Tone.STRONG),)
    amount = Piece(amount_text(item.amount), Tone.CREDIT if item.amount.minor < 0 else Tone.STRONG)
    return (
        amount,
        Piece("  "),
        Piece(account_text(item.payee), Tone.QUIET),
        Piece("  "),
        Piece(name_of(item), Tone.STRONG),
    )


def claim_line(item: Item, capped_at: datetime | None, seen: Seen, *, absolute: bool = False) -> Line:
    """Who holds the item until when, and how long that can be kept; `absolute` names the times in full."""
    if seen.claim is ClaimMode.DISABLED:
        return field("holder", Piece("no claims in this queue: the first act wins"))
    if item.plan is not None:
        return _plan_line(item, item.plan, seen, absolute=absolute)
    seconds = left(item, seen.now)
    if item.holder is None or item.expires_at is None:
        return field("holder", Piece("○ free", Tone.FREE))
    mine = item.holder.id == seen.me
    who = "you" if mine else f"{item.holder.id} ({item.holder.name})"
    if seconds is None:
        return field("holder", Piece(f"○ free: {'your' if mine else item.holder.id + '’s'} claim lapsed", Tone.FREE))
    lapsing = seconds < LAPSING_SECONDS
    tone = Tone.WARN if lapsing else Tone.MINE if mine else Tone.PLAIN
    parts = [Piece(f"{'▲' if lapsing else '◆'} {who}{', lapsing' if lapsing else ''}", tone)]
    until, cap = (
        (both(moment, seen.zone) if absolute else short(moment, seen.zone, seen.now)) if moment else ""
        for moment in (item.expires_at, capped_at)
    )
    parts.append(Piece(f"{countdown(seconds)} left, until {until}"))
    parts.append(Piece(f"at most until {cap}" if cap else "", Tone.QUIET))
    return field("holder", *joined(parts))


def _plan_line(item: Item, plan: PlanRef, seen: Seen, *, absolute: bool) -> Line:
    """Which plan has the item, whose it is, and until when an open one has it."""
    who = item.holder.id if item.holder is not None else ""
    whose = Piece(f"of {'you' if who == seen.me else who}" if who else "", Tone.QUIET)
    if plan.held:
        held = Piece(f"◆ held by plan {plan.name} until its turn", Tone.MINE)
        return field("holder", *joined([held, whose]))
    until = ""
    if item.expires_at is not None:
        when = both(item.expires_at, seen.zone) if absolute else short(item.expires_at, seen.zone, seen.now)
        until = f"free at {when} if not confirmed"
    return field("holder", *joined([Piece(f"◆ in plan {plan.name}"), whose, Piece(until)]))


def state_line(item: Item, seen: Seen) -> Line:
    """The item's state in words, with its instant where it has one."""
    if item.state.closed:
        return field("state", state_piece(item, seen))
    if item.set_aside_until is not None and item.set_aside_until > seen.now:
        until = f"set aside until {both(item.set_aside_until, seen.zone)}, {ago(item.set_aside_until, seen.now)}"
        return field("state", Piece("‖ ", Tone.QUIET), Piece(until))
    words = "evidence asked" if item.state is ItemState.EVIDENCE_ASKED else "open"
    return field("state", Piece(words))


def brief_lines(item: Item, detail: ItemDetail | None, seen: Seen) -> tuple[Line, ...]:
    """The detail beside the list: what decides, then who holds it, then what happened last."""
    lines = [
        field("age", *joined(_aged(item, seen))),
        claim_line(item, detail.capped_at if detail else None, seen),
        state_line(item, seen),
    ]
    if item.payee is not None:
        lines.append(field("payee", *joined([Piece(item.payee.name), Piece(f"id {item.payee.id}", Tone.QUIET)])))
    named = Piece(item.title) if item.title != name_of(item) else Piece("")
    lines.append(field("item", *joined([Piece(item.key or item.id), named])))
    if detail is None:
        return (*lines, field("", Piece("reading its history …", Tone.QUIET)))
    if detail.acts:
        lines.append(field("last act", *act_line(detail.acts[0], seen)))
    ended = next((record for record in detail.claims if record.ended_at is not None), None)
    if ended is not None:
        lines.append(field("claimed", *claim_record_line(ended, seen)))
    return tuple(lines)


def _aged(item: Item, seen: Seen) -> list[Piece]:
    aged, *rest = inputs_of(item, seen.now)
    dated = Piece(f"dated {short(item.created, seen.zone, seen.now)}", Tone.QUIET)
    return [Piece(aged), dated, *(Piece(text) for text in rest)]


def full_lines(detail: ItemDetail, seen: Seen) -> tuple[Line, ...]:
    """Everything of one item, for its own screen."""
    return (
        *_payment_lines(detail, seen),
        *_section("Claims", [_listed(claim_record_line(record, seen)) for record in detail.claims], "never claimed"),
        *_section(
            "Acts", [line for record in detail.acts for line in _act_lines(record, seen)], "nothing was done yet"
        ),
        *_turns(detail.turns, seen),
        *_section("Payload", payload_lines(detail.payload), "nothing was sent along"),
    )


def _payment_lines(detail: ItemDetail, seen: Seen) -> list[Line]:
    item = detail.item
    lines: list[Line] = []
    if item.amount is not None:
        doubt = doubtful(item.amount.currency, item.amount.exponent)
        kind = "credit: comes back" if item.amount.minor < 0 else "goes out"
        lines.append(field("amount", *joined([amount_piece(item.amount), Piece(kind, Tone.QUIET)])))
        if doubt is not None:
            lines.append(field("", Piece(doubt, Tone.BAD)))
    if item.payee is not None:
        payee = [Piece(account_text(item.payee)), Piece(item.payee.name), Piece(f"id {item.payee.id}", Tone.QUIET)]
        lines.append(field("payee", *joined(payee)))
    lines += [
        field("title", Piece(item.title)),
        field("key", Piece(item.key or "none of its own")),
        field("inputs", *joined(Piece(text) for text in inputs_of(item, seen.now))),
        field("dated", Piece(both(item.created, seen.zone))),
        state_line(item, seen),
        claim_line(item, detail.capped_at, seen, absolute=True),
        field("pushed", Piece(f"by {detail.pushed_by.id} {both(detail.pushed_at, seen.zone)}")),
        field(
            "changed",
            Piece(f"{both(detail.changed_at, seen.zone)}, {ago(detail.changed_at, seen.now)}"),
            Piece(f" · version {item.money_version}", Tone.QUIET),
        ),
        field("id", Piece(item.id, Tone.QUIET)),
    ]
    return lines


def _section(title: str, lines: Sequence[Line], empty: str) -> tuple[Line, ...]:
    return ((), (Piece(title, Tone.STRONG),), *(lines or [_listed((Piece(empty, Tone.QUIET),))]))


def _listed(line: Line) -> Line:
    return (Piece("  "), *line)


TURNS: Mapping[Turn, tuple[str, Tone]] = {
    Turn.NOT_STARTED: ("· not started", Tone.QUIET),
    Turn.RUNNING: ("▸ running", Tone.MINE),
    Turn.WAITING: ("↻ to be retried", Tone.WARN),
    Turn.DONE: ("✓ released", Tone.GOOD),
    Turn.REFUSED: ("✗ refused", Tone.BAD),
    Turn.FAILED: ("✗ failed", Tone.BAD),
    Turn.UNCERTAIN: ("? uncertain", Tone.WARN),
}
"""Symbol and word of an item's turn in a plan, with its tone."""


def _turns(turns: Sequence[TurnRecord], seen: Seen) -> tuple[Line, ...]:
    """What plans did about the item; nothing where none did."""
    return _section("Plans", [_listed(turn_line(turn, seen)) for turn in turns], "") if turns else ()


def turn_line(record: TurnRecord, seen: Seen) -> Line:
    """What one plan did about an item: whose plan, how it ended and when, what the outside world calls it."""
    word, tone = TURNS[record.turn]
    ended = f"{stamp(record.ended_at, seen)}" if record.ended_at is not None else ""
    return joined(
        [
            Piece(f"plan {record.plan.name}", Tone.STRONG),
            Piece(f"of {record.owner.id}"),
            Piece(word, tone),
            Piece(ended),
            Piece(record.sentence or ""),
            Piece(f"reference {record.reference}" if record.reference else "", Tone.QUIET),
        ]
    )


ENDINGS: Mapping[ClaimEnding, str] = {
    ClaimEnding.RELEASED: "given back",
    ClaimEnding.LAPSED: "lapsed",
    ClaimEnding.BROKEN: "broken",
    ClaimEnding.HANDED_OVER: "handed over",
    ClaimEnding.ACTED: "ended by an act",
}


def stamp(instant: datetime, seen: Seen) -> str:
    """An instant of a history: in the profile's zone with its name, and in UTC where that differs."""
    there = instant.astimezone(seen.zone)
    here = "" if not there.utcoffset() else f" ({instant.astimezone(UTC):%H:%M}Z)"
    return f"{short(instant, seen.zone, seen.now)} {there.tzname()}{here}"


def claim_record_line(record: ClaimRecord, seen: Seen) -> Line:
    """One claim of the history: who, from when to when, how it ended, by whom and why."""
    start = stamp(record.taken_at, seen)
    pieces = [Piece(record.holder.id, Tone.STRONG)]
    renewed = f"renewed {record.renewals}×" if record.renewals else ""
    if record.ending is None or record.ended_at is None:
        lapsed = record.expires_at <= seen.now
        words = "lapsed" if lapsed else "holds it, until"
        pieces.append(Piece(f"{start} – {words} {stamp(record.expires_at, seen)}"))
        return joined([*pieces, Piece(renewed, Tone.QUIET), Piece(f"claim {record.fence}", Tone.QUIET)])
    pieces.append(Piece(f"{start} – {stamp(record.ended_at, seen)}"))
    by = f" by {record.ended_by.id}" if record.ended_by is not None and record.ended_by.id != record.holder.id else ""
    ending = Piece(ENDINGS[record.ending] + by, Tone.WARN if record.ending is ClaimEnding.BROKEN else Tone.PLAIN)
    reason = Piece(f"“{record.reason}”" if record.reason else "", Tone.QUIET)
    return joined([*pieces, ending, reason, Piece(renewed, Tone.QUIET), Piece(f"claim {record.fence}", Tone.QUIET)])


OUTCOMES: Mapping[OutcomeKind, tuple[str, Tone]] = {
    OutcomeKind.DONE: ("✓ done", Tone.GOOD),
    OutcomeKind.REFUSED: ("✗ refused", Tone.BAD),
    OutcomeKind.RETRY: ("↻ to be retried", Tone.WARN),
    OutcomeKind.FAILED: ("✗ failed", Tone.BAD),
    OutcomeKind.UNCERTAIN: ("? uncertain", Tone.WARN),
}
"""Symbol and word of an outcome, with its tone."""


def act_line(record: ActRecord, seen: Seen) -> Line:
    """One act of the history: when, who, which use case, how it ended, in words."""
    word, tone = OUTCOMES[record.outcome]
    return joined(
        [
            Piece(stamp(record.at, seen)),
            Piece(f"{record.person.id} {verb_of(record.use_case)}", Tone.STRONG),
            Piece(word, tone),
            Piece(record.sentence),
        ]
    )


def _act_lines(record: ActRecord, seen: Seen) -> list[Line]:
    given = [f"{name} “{value}”" for name, value in record.inputs.items() if value is not None]
    lines = [_listed(act_line(record, seen))]
    return [*lines, (Piece("    "), *joined(Piece(text, Tone.QUIET) for text in given))] if given else lines


def payload_lines(payload: Mapping[str, object]) -> list[Line]:
    """What the application sent along, as data: one member a line, nested ones as JSON."""
    width = max((min(len(name), 24) for name in payload), default=0)
    lines: list[Line] = []
    for name, value in payload.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines.append((Piece(f"  {name:<{width}}  ", Tone.QUIET), Piece(text)))
    return lines
