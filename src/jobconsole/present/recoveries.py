"""Owns the words of a recovery: where it stands, what it does to how many, the money in it. Pure. The act is named by what it
does, never "OK"; figures are never cut. What stands on its screens: `recovery_preview`, `recovery_confirm`,
`recovery_progress`, `recovery_list`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from jobconsole.present.amounts import doubtful
from jobconsole.present.columns import (
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
from jobconsole.present.plans import PlanSeen, counted
from jobcontract.money import sum_digits
from jobcontract.operating import LeftOut, RecoveryAct, RecoveryState
from jobcontract.states import Moves

if TYPE_CHECKING:
    from jobcontract.recoveries import Recovery, RecoveryMoney

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
    RecoveryAct.RETRY: "A new job is made of each, with the same inputs. What was retried or resolved meanwhile is passed over.",
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


def over_line(recovery: Recovery, seen: PlanSeen, anew: str) -> Line:
    """How one that ended before it was confirmed did, and which key makes a new one."""
    word, tone = STATES[state_now(recovery, seen.now)]
    by = f" by {recovery.ended_by.id}" if recovery.ended_by is not None else ""
    why = f": {recovery.why}" if recovery.why else ""
    return (Piece(f"{word}{by}{why}", tone), Piece(f" Nothing of it was done. {anew} makes a new one of the same set."))
