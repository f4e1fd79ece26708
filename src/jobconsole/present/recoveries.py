"""Owns how a recovery is written: its title and sums, what it leaves out, how it is confirmed, how far it is, and the list
of all of them. Pure. The act is named by what it does, never "OK"; figures are never cut.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from jobconsole.present.amounts import doubtful
from jobconsole.present.columns import (
    Column,
    Line,
    Piece,
    Tone,
    joined,
    plain,
    whole_pieces,
    width_of,
    wrap_line,
    wrap_pieces,
)
from jobconsole.present.money import bar
from jobconsole.present.plan_progress import TURNS
from jobconsole.present.plans import PlanSeen, counted
from jobconsole.present.times import ago, brief_span, countdown, short
from jobcontract.money import sum_digits
from jobcontract.operating import LeftOut, RecoveryAct, RecoveryState
from jobcontract.states import Moves, Turn

if TYPE_CHECKING:
    from jobcontract.plans import PlanChange
    from jobcontract.recoveries import Recovery, RecoveryMoney

SOON_SECONDS = 60.0
SHOWN_CHANGES = 12
"""Most changed rows that a dialog lists; the rest are counted."""
STATES: Mapping[RecoveryState, tuple[str, Tone]] = {
    RecoveryState.OPEN: ("○ open", Tone.FREE),
    RecoveryState.APPLYING: ("▶ applying", Tone.MINE),
    RecoveryState.PAUSED: ("‖ paused", Tone.WARN),
    RecoveryState.DONE: ("✓ done", Tone.GOOD),
    RecoveryState.ABORTED: ("✗ aborted", Tone.BAD),
    RecoveryState.DROPPED: ("– dropped", Tone.QUIET),
    RecoveryState.EXPIRED: ("– expired", Tone.QUIET),
}
"""Sign and word of a recovery's state, with its tone."""
VERBS: Mapping[RecoveryAct, str] = {
    RecoveryAct.REPLAY: "Replay",
    RecoveryAct.REQUEUE: "Requeue",
    RecoveryAct.DISCARD: "Discard",
    RecoveryAct.DISABLE: "Disable",
    RecoveryAct.RETRY: "Retry",
    RecoveryAct.CANCEL: "Cancel",
}
NOUNS: Mapping[RecoveryAct, str] = {
    RecoveryAct.REPLAY: "occurrence",
    RecoveryAct.REQUEUE: "dead letter",
    RecoveryAct.DISCARD: "dead letter",
    RecoveryAct.DISABLE: "schedule",
    RecoveryAct.RETRY: "job",
    RecoveryAct.CANCEL: "job",
}
JOBS = frozenset({RecoveryAct.RETRY, RecoveryAct.CANCEL})
"""Acts whose rows are background jobs."""
DOES: Mapping[RecoveryAct, str] = {
    RecoveryAct.REPLAY: "Each runs again: its items that are not done, no others. Later ones run as planned.",
    RecoveryAct.REQUEUE: "Each runs again: its items that are not done, no others. Later ones run as planned.",
    RecoveryAct.DISCARD: "Each stays to be read, and asks for nothing any more. Nothing runs again.",
    RecoveryAct.DISABLE: "Each starts nothing new. What is claimed already goes on to its end; what is missed counts as such.",
    RecoveryAct.RETRY: "Each makes a new job of it, with the same inputs. What was retried or resolved meanwhile is passed over.",
    RecoveryAct.CANCEL: "Each is asked to end: what nobody began at once, what runs within a second or so. What settled meanwhile "
    "is passed over.",
}
"""What a recovery does to each of its rows, in a sentence."""
REASONS: Mapping[LeftOut, str] = {
    LeftOut.UNKNOWN: "unknown",
    LeftOut.NOT_ENDED: "not ended yet",
    LeftOut.NOT_DEAD: "no dead letter",
    LeftOut.DISCARDED: "discarded",
    LeftOut.REMOVED: "removed by retention",
    LeftOut.ALL_DONE: "all done",
    LeftOut.UNRUNNABLE: "not in the records",
    LeftOut.DISABLED: "disabled",
    LeftOut.SKIPPED: "skipped, not asked for",
    LeftOut.MONEY: "moves money",
    LeftOut.PERMISSION: "not permitted to you",
    LeftOut.NOT_SETTLED: "not settled yet",
    LeftOut.SETTLED: "settled already",
    LeftOut.SUCCEEDED: "succeeded",
    LeftOut.NOT_RETRYABLE: "not retried, by kind",
    LeftOut.RETRIED: "retried already",
    LeftOut.RESOLVED: "resolved",
    LeftOut.CANCEL_ASKED: "cancelled already",
    LeftOut.CARRIED: "carried by a plan",
    LeftOut.ELSEWHERE: "another engine's",
    LeftOut.IN_RECOVERY: "in another recovery",
    LeftOut.TAKEN_OUT: "taken out",
}


def reason_words(reason: LeftOut) -> str:
    """Why something is left out, in a word or two."""
    return REASONS.get(reason, reason.value.replace("-", " "))


def state_now(recovery: Recovery, now: datetime) -> RecoveryState:
    """Where it stands by the service's time: an open one whose time is over has expired."""
    over = recovery.state is RecoveryState.OPEN and recovery.expires_at <= now
    return RecoveryState.EXPIRED if over else recovery.state


def seconds_left(recovery: Recovery, now: datetime) -> float:
    """Seconds that an open one has left; not below zero."""
    return max(0.0, (recovery.expires_at - now).total_seconds())


def ended_count(recovery: Recovery) -> int:
    """How many of its rows had their turn."""
    return sum(each.count for each in recovery.account if each.turn.ended)


