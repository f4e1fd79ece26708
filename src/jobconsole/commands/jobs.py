"""Owns the commands of background jobs: their list (place `jobs`), one of them (`job`), acts on it. Acts on many at once make a
recovery."""

from __future__ import annotations

from jobconsole.commands.command import Command, Danger
from jobconsole.commands.situation import SelectedJob, Situation
from jobcontract.job_states import JobStatus
from jobcontract.permissions import Permission, missing

JOBS = ("jobs",)
ONE = ("job",)
BOTH = (*JOBS, *ONE)
MONEY = "It moves money: its retry is a recovery, confirmed with a code by finance."


def _job(situation: Situation) -> str | None:
    return None if situation.job is not None else "no job is selected"


def _here(job: SelectedJob) -> str | None:
    return f"it is a job of {job.elsewhere}, where it is acted on" if job.elsewhere else None


def _cancellable(situation: Situation) -> str | None:
    job = situation.job
    if job is None or (reason := _here(job)) is not None:
        return _job(situation) if job is None else reason
    if job.status.final:
        return f"it is settled: {job.status}"
    return "it was asked to be cancelled already" if job.cancelling else job.refused.get("cancel")


def _retryable(situation: Situation) -> str | None:
    """Of a job that moves money finance makes the retry, as a recovery: that is another permission."""
    job = situation.job
    if job is None or (reason := _here(job)) is not None:
        return _job(situation) if job is None else reason
    if not job.status.final:
        return f"it is not settled: {job.status}"
    if job.money:
        may = Permission.PAYOUT_RELEASE in situation.permissions
        if not may:
            return f"{MONEY} {missing(Permission.PAYOUT_RELEASE, situation.tenant)}"
        return "it succeeded: what moved money is not done twice" if job.status is JobStatus.SUCCEEDED else None
    if Permission.JOB_RETRY not in situation.permissions:
        return missing(Permission.JOB_RETRY, situation.tenant)
    return job.refused.get("retry")


def _resolvable(situation: Situation) -> str | None:
    job = situation.job
    if job is None or (reason := _here(job)) is not None:
        return _job(situation) if job is None else reason
    if job.status is not JobStatus.FAILED:
        return f"it did not fail: {job.status}"
    return "it is resolved already" if job.resolved else job.refused.get("resolve")


def _revealable(situation: Situation) -> str | None:
    job = situation.job
    if job is None or (reason := _here(job)) is not None:
        return _job(situation) if job is None else reason
    return job.refused.get("reveal")


def _referred(situation: Situation) -> str | None:
    job = situation.job
    return _job(situation) if job is None else None if job.reference else "it has no reference: it did not fail"


def _planned(situation: Situation) -> str | None:
    job = situation.job
    return _job(situation) if job is None else None if job.plan else "no plan belongs to it"


def _follows(situation: Situation) -> str | None:
    return _job(situation) or situation.opens


def _some(situation: Situation) -> str | None:
    """Many need at least one."""
    return None if situation.job is not None or situation.marked else "no job is listed"


def _filtered(situation: Situation) -> str | None:
    return None if situation.filtered else "no filter is in force"


def _before(situation: Situation) -> str | None:
    return None if situation.filter_before else "no other filter was in force"


def _goes_on(situation: Situation) -> bool:
    return situation.job is not None and not situation.job.elsewhere and not situation.job.status.final


def _settled(situation: Situation) -> bool:
    job = situation.job
    return job is not None and not job.elsewhere and job.status in (JobStatus.FAILED, JobStatus.CANCELLED)


def _unresolved(situation: Situation) -> bool:
    job = situation.job
    return job is not None and not job.elsewhere and job.status is JobStatus.FAILED and not job.resolved


def _own(situation: Situation) -> bool:
    return situation.job is not None and not situation.job.elsewhere


def _can_be_revealed(situation: Situation) -> bool:
    return _own(situation) and situation.job is not None and "reveal" not in situation.job.refused


def _has_plan(situation: Situation) -> bool:
    return situation.job is not None and situation.job.plan


def _has_marks(situation: Situation) -> bool:
    return situation.marked > 0


_LIST = (
    Command(
        id="job.open",
        title="Open the job",
        help="Shows everything of it: every step with its attempts, its history, why it failed, what became of it.",
        keys=("enter", "i"),
        places=JOBS,
        permission=Permission.JOB_READ,
        twin="jobs show JOB",
        hint="open",
        rank=10,
        judge=_job,
    ),
    Command(
        id="job.view",
        title="Next view",
        help="Goes from failures that nobody resolved to jobs under way, then to all of them.",
        keys=("v",),
        places=JOBS,
        permission=Permission.JOB_READ,
        twin="jobs list --view VIEW",
        hint="view",
        rank=15,
    ),
    Command(
        id="job.filter",
        title="Filter",
        help="Opens the filter line, e.g. kind:bank-file age>1h error:refused; tab completes, enter applies, an empty one "
        "clears.",
        keys=("/",),
        places=JOBS,
        permission=Permission.JOB_READ,
        twin="jobs list --filter FILTER",
        hint="filter",
        rank=16,
    ),
    Command(
        id="job.filter-clear",
        title="Clear the filter",
        help="Shows every job of the view again.",
        keys=("\\",),
        places=JOBS,
        rank=40,
        judge=_filtered,
    ),
    Command(
        id="job.filter-again",
        title="Filter as before",
        help="Puts the filter in force again that was before the present one, and the other way round.",
        keys=("|",),
        places=JOBS,
        permission=Permission.JOB_READ,
        rank=41,
        judge=_before,
    ),
)

