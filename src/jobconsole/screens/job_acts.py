"""Owns acting on one background job from a screen: cancelling, retrying, resolving with a reason, revealing its inputs,
submitting one, and copying what is to be told. Many at once are a recovery, and so is the retry of one that moves money.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from jobconsole.client import jobs as client
from jobconsole.commands.situation import SelectedJob
from jobconsole.present.job_acts import (
    cancel_lines,
    resolve_lines,
    retried_words,
    retry_lines,
    reveal_lines,
    submitted_words,
    unsubmittable,
)
from jobconsole.present.job_summary import customer_sentences
from jobconsole.screens.acts import WHY, acted, command_of, where_of
from jobconsole.screens.choose import Choice, ChooseScreen
from jobconsole.screens.job_submit import SubmitForm
from jobconsole.screens.job_summary import SummaryScreen
from jobconsole.screens.jobs_making import retry_money
from jobconsole.screens.order_form import Given, Order, asked
from jobconsole.screens.plan_seen import key_words
from jobconsole.screens.shell import Handler
from jobconsole.screens.stops_acting import stop_work
from jobcontract.jobs import HERE
from jobcontract.operating import StopScope
from jobcontract.states import Moves

if TYPE_CHECKING:
    from jobconsole.screens.plan_seen import SeenScreen
    from jobcontract.jobs import JobActs, JobInput, JobKind, JobSummary

Selected = Callable[[], "JobSummary | None"]
Took = Callable[["JobSummary"], None]
TICKET = "The ticket where it is followed up (may stay empty)"


def handlers(screen: SeenScreen, selected: Selected, took: Took) -> Mapping[str, Handler]:
    """Commands about the job that `selected` gives; `took` hears how it stands after an act."""

    def with_job(act: Callable[[SeenScreen, JobSummary, Took], Awaitable[None]]) -> Handler:
        async def run() -> None:
            if (job := selected()) is not None:
                await act(screen, job, took)

        return run

    def copied(of: Callable[[JobSummary], str | None], what: str) -> Handler:
        def run() -> None:
            if (job := selected()) is not None and (text := of(job)):
                copy(screen, text, what)

        return run

    return {
        "job.cancel": with_job(cancel),
        "job.retry": with_job(retry),
        "job.resolve": with_job(resolve),
        "stop.work": with_job(stop_kind),
        "job.copy-summary": with_job(copy_summary),
        "job.copy-reference": copied(lambda job: job.failure_reference, "reference"),
        "job.copy-id": copied(lambda job: job.id, "id"),
    }


async def cancel(screen: SeenScreen, job: JobSummary, took: Took) -> None:
    """Asks for a reason, then has it cancelled."""
    service, about = screen.shell.service, cancel_lines(job, screen.at())
    order = Order(
        title="Cancel this job?",
        act="Cancel the job",
        back="Leave it as it is",
        about=lambda: about,
        reason=WHY,
        command=command_of(screen, ("jobs", "cancel", job.id)),
        send=lambda given, key: client.cancel_job(service, job.id, given.reason, key),
    )
    answer = await acted(screen, order, lambda answer: answer.sentence)
    if answer is not None:
        took(answer.job)


async def retry(screen: SeenScreen, job: JobSummary, took: Took) -> None:
    """Asks for a reason, then makes a new job from it; of one that moves money a recovery."""
    if job.moves is Moves.MONEY:
        await retry_money(screen, job)
        return
    service, about = screen.shell.service, retry_lines(job, screen.at())
    order = Order(
        title="Retry this job?",
        act="Retry the job",
        back="Leave it as it is",
        about=lambda: about,
        reason=WHY,
        command=command_of(screen, ("jobs", "retry", job.id)),
        send=lambda given, key: client.retry_job(service, job.id, given.reason, key),
    )
    answer = await acted(screen, order, lambda answer: retried_words(first=answer.first, leads=_retry_leads(screen)))
    if answer is not None:
        took(answer.retried)


def _retry_leads(screen: SeenScreen) -> str:
    """Which key leads to the new job."""
    command, leads = ("job.follow", "opens it") if screen.PLACE == "job" else ("job.view", "shows it under way")
    return f"{key_words(screen, command)[command]} {leads}"


async def resolve(screen: SeenScreen, job: JobSummary, took: Took) -> None:
    """Asks for a reason and a ticket, then says that the failure asks for nothing any more."""
    service, about = screen.shell.service, resolve_lines(job, screen.at())

    def options(given: Given) -> Mapping[str, str | None]:
        return {"reason": given.reason, "ticket": given.reference or None}

    order = Order(
        title="Resolve this failure?",
        act="Resolve the failure",
        back="Leave it as it is",
        about=lambda: about,
        reason=WHY,
        reference=TICKET,
        reference_needed=False,
        command=command_of(screen, ("jobs", "resolve", job.id), options),
        send=lambda given, key: client.resolve_job(service, job.id, given.reason, key, given.reference or None),
    )
    answer = await acted(screen, order, lambda answer: answer.sentence)
    if answer is not None:
        took(answer.job)


async def reveal(screen: SeenScreen, job: JobSummary, inputs: int) -> tuple[JobInput, ...] | None:
    """Asks for a reason, then gives the inputs in clear; None where it was given up."""
    service, about = screen.shell.service, reveal_lines(job, screen.at(), inputs)
    order = Order(
        title="Reveal the inputs of this job?",
        act="Reveal the inputs",
        back="Leave them masked",
        about=lambda: about,
        reason="Why; it is written down",
        command=command_of(screen, ("jobs", "reveal", job.id)),
        send=lambda given, key: client.reveal_job(service, job.id, given.reason, key),
    )
    answer = await asked(screen, order)
    return answer.inputs if answer is not None else None


async def stop_kind(screen: SeenScreen, job: JobSummary, took: Took) -> None:  # noqa: ARG001  the form of an act
    """Asks for a reason, then holds still every job of the kind."""
    await stop_work(screen, StopScope.JOB_KIND, job.kind, f"all jobs of {job.kind_label}")


async def copy_summary(screen: SeenScreen, job: JobSummary, took: Took) -> None:  # noqa: ARG001  the form of an act
    """Shows what is told the customer, of the job as it stands now, and copies it."""
    whole = await client.job(screen.shell.service, job.id, job.source)
    if screen.app.screen is screen:
        shown = SummaryScreen(customer_sentences(whole, screen.seen().zone))
        screen.app.copy_to_clipboard(shown.copyable())
        screen.app.push_screen(shown)


def copy(screen: SeenScreen, text: str, what: str) -> None:
    """Gives a text to the terminal's clipboard; whether the terminal took it cannot be known."""
    screen.app.copy_to_clipboard(text)
    shown = " ".join(text.split())
    screen.say(f"Sent the {what} to your terminal's clipboard: {shown[:200]}")