# What it does


def act_words(recovery: Recovery, width: int = 200) -> str:
    """`Replay 14 occurrences of 2 schedules`, shorter where that does not fit."""
    what = f"{VERBS[recovery.act]} {counted(recovery.count, NOUNS[recovery.act])}"
    if recovery.act is RecoveryAct.DISABLE or not recovery.schedules:
        return what
    one = recovery.schedules[0].title if len(recovery.schedules) == 1 and recovery.act in JOBS else ""
    one = one or (recovery.schedules[0].schedule if len(recovery.schedules) == 1 else "")
    whole = f"{what} of {one or counted(len(recovery.schedules), set_noun(recovery))}"
    return whole if width_of(whole) <= width else what


def set_noun(recovery: Recovery) -> str:
    """What its rows are counted by: schedules, or kinds of jobs."""
    return "kind" if recovery.act in JOBS else "schedule"


def money_text(money: RecoveryMoney) -> str:
    """`GBP 18,942.45 in 38`; after a question mark the minor units, where the decimals are in doubt."""
    if doubtful(money.currency, money.exponent) is not None:
        return f"{money.currency}?{money.out_minor:,} in {money.count:,}"
    return f"{money.currency} {sum_digits(money.out_minor, money.currency)} in {money.count:,}"


def money_lines(recovery: Recovery, width: int) -> list[Line]:
    """What confirmed plans hold and a replay tries again: a whole figure a currency."""
    if recovery.moves is not Moves.MONEY:
        return []
    if recovery.act in JOBS and not recovery.money:
        cancels = recovery.act is RecoveryAct.CANCEL
        none = "¤ Some of it moves money: what is not sent yet is not." if cancels else "¤ It moves money once more."
        return wrap_line((Piece(none, Tone.WARN),), width, indent=2)
    if not recovery.money:
        none = "¤ It moves money; no confirmed plan holds a payout that waits to be tried again."
        return wrap_line((Piece(none, Tone.WARN),), width, indent=2)
    told = [Piece("¤ tried again, as plans confirmed it", Tone.WARN)]
    return wrap_pieces([*told, *(Piece(money_text(each), Tone.STRONG) for each in recovery.money)], width)


def schedules_line(recovery: Recovery, undone: str, width: int) -> Line:
    """`1,204 items not done · statements.nightly 12 · payouts.rescore 2`, as many of them as fit whole."""
    if recovery.act is RecoveryAct.DISABLE:
        return (Piece(recovery.words, Tone.QUIET),)
    runs = recovery.act in (RecoveryAct.REPLAY, RecoveryAct.REQUEUE)
    items = Piece(undone, Tone.STRONG)
    told = [items if runs else Piece("")]
    for number, each in enumerate(recovery.schedules):
        mark = " ¤" if each.moves is Moves.MONEY else ""
        name = each.title if recovery.act in JOBS else each.schedule
        told.append(Piece(f"{name} {each.count:,}{mark}"))
        rest = len(recovery.schedules) - number
        if width_of(plain(joined(told))) > width:
            told[-1] = Piece(f"{rest:,} more {set_noun(recovery)}{'' if rest == 1 else 's'}", Tone.QUIET)
            break
    return whole_pieces(told, width)


# The preview


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
        lines.append(_over_line(recovery, seen, anew))
    elif fault:
        lines.append((Piece(f"✗ {fault}", Tone.BAD),))
    elif seen.checked < recovery.count:
        lines.append((Piece(f"checked {seen.checked:,} of {recovery.count:,}", Tone.WARN),))
    elif recovery.moves is Moves.MONEY:
        lines.append((Piece("✓ every row was checked; confirming takes the six digits from your phone", Tone.GOOD),))
    else:
        lines.append((Piece("✓ every row was checked", Tone.GOOD),))
    return lines


def _over_line(recovery: Recovery, seen: PlanSeen, anew: str) -> Line:
    word, tone = STATES[state_now(recovery, seen.now)]
    by = f" by {recovery.ended_by.id}" if recovery.ended_by is not None else ""
    why = f": {recovery.why}" if recovery.why else ""
    return (Piece(f"{word}{by}{why}", tone), Piece(f" Nothing of it was done. {anew} makes a new one of the same set."))


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


# Confirming


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


def change_lines(changes: Sequence[PlanChange], anew: str) -> list[Line]:
    """What changed since it was frozen: one line a field, before and now, and what to do."""
    rows = len({change.number for change in changes})
    lines: list[Line] = [(Piece(f"▲ {counted(rows, 'row')} changed since it was frozen:", Tone.WARN),)]
    for change in changes[:SHOWN_CHANGES]:
        lines.append(
            (
                Piece(f"{change.number:,} {change.field}  ", Tone.QUIET),
                Piece(change.before or "nothing", Tone.QUIET),
                Piece(" → ", Tone.QUIET),
                Piece(change.after or "nothing", Tone.STRONG),
                Piece(f"  {change.title}", Tone.QUIET),
            )
        )
    if len(changes) > SHOWN_CHANGES:
        lines.append((Piece(f"and {len(changes) - SHOWN_CHANGES:,} more", Tone.QUIET),))
    return [*lines, (Piece(f"Nothing was done. {anew} makes a new recovery of the same set."),)]


# Progress


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
        lines.append(_over_line(recovery, seen, keys["recovery.make-anew"]))
    if recovery.act in JOBS and recovery.why and recovery.state in (RecoveryState.APPLYING, RecoveryState.DONE):
        lines.append((Piece(f"▲ {recovery.why}", Tone.WARN),))  # how many jobs were not as they had been frozen
    return lines


# The list


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
