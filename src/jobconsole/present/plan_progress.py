"""Owns how a confirmed plan is written while it runs and after: its bar and pace, its account by outcome, who stopped
it and why, its rows. Pure; what is left of the time is an estimate and is called one.

The account adds up to what was planned, in count and per currency (MONEY.md 4); where it does not, that is said.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from jobconsole.present.amounts import account_text, amount_piece
from jobconsole.present.columns import Column, Line, Piece, Tone, fit, joined, plain, width_of, wrap_pieces
from jobconsole.present.jobs import RESOLUTIONS, status_word
from jobconsole.present.money import STATES, bar, ended_count, stopped_words
from jobconsole.present.plans import counted, state_now, sum_of
from jobconsole.present.times import both, brief_span, countdown, short
from jobcontract.money import MINUS
from jobcontract.states import PlanState, Turn

if TYPE_CHECKING:
    from jobconsole.present.plans import PlanSeen
    from jobcontract.jobs import JobSummary
    from jobcontract.plans import Plan, PlanItem, PlanTotal, Stop

TURNS: Mapping[Turn, tuple[str, Tone]] = {
    Turn.DONE: ("✓ done", Tone.GOOD),
    Turn.REFUSED: ("✗ refused", Tone.BAD),
    Turn.FAILED: ("✗ failed", Tone.BAD),
    Turn.UNCERTAIN: ("? uncertain", Tone.WARN),
    Turn.WAITING: ("↻ waiting", Tone.WARN),
    Turn.RUNNING: ("▸ running", Tone.MINE),
    Turn.NOT_STARTED: ("· not started", Tone.QUIET),
}
"""Symbol and word of each turn with its tone, in the order of the account."""
TURN_CELLS = max(width_of(word) for word, _ in TURNS.values())
BAR_LEAST, BAR_MOST = 8, 60
PACE_SECONDS = 30.0
"""How far back the pace looks."""
PACE_LEAST = 1.0
"""Seconds that it takes to tell a pace at all."""


class Pace:
    """How fast items have their turn, by what was told lately. Instants are the service's."""

    def __init__(self) -> None:
        self._told: deque[tuple[datetime, int]] = deque()

    def tell(self, at: datetime, ended: int) -> None:
        """So many had their turn by then."""
        if self._told and (at < self._told[-1][0] or ended < self._told[-1][1]):
            self._told.clear()
        self._told.append((at, ended))
        while len(self._told) > 2 and (at - self._told[1][0]).total_seconds() > PACE_SECONDS:
            self._told.popleft()

    def a_second(self, now: datetime) -> float | None:
        """Items a second; None while it cannot be told."""
        if len(self._told) < 2:
            return None
        (first, before), (last, after) = self._told[0], self._told[-1]
        # Nothing told for long is a pace too: it falls.
        seconds = max((last - first).total_seconds(), (now - first).total_seconds() - PACE_LEAST)
        return (after - before) / seconds if seconds >= PACE_LEAST and after > before else None

    def forget(self) -> None:
        """What was before a pause tells nothing of what comes after it."""
        self._told.clear()


# The heading


def progress_title(plan: Plan, seen: PlanSeen, width: int) -> Line:
    """`Release payouts · plan lark-42 of m.ito` at the left, where it stands at the right."""
    word, tone = STATES[state_now(plan, seen.now)]
    whose = "yours" if plan.owner.id == seen.me else f"of {plan.owner.id}"
    room = width - width_of(word) - 2
    named = Piece(f"plan {plan.name}", Tone.STRONG)
    for pieces in ([Piece(plan.title, Tone.STRONG), named, Piece(whose, Tone.QUIET)], [named, Piece(whose)], [named]):
        left = joined(pieces)
        if width_of(plain(left)) <= room:
            break
    return (*left, Piece(" " * max(2, width - width_of(plain(left)) - width_of(word))), Piece(word, tone))


def bar_line(plan: Plan, pace: float | None, width: int) -> Line:
    """`███████▌░░░  29 of 42 · 3.1 a second · about 4 s left`; no pace and no estimate while none is known."""
    ended = ended_count(plan)
    told = [f"{ended:,} of {plan.count:,}"]
    running = plan.state is PlanState.APPLYING and pace is not None
    if running and pace is not None:
        told += [_pace_words(pace), f"about {brief_span((plan.count - ended) / pace)} left (estimate)"]
    for words in (told, [told[0], *[each.replace(" (estimate)", "") for each in told[1:]]], told[:2], told[:1]):
        text = " · ".join(words)
        if width - width_of(text) - 2 >= BAR_LEAST:
            break
    cells = min(BAR_MOST, max(BAR_LEAST, width - width_of(text) - 2))
    bad = any(each.count for each in plan.account if each.turn in (Turn.FAILED, Turn.REFUSED, Turn.UNCERTAIN))
    tone = Tone.WARN if bad else Tone.GOOD if ended == plan.count else Tone.MINE
    part = ended / plan.count if plan.count else 0.0
    return (Piece(bar(part, cells), tone), Piece("  "), Piece(text, Tone.STRONG))


