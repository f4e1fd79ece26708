"""Owns asking for a recovery of background jobs: the marked ones, or all that are listed, to be retried or cancelled; and
the retry of one that moves money, which is always a recovery. It is frozen and shown before anything is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from jobconsole.present.columns import Line, Piece, Tone
from jobconsole.present.job_acts import MONEY_FIRST, job_head
from jobconsole.present.job_filters import frozen_filter
from jobconsole.present.jobs import UNDER_WAY, UNRESOLVED, VIEWS, brief_count
from jobconsole.present.plans import counted
from jobconsole.screens.plan_seen import key_words
from jobconsole.screens.recovery_form import Asking
from jobconsole.screens.recovery_making import ask
from jobcontract.jobs import HERE
from jobcontract.operating import RecoveryAct
from jobcontract.recoveries import NAMED_MOST
from jobcontract.states import Moves

if TYPE_CHECKING:
    from jobconsole.screens.jobs_filter import JobsFilteringScreen
    from jobconsole.screens.plan_seen import SeenScreen
    from jobconsole.screens.shell import Handler
    from jobcontract.jobs import JobSummary

Marked = Callable[[], Sequence["JobSummary"]]


def plan_handlers(screen: JobsFilteringScreen, marked: Marked) -> Mapping[str, Handler]:
    """Commands that make a recovery of what is marked in the list, else of all that it lists."""
    return {
        "job.plan-retry": partial(plan, screen, RecoveryAct.RETRY, marked),
        "job.plan-cancel": partial(plan, screen, RecoveryAct.CANCEL, marked),
    }


async def plan(screen: JobsFilteringScreen, act: RecoveryAct, marked: Marked) -> None:
    """Asks for a reason, freezes the set and shows it."""
    chosen = marked()
    own = [job for job in chosen if job.source == HERE]
    if chosen and not own:
        screen.say("All that are marked are other engines' jobs: they are acted on there.", error=True)
        return
    if (why := _pointless(act, screen, own)) is not None:
        screen.say(why, error=True)
        return
    if len(own) > NAMED_MOST:
        screen.say(f"At most {NAMED_MOST:,} are marked; a filter takes more: U takes the marks away.", error=True)
        return
    if own:
        about = _marked_lines(own, len(chosen) - len(own))
        await ask(screen, Asking(act=act, jobs=tuple(job.id for job in own), about=about))
        return
    text = frozen_filter(screen.shown, screen.filter_text)
    if text is None:
        screen.say(
            f"The view and the filter both say what became of a job: {_view_key(screen)} shows another view.",
            error=True,
        )
        return
    if not text:
        screen.say("All jobs there are would be taken: a filter, or another view, says which.", error=True)
        return
    counts = screen.counts if screen.counted == screen.wanted else None
    listed = (
        ""
        if counts is None
        else f"{counts.listed.count:,} "
        if counts.listed.exact
        else f"({brief_count(counts.listed)}) "
    )
    view = VIEWS[screen.shown].words
    lines: tuple[Line, ...] = (
        (Piece(f"All {listed}that are listed", Tone.STRONG), Piece(f" ({view}), found once more when it is frozen:")),
        (Piece("/ ", Tone.QUIET), Piece(text, Tone.STRONG)),
    )
    await ask(screen, Asking(act=act, job_filter=text, about=lines))


async def retry_money(screen: SeenScreen, job: JobSummary) -> None:
    """Says that the retry of a job that moves money is a plan, and asks for the reason of its recovery."""
    lines = (*job_head(job, screen.at()), (Piece(MONEY_FIRST, Tone.WARN),))
    await ask(screen, Asking(act=RecoveryAct.RETRY, jobs=(job.id,), about=lines))


def _pointless(act: RecoveryAct, screen: JobsFilteringScreen, own: Sequence[JobSummary]) -> str | None:
    """Why nothing could go into the recovery, where that is plain before anybody types a reason; None where it is not."""
    settled = [job.status.final for job in own]
    if act is RecoveryAct.CANCEL:
        if own:
            return "All that are marked are settled: there is nothing to cancel." if all(settled) else None
        settled_all = f"All that are listed are settled: {_view_key(screen)} shows what is under way."
        return settled_all if screen.shown == UNRESOLVED else None
    if own:
        return None if any(settled) else "None of those that are marked is settled: there is nothing to retry."
    under_way = f"What is under way is not retried: {_view_key(screen)} shows other jobs."
    return under_way if screen.shown == UNDER_WAY else None


def _view_key(screen: JobsFilteringScreen) -> str:
    return key_words(screen, "job.view")["job.view"]


def _marked_lines(jobs: Sequence[JobSummary], left: int) -> tuple[Line, ...]:
    kinds = {job.kind: job.kind_label for job in jobs}
    money = sum(job.moves is Moves.MONEY for job in jobs)
    named = ", ".join(sorted(kinds.values())[:3]) + (" and more" if len(kinds) > 3 else "")
    lines: list[Line] = [(Piece(counted(len(jobs), "marked job"), Tone.STRONG), Piece(f": {named}"))]
    if money:
        lines.append((Piece(f"¤ {money:,} of them move money: those go in for finance alone.", Tone.WARN),))
    if left:
        lines.append((Piece(f"{left:,} of other engines are left out.", Tone.WARN),))
    return tuple(lines)
