"""Owns a believable set of background jobs for the fake service: all statuses, failures of three causes, a lineage that
mended itself, notices of every fate, money, jobs of other engines, and text that would steer a terminal."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from jobconsole.client.fake_job import FakeJob, notice
from jobconsole.client.fake_jobs import FakeAccount
from jobcontract.job_states import (
    Carrier,
    FailureEffectState,
    JobEventKind,
    JobResolution,
    JobStatus,
    NoticeState,
)
from jobcontract.jobs import Cancellation, JobEvent, Resolution
from jobcontract.session import Person
from jobcontract.states import Moves

HOSTILE = "\x1b[2J\x1b]0;owned\x07[bold]Ltd[/bold] [link=file:///x]\u202eevil\u2066"
"""Text that an honest console shows as signs."""
FULL = "The store has no room yet, and asks to come again."
BROKEN = "The format has no column for the purpose."
UNPUBLISHED = "Nothing was published for 2026-04; there are 2026-01, 2026-02."
KIRAN = Person(id="k.rao", name="Kiran Rao")
OLLE = Person(id="o.lind", name="Olle Lind")
MINUTE, HOUR, DAY = 60, 3_600, 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class Furnished:
    """The ones that tests and pictures ask for by name."""

    running: FakeJob
    cancelling: FakeJob
    pending: FakeJob
    failed: tuple[FakeJob, ...]
    """Unresolved failures of exports, of three causes."""
    lineage: tuple[FakeJob, ...]
    cancelled: FakeJob
    money: FakeJob
    apply: FakeJob
    corrected: FakeJob
    hostile: FakeJob
    foreign: FakeJob
    """A failure of another engine's."""


def furnish(account: FakeAccount) -> Furnished:
    """Puts the whole set in; two sources beside this service's own are reached, a third one is not."""
    account.add_source("mailing", "procrastinate", "mailing")
    account.add_source("ledger", "dbos", "ledger")
    sentence = "The database of archive cannot be reached (no answer in time): its jobs are not in this list."
    account.add_source("archive", "dbos", "archive", sentence)
    lineage = _lineage(account)
    _succeeded(account)
    corrected = _corrected(account)
    failed = _failures(account)
    money, apply = _money(account)
    return Furnished(
        lineage=lineage,
        corrected=corrected,
        failed=failed,
        money=money,
        apply=apply,
        cancelled=_cancelled(account),
        hostile=_hostile(account),
        foreign=_foreign(account),
        running=_running(account),
        cancelling=_cancelling(account),
        pending=account.add(
            "workspace.activate",
            subject="Nordwind KG, Hamburg",
            identity="signup-5521",
            requester=None,
            ago=20,
            inputs={"licence": "L-5521", "seats": 25},
            customer="C-1042",
            workspace="W-88",
        ),
    )


def _failures(account: FakeAccount) -> tuple[FakeJob, ...]:
    made = []
    for number, (customer, summary, done) in enumerate(
        (
            ("C-1007", FULL, 2),
            ("C-1042", FULL, 2),
            ("C-1013", BROKEN, 1),
            ("C-1007", FULL, 2),
            ("C-1021", UNPUBLISHED, 0),
            ("C-1042", BROKEN, 1),
        )
    ):
        job = account.add(
            "payments.export",
            subject=f"February for {customer}",
            identity=f"export-2026-03-{number + 1:02d}",
            ago=7 * HOUR - number * 40 * MINUTE,
            inputs={"month": "2026-02", "format": "csv", "store": "auditors"},
            customer=customer,
        )
        job.begin(_at(job, 30), "4a1f0c52")
        for step in range(done):
            job.end_step(_at(job, 40 + 20 * step))
            job.begin_step(_at(job, 41 + 20 * step))
        for attempt in range(1, (job.current.attempts_most or 1) if job.current else 1):
            again = _at(job, 70 + 60 * attempt)
            job.retry_step(_at(job, 50 + 60 * attempt), summary, again)
            job.begin_step(again)
        account.fail(job, summary, f"E-{0x7A31 + number * 0x1F1:04X}", _at(job, 400))
        made.append(job)
    _tell(made[0], NoticeState.DELIVERED, attempts=1, delivered_at=_at(made[0], 402), result="Accepted by mail.")
    _tell(made[1], NoticeState.SUPPRESSED, reason="The requester asked for no notices of exports.")
    refused = "The mail server refused the address."
    _tell(made[2], NoticeState.GIVEN_UP, attempts=5, result=refused, reason="Every one of 5 attempts failed.")
    _resolve(account, made[3], JobResolution.ACKNOWLEDGED, "The store is to be made larger.", "OPS-4411")
    _resolve(account, made[4], JobResolution.RESOLVED, "The month is not over: asked for too early.", None)
    return (made[0], made[1], made[2], made[5])