def _pace_words(pace: float) -> str:
    return f"{pace:.1f} a second" if pace >= 1 else f"{max(1, round(pace * 60))} a minute"


# The account


@dataclass(frozen=True, slots=True, kw_only=True)
class Accounted:
    """One line of the account."""

    word: str
    tone: Tone
    count: int
    amounts: tuple[str, ...]


def account_of(plan: Plan) -> list[Accounted]:
    """Every turn that some item is in, then what was planned."""
    told = {each.turn: each for each in plan.account}
    rows = [
        Accounted(word=word, tone=tone, count=told[turn].count, amounts=moved_words(told[turn].totals))
        for turn, (word, tone) in TURNS.items()
        if turn in told and told[turn].count
    ]
    return [*rows, Accounted(word="= planned", tone=Tone.STRONG, count=plan.count, amounts=moved_words(plan.totals))]


def moved_words(totals: Iterable[PlanTotal]) -> tuple[str, ...]:
    """`GBP 11,020.40`, `GBP 18,942.45, back 542.45`, `−GBP 542.45`: one text a currency."""
    return tuple(_moved(total) for total in totals)


def _moved(total: PlanTotal) -> str:
    if not total.back_count:
        return f"{total.currency} {sum_of(total, total.out_minor)}"
    if not total.out_count:
        return f"{MINUS}{total.currency} {sum_of(total, total.back_minor)}"
    return f"{total.currency} {sum_of(total, total.out_minor)}, back {sum_of(total, total.back_minor)}"


def account_lines(plan: Plan, width: int, *, brief: bool = False) -> list[Line]:
    """The account, one outcome a line with its figures under each other; `brief`: as few lines as it takes."""
    rows = account_of(plan)
    if brief:
        return wrap_pieces([Piece(_brief(row), row.tone) for row in rows], width) + _doubt(plan)
    counts = max(width_of(f"{row.count:,}") for row in rows)
    lines: list[Line] = []
    for row in rows:
        start = f"{fit(row.word, TURN_CELLS)} {fit(f'{row.count:,}', counts, right=True)}  "
        room = max(12, width - width_of(start))
        amounts = wrap_pieces([Piece(text, Tone.STRONG) for text in row.amounts], room, " + ") or [()]
        lines.append((Piece(start, row.tone), *amounts[0]))
        lines += [(Piece(" " * width_of(start)), *more) for more in amounts[1:]]
    return lines + _doubt(plan)


def _brief(row: Accounted) -> str:
    return " ".join([row.word, f"{row.count:,}", " + ".join(row.amounts)])


def adds_up(plan: Plan) -> bool:
    """Whether every planned item, and every sum of it, is in the account exactly once."""
    sums: dict[str, tuple[int, int]] = {}
    for each in plan.account:
        for total in each.totals:
            out, back = sums.get(total.currency, (0, 0))
            sums[total.currency] = out + total.out_minor, back + total.back_minor
    planned = {total.currency: (total.out_minor, total.back_minor) for total in plan.totals}
    return sum(each.count for each in plan.account) == plan.count and sums == planned


def _doubt(plan: Plan) -> list[Line]:
    if not plan.account or adds_up(plan):
        return []
    words = "The outcomes do not add up to what was planned. Do not release again; tell whoever runs the service."
    return [(Piece(f"✗ {words}", Tone.BAD),)]


# Where it stands


def progress_lines(
    plan: Plan, stop: Stop | None, seen: PlanSeen, keys: Mapping[str, str], *, brief: bool = False
) -> list[Line]:
    """What keeps it from going on or what became of it, in sentences. `keys`: command id to its key. `brief`: without
    the end of its window, and without who stopped money, which stands above every place."""
    state = state_now(plan, seen.now)
    told = _STANDINGS[state](plan, seen, keys)
    if not brief and state.confirmed:
        told += _window(plan, seen)
    if stop is not None and state.confirmed and not brief:
        words = stopped_words(stop, seen.zone, seen.now)
        told = [(Piece(f"■ {words}", Tone.BAD), Piece(f" · {keys['money.start']} starts it again")), *told]
    return told + _uncertain_lines(plan, keys)