_ONE = (
    Command(
        id="job.section",
        title="Next part",
        help="Goes on to the next part: steps, history, about it, lineage, notices, inputs.",
        keys=("tab",),
        places=ONE,
        permission=Permission.JOB_READ,
        twin="jobs show JOB",
        hint="next part",
        rank=11,
    ),
    Command(
        id="job.section-before",
        title="The part before",
        help="Goes back to the part before.",
        keys=("shift+tab",),
        places=ONE,
        permission=Permission.JOB_READ,
        rank=30,
    ),
    Command(
        id="job.follow",
        title="Open what the row leads to",
        help="Opens the job of the lineage that is under the cursor; anywhere else the retry of this job.",
        keys=("enter", "i"),
        places=ONE,
        permission=Permission.JOB_READ,
        twin="jobs show JOB",
        rank=29,
        judge=_follows,
    ),
    Command(
        id="job.plan",
        title="Open its plan",
        help="Shows the confirmed plan that it is the account of, or that submitted it.",
        keys=("o",),
        places=ONE,
        permission=Permission.PLAN_READ,
        twin="bulk show PLAN",
        hint="its plan",
        rank=17,
        concerns=_has_plan,
        judge=_planned,
    ),
    Command(
        id="job.reveal",
        title="Reveal its inputs …",
        help="Asks for a reason, which is written down, then shows the inputs in clear until the job is left, for two "
        "minutes at most.",
        keys=("r",),
        places=ONE,
        danger=Danger.ACTS,
        permission=Permission.JOB_REVEAL,
        twin="jobs reveal JOB --reason REASON",
        hint="reveal inputs…",
        rank=18,
        concerns=_can_be_revealed,
        judge=_revealable,
    ),
)

_ACTS = (
    Command(
        id="job.retry",
        title="Retry the job …",
        help="Asks for a reason, then makes a new job from it, linked to it. One that moves money is retried by a recovery, "
        "which finance confirms with a code.",
        keys=("y",),
        places=BOTH,
        danger=Danger.ACTS,
        permission=Permission.JOB_READ,
        twin="jobs retry JOB --reason REASON",
        hint="retry…",
        rank=12,
        concerns=_settled,
        judge=_retryable,
    ),
    Command(
        id="job.cancel",
        title="Cancel the job …",
        help="Asks for a reason, then ends it: what nobody began is cancelled at once, what runs within a second or so. What "
        "is done stays done.",
        keys=("X",),
        places=BOTH,
        danger=Danger.ACTS,
        permission=Permission.JOB_CANCEL,
        twin="jobs cancel JOB --reason REASON",
        hint="cancel job…",
        rank=13,
        concerns=_goes_on,
        judge=_cancellable,
    ),
    Command(
        id="job.resolve",
        title="Resolve the failure …",
        help="Asks for a reason, and for a ticket where somebody follows it up elsewhere: the failure then asks for nothing "
        "any more. Nothing is retried.",
        keys=("A",),
        places=BOTH,
        danger=Danger.ACTS,
        permission=Permission.JOB_RESOLVE,
        twin="jobs resolve JOB --reason REASON",
        hint="resolve…",
        rank=14,
        concerns=_unresolved,
        judge=_resolvable,
    ),
    Command(
        id="job.copy-summary",
        title="Summary for the customer",
        help="Shows, and sends to the clipboard, in plain words without anything internal, what became of the job and what "
        "happens next: to be read out or pasted.",
        keys=("s",),
        places=BOTH,
        permission=Permission.JOB_READ,
        twin="jobs summary JOB",
        hint="summary",
        rank=19,
        judge=_job,
    ),
    Command(
        id="job.copy-reference",
        title="Copy the reference",
        help="Sends to the clipboard the reference of the failure, which an engineer finds it by.",
        keys=("c",),
        places=BOTH,
        permission=Permission.JOB_READ,
        rank=28,
        judge=_referred,
    ),
    Command(
        id="job.copy-id",
        title="Copy the job's id",
        help="Sends the id of the job to the clipboard.",
        keys=("n",),
        places=BOTH,
        permission=Permission.JOB_READ,
        rank=31,
        judge=_job,
    ),
    Command(
        id="job.plan-retry",
        title="Retry many …",
        help="Freezes the marked jobs, or all that are listed by view and filter, as a recovery that retries them. It is "
        "shown first; nothing runs before you confirm.",
        keys=("P",),
        places=JOBS,
        danger=Danger.ACTS,
        permission=Permission.RECOVERY_MAKE,
        twin="recoveries retry --filter FILTER --reason REASON",
        hint="plan retry…",
        rank=20,
        judge=_some,
    ),
    Command(
        id="job.plan-cancel",
        title="Cancel many …",
        help="Freezes the marked jobs, or all that are listed by view and filter, as a recovery that cancels them. It is "
        "shown first; nothing is cancelled before you confirm.",
        keys=("K",),
        places=JOBS,
        danger=Danger.ACTS,
        permission=Permission.RECOVERY_MAKE,
        twin="recoveries cancel --filter FILTER --reason REASON",
        hint="plan cancel…",
        rank=21,
        concerns=_has_marks,
        judge=_some,
    ),
    Command(
        id="job.submit",
        title="Submit a job …",
        help="Lists the kinds that can be submitted, asks for what the chosen one declares, and submits it once.",
        keys=("N",),
        places=JOBS,
        danger=Danger.ACTS,
        permission=Permission.JOB_SUBMIT,
        twin="jobs submit KIND --identity IDENTITY",
        rank=24,
    ),
)

JOB_COMMANDS: tuple[Command, ...] = (*_LIST, *_ONE, *_ACTS)
"""Every command of these, as a reader would look for them: the list, one job, acts."""