def _lineage(account: FakeAccount) -> tuple[FakeJob, ...]:
    first = account.add(
        "workspace.activate",
        subject="Harbour Foods, Leith",
        identity="signup-5498",
        requester="o.lind",
        ago=30 * HOUR,
        inputs={"licence": "L-5498", "seats": 8},
        customer="C-1007",
        workspace="W-71",
    )
    account.fail(first, "The name is taken by a workspace that is being removed.", "E-51C0", _at(first, 30), done=1)
    second = _retry(account, first, 1, 28 * HOUR, "The other workspace is gone.")
    account.fail(second, "The directory of people gave no answer.", "E-51F7", _at(second, 90), done=2)
    third = _retry(account, second, 2, 26 * HOUR, "The directory is back.")
    account.finish(third, _at(third, 55))
    return (first, second, third)


def _retry(account: FakeAccount, before: FakeJob, number: int, ago: float, reason: str) -> FakeJob:
    job = account.add(
        before.summary.kind,
        subject=before.summary.subject,
        identity=f"signup-5498 · retry {number}",
        requester="o.lind",
        ago=ago,
        inputs=before.inputs,
        customer=before.summary.customer,
        workspace=before.summary.workspace,
        retry_of=before.id,
    )
    job.reason = reason
    before.put(retried_by=job.id)
    before.tell(JobEventKind.RETRIED, job.summary.requested_at, f"Retried: {reason}", person=OLLE, job=job.id)
    return job


def _succeeded(account: FakeAccount) -> None:
    for number, name in enumerate(("Old Mill Bakery", "Thornton & Sons", "Café Zürich")):
        job = account.add(
            "workspace.activate",
            subject=name,
            identity=f"signup-55{number:02d}",
            ago=(50 - number * 7) * HOUR,
            inputs={"licence": f"L-55{number:02d}", "seats": 5 + number},
            customer=f"C-10{30 + number}",
            workspace=f"W-8{number}",
        )
        account.finish(job, _at(job, 48))
        _tell(job, NoticeState.DELIVERED, attempts=1, delivered_at=_at(job, 50), result="Accepted by mail.")


def _corrected(account: FakeAccount) -> FakeJob:
    """Told as a success, found to be none by the reconciler, and told again."""
    job = account.add(
        "payments.export",
        subject="January for C-1030",
        identity="export-2026-02-27",
        requester="k.rao",
        ago=74 * HOUR,
        inputs={"month": "2026-01", "format": "fixed", "store": "auditors"},
        customer="C-1030",
    )
    job.begin(_at(job, 5), "4a1f0c52")
    for step in range(2):
        job.end_step(_at(job, 40 + 20 * step))
        job.begin_step(_at(job, 41 + 20 * step))
    person = KIRAN
    told = notice(
        job, JobStatus.SUCCEEDED, person, state="delivered", attempts=1, delivered_at=_at(job, 80), try_at=None
    )
    job.notices.append(told)
    words = "Success refused: step 3 (deliver) is still running. It was settled as failed."
    account.fail(job, "The delivery was never confirmed.", "E-4D02", _at(job, 400))
    job.tell(JobEventKind.RECONCILED, _at(job, 401), words)
    _tell(job, NoticeState.DELIVERED, attempts=2, delivered_at=_at(job, 460), corrects="succeeded")
    _resolve(account, job, JobResolution.RESOLVED, "Delivered by mail.", None)
    return job


def _money(account: FakeAccount) -> tuple[FakeJob, FakeJob]:
    apply = account.add("service.plan-apply", subject="Plan lark-42", identity="lark-42", ago=5 * HOUR, plan="lark-42")
    apply.carrier = Carrier.PLAN
    account.finish(apply, _at(apply, 240))
    job = account.add(
        "payments.bank-file",
        subject="Bank file of lark-42",
        identity="lark-42",
        ago=5 * HOUR - 300,
        plan="lark-42",
        customer=None,
    )
    account.fail(job, "The bank refused the file: its cut-off had passed.", "E-6B10", _at(job, 45), done=2)
    job.effect = FailureEffectState.DONE
    return job, apply


def _cancelled(account: FakeAccount) -> FakeJob:
    job = account.add(
        "payments.export",
        subject="February for C-1013",
        identity="export-2026-03-00",
        ago=9 * HOUR,
        inputs={"month": "2026-02", "format": "csv", "store": "auditors"},
        customer="C-1013",
    )
    job.begin(_at(job, 10), "4a1f0c52")
    job.report(_at(job, 40), 60)
    reason = "The customer wants March as well."
    job.cancellation = Cancellation(at=_at(job, 60), person=OLLE, reason=reason)
    job.put(cancel_asked_at=_at(job, 60))
    job.tell(JobEventKind.CANCEL_ASKED, _at(job, 60), f"It is to be cancelled: {reason}", person=OLLE)
    job.cancel(_at(job, 61))
    account.changed(job)
    return job