def _armed(plan: Plan, seen: PlanSeen, keys: Mapping[str, str]) -> list[Line]:
    left = (plan.armed_until - seen.now).total_seconds() if plan.armed_until is not None else 0.0
    starts = f"◔ starts in {countdown(left)}, abort until then ({keys['plan.abort']})" if left > 0 else "◔ starts now"
    return [(Piece(starts, Tone.WARN),)]


def _applying(plan: Plan, seen: PlanSeen, keys: Mapping[str, str]) -> list[Line]:  # noqa: ARG001  one form for all
    return []


def _paused(plan: Plan, seen: PlanSeen, keys: Mapping[str, str]) -> list[Line]:
    why = Piece(f"‖ paused by {_who(plan, seen)}: {_sentence(plan)}", Tone.WARN)
    how = f"{keys['plan.resume']} resumes it with a fresh code, the owner's or of a second finance person"
    return [(why,), (Piece(how),)]


def _window(plan: Plan, seen: PlanSeen) -> list[Line]:
    if plan.apply_until is None:
        return []
    left = (plan.apply_until - seen.now).total_seconds()
    ends = f"its window ends {short(plan.apply_until, seen.zone, seen.now)}, in {brief_span(left)}"
    return [(Piece(f"{ends}: what had no turn by then is given back", Tone.QUIET),)]


def _done(plan: Plan, seen: PlanSeen, keys: Mapping[str, str]) -> list[Line]:  # noqa: ARG001  one form for all
    return [(Piece(f"✓ Every item had its turn{_ended_words(plan, seen)}. {in_words(plan)}", Tone.GOOD),)]


def _aborted(plan: Plan, seen: PlanSeen, keys: Mapping[str, str]) -> list[Line]:  # noqa: ARG001  one form for all
    why = f"✗ Aborted by {_who(plan, seen)}{_ended_words(plan, seen)}: {_sentence(plan)} "
    return [(Piece(why, Tone.BAD), Piece(in_words(plan)))]


def _lapsed(plan: Plan, seen: PlanSeen, keys: Mapping[str, str]) -> list[Line]:  # noqa: ARG001  one form for all
    why = f"✗ Its window ended before every item had its turn{_ended_words(plan, seen)}. "
    return [(Piece(why, Tone.BAD), Piece(in_words(plan)))]


def _open(plan: Plan, seen: PlanSeen, keys: Mapping[str, str]) -> list[Line]:  # noqa: ARG001  one form for all
    left = (plan.expires_at - seen.now).total_seconds()
    return [(Piece(f"○ Open: nothing of it runs until its owner confirms it. Valid {countdown(left)}."),)]


def _over(plan: Plan, seen: PlanSeen, keys: Mapping[str, str]) -> list[Line]:  # noqa: ARG001  one form for all
    word = STATES[state_now(plan, seen.now)][0].partition(" ")[2]
    why = f": {_sentence(plan)}" if plan.reason else "."
    by = f" by {_who(plan, seen)}" if plan.ended_by is not None else ""
    return [
        (Piece(f"– It is {word}{by}{_ended_words(plan, seen)}{why} It was never confirmed: nothing was released."),)
    ]


_STANDINGS = {
    PlanState.OPEN: _open,
    PlanState.ARMED: _armed,
    PlanState.APPLYING: _applying,
    PlanState.PAUSED: _paused,
    PlanState.DONE: _done,
    PlanState.ABORTED: _aborted,
    PlanState.LAPSED: _lapsed,
    PlanState.DROPPED: _over,
    PlanState.VOIDED: _over,
    PlanState.EXPIRED: _over,
}


def in_words(plan: Plan) -> str:
    """`38 done, 1 refused, 1 uncertain, 2 had no turn and are free again.`"""
    words = {
        Turn.DONE: "done",
        Turn.REFUSED: "refused",
        Turn.FAILED: "failed",
        Turn.UNCERTAIN: "uncertain",
        Turn.WAITING: "still waiting",
        Turn.RUNNING: "still running",
    }
    counts = {each.turn: each.count for each in plan.account}
    told = [f"{counts[turn]:,} {word}" for turn, word in words.items() if counts.get(turn)]
    if left := counts.get(Turn.NOT_STARTED, 0):
        told.append(f"{left:,} had no turn and {'is' if left == 1 else 'are'} free again")
    return f"{', '.join(told)}." if told else ""


def under_way(plan: Plan) -> int:
    """How many items are running now."""
    return sum(each.count for each in plan.account if each.turn is Turn.RUNNING)