async def submit(screen: SeenScreen, learn: Callable[[], Awaitable[Sequence[JobKind]]], took: Took) -> None:
    """Lists the kinds, asks for what the chosen one declares, and submits a job of it."""
    if screen.app.screen is not screen:
        return
    kinds = {kind.id: kind for kind in await learn()}
    if not kinds:
        screen.say("No kind of job is registered.", error=True)
        return
    choices = [
        Choice(id=kind.id, title=kind.label, aside=kind.id, reason=unsubmittable(kind)) for kind in kinds.values()
    ]
    chosen = await screen.app.push_screen_wait(ChooseScreen("Submit a job", choices))
    if chosen is None or screen.app.screen is not screen:
        return
    service = screen.shell.service
    form = SubmitForm(kinds[chosen], service, screen.seen, where_of(screen))
    service.on_checking = lambda _key: form.checking()
    answer = await screen.app.push_screen_wait(form)
    if answer is not None:
        took(answer.job)
        key = key_words(screen, "job.view")["job.view"]
        screen.say(submitted_words(answer.job, first=answer.first, leads=f"{key} shows what is under way"))


def selected_facts(job: JobSummary | None, acts: JobActs | None = None, *, plan: bool = False) -> SelectedJob | None:
    """What of a job decides which commands can be run; `acts`: what the service offers the person, where that is known."""
    if job is None:
        return None
    offered = {} if acts is None else acts.model_dump()
    return SelectedJob(
        status=job.status,
        elsewhere="" if job.source == HERE else job.source,
        money=job.moves is Moves.MONEY,
        cancelling=job.cancel_asked_at is not None,
        resolved=job.resolution is not None,
        reference=job.failure_reference is not None,
        plan=plan,
        refused={act: reason for act, reason in offered.items() if reason is not None},
    )