def _hostile(account: FakeAccount) -> FakeJob:
    job = account.add(
        "payments.export",
        subject=HOSTILE,
        identity=f"export-{HOSTILE}",
        ago=50 * MINUTE,
        inputs={"month": "2026-02", "format": HOSTILE, "store": "auditors"},
        customer="C-6666",
    )
    return account.fail(job, f"It said {HOSTILE}", "E-6666", _at(job, 5))


def _running(account: FakeAccount) -> FakeJob:
    job = account.add(
        "payments.archive-statements",
        subject="Statements of 2025",
        identity="archive-2025",
        ago=11 * MINUTE,
        inputs={"statements": 1200},
    )
    job.begin(_at(job, 2), "4a1f0c52-7c3e-4b0e-9a55-2f6f0c1d7e10")
    job.end_step(_at(job, 95), "Found 1,200 statements.")
    job.begin_step(_at(job, 96))
    for percent in range(5, 65, 5):
        job.report(_at(job, 96 + percent * 8), percent, f"{percent * 12:,} of 1,200 statements.")
    account.changed(job)
    return job


def _cancelling(account: FakeAccount) -> FakeJob:
    job = account.add(
        "payments.export",
        subject="February for C-1021",
        identity="export-2026-03-09",
        ago=4 * MINUTE,
        inputs={"month": "2026-02", "format": "csv", "store": "auditors"},
        customer="C-1021",
    )
    job.begin(_at(job, 3), "4a1f0c52-7c3e-4b0e-9a55-2f6f0c1d7e10")
    job.report(_at(job, 90), 35)
    at, reason = _at(job, 238), "Asked for twice."
    job.cancellation = Cancellation(at=at, person=KIRAN, reason=reason)
    job.put(cancel_asked_at=at)
    job.tell(JobEventKind.CANCEL_ASKED, at, f"It is to be cancelled: {reason}", person=KIRAN)
    account.changed(job)
    return job


def _foreign(account: FakeAccount) -> FakeJob:
    sent = account.add(
        "mailing.tasks.send_letter",
        source="mailing",
        identifier="48213",
        subject="send_letter",
        identity=None,
        requester=None,
        ago=3 * HOUR,
    )
    account.finish(sent, _at(sent, 4))
    failed = account.add(
        "mailing.tasks.send_letter",
        source="mailing",
        identifier="48377",
        subject="send_letter",
        requester=None,
        ago=2 * HOUR,
        moves=Moves.NOTHING,
    )
    account.fail(failed, "Failed after 3 attempts.", "48377", _at(failed, 70))
    failed.put(failure_reference=None)
    closed = account.add(
        "close_of_day",
        source="ledger",
        identifier="close-2026-03-01",
        subject="close_of_day",
        requester=None,
        ago=10 * HOUR,
    )
    account.finish(closed, _at(closed, 610))
    for job in (sent, failed, closed):
        job.put(submission_identity=None, application=job.summary.source)
        job.notices.clear()
    return failed


def many_events(job: FakeJob, count: int) -> list[JobEvent]:
    """Adds `count` lines of declared progress to a running job's history: more than one page of them."""
    for number in range(count):
        percent = min(99, number * 100 // count)
        job.tell(JobEventKind.PROGRESS, _at(job, 100 + number), f"{number + 1:,} of {count:,}.", percent=percent)
    return job.events


def _at(job: FakeJob, seconds: float) -> datetime:
    return job.summary.requested_at + timedelta(seconds=seconds)


def _tell(job: FakeJob, state: NoticeState, **more: object) -> None:
    """What became of the notice of its outcome."""
    job.notices[-1] = job.notices[-1].model_copy(update={"state": state, "try_at": None, **_typed(more)})


def _typed(more: dict[str, object]) -> dict[str, object]:
    if "corrects" in more:
        more["corrects"] = JobStatus(str(more["corrects"]))
    return more


def _resolve(account: FakeAccount, job: FakeJob, resolution: JobResolution, reason: str, ticket: str | None) -> None:
    at = _at(job, HOUR)
    job.resolved = Resolution(resolution=resolution, at=at, person=OLLE, reason=reason, ticket=ticket, job=None)
    job.put(resolution=resolution)
    job.tell(JobEventKind.RESOLVED, at, f"{str(resolution).capitalize()}: {reason}", person=OLLE)
    account.changed(job)