def uncertain_count(plan: Plan) -> int:
    """How many of its items nobody knows the outcome of."""
    return sum(each.count for each in plan.account if each.turn is Turn.UNCERTAIN)


def _uncertain_lines(plan: Plan, keys: Mapping[str, str]) -> list[Line]:
    found = next((each for each in plan.account if each.turn is Turn.UNCERTAIN and each.count), None)
    if found is None:
        return []
    what = f"{counted(found.count, 'payout')} of {' + '.join(moved_words(found.totals))}"
    told = f"? {what} {'is' if found.count == 1 else 'are'} uncertain: a person asks the bank."
    return [(Piece(told, Tone.WARN), Piece(f" {keys['plan.review']} → review", Tone.MINE))]


def job_line(job: JobSummary, key: str) -> Line:
    """`→ Bank file: ✗ failed, mended by a retry · o opens it`: the job that the end of the plan submitted."""
    word, tone = status_word(job)
    mended = f", {RESOLUTIONS[job.resolution]}" if job.resolution is not None else ""
    return (Piece(f"→ {job.kind_label}: "), Piece(f"{word}{mended}", tone), Piece(f" · {key} opens it"))


def _who(plan: Plan, seen: PlanSeen) -> str:
    if plan.ended_by is None:
        return "the service"
    return "you" if plan.ended_by.id == seen.me else plan.ended_by.id


def _sentence(plan: Plan) -> str:
    reason = (plan.reason or "no reason was given").rstrip()
    return reason if reason.endswith((".", "!", "?")) else f"{reason}."


def _ended_words(plan: Plan, seen: PlanSeen) -> str:
    if plan.ended_at is None:
        return ""
    took = ""
    if plan.started_at is not None and plan.state is PlanState.DONE:
        took = f" after {brief_span((plan.ended_at - plan.started_at).total_seconds())}"
    return f" at {short(plan.ended_at, seen.zone, seen.now)}{took}"


# Rows


def turn_columns(*, wide: bool) -> tuple[Column, ...]:
    """The columns of a plan's rows while it runs; a wide screen has room for what the item is about."""
    about = Column(id="about", label="about", least=14, most=28, yields=1)
    return (
        Column(id="turn", label="turn", least=TURN_CELLS, whole=True),
        Column(id="amount", label="amount", least=6, right=True, whole=True),
        Column(id="account", label="acct", least=5, whole=True),
        Column(id="name", label="payee", least=10, most=34 if wide else 18, yields=3),
        *((about,) if wide else ()),
        Column(id="told", label="how it ended", least=12, yields=2),
    )


def turn_cells(row: PlanItem) -> Mapping[str, Piece]:
    """The cells of one row by column id."""
    word, tone = TURNS[row.turn]
    return {
        "turn": Piece(word, tone),
        "amount": amount_piece(row.amount),
        "account": Piece(account_text(row.payee), Tone.QUIET),
        "name": Piece(row.payee.name),
        "about": Piece(row.title, Tone.QUIET),
        "told": Piece(row.sentence or "", Tone.QUIET if row.turn is Turn.DONE else Tone.PLAIN),
    }


def turn_lines(row: PlanItem, seen: PlanSeen) -> list[Line]:
    """Everything of the row under the cursor: what is paid to whom, then how its turn ended, in full."""
    word, tone = TURNS[row.turn]
    paid = (
        amount_piece(row.amount),
        Piece("  "),
        Piece(account_text(row.payee), Tone.QUIET),
        Piece("  "),
        Piece(row.payee.name, Tone.STRONG),
        Piece(f" · {row.title}", Tone.QUIET),
    )
    when = both(row.ended_at, seen.zone) if row.ended_at is not None else ""
    tries = f"tried {counted(row.attempts, 'time')}" if row.attempts > 1 else ""
    reference = f"reference {row.reference}" if row.reference else ""
    told = [Piece(word, tone), Piece(row.sentence or "")]
    return [paid, joined([*told, *(Piece(text, Tone.QUIET) for text in (reference, tries, when))])]


def rows_line(loaded: int, plan: Plan, *, ended: bool, width: int) -> Line:
    """How the rows are ordered, and how many of them are loaded."""
    how = "what needs a look first, then what had no turn" if ended else "what needs a look first, then by number"
    many = counted(plan.count, "row") if loaded >= plan.count else f"first {loaded:,} of {counted(plan.count, 'row')}"
    for text in (f"{many} · {how}", many):
        if width_of(text) <= width:
            break
    return (Piece(text, Tone.QUIET),)
