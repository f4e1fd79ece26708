"""Owns a world of background jobs that a test drives at random: moves of people and Workers, several at the same instant
on connections of their own, some broken off half way; and the invariants INV-01 to INV-11, looked up in the database
after each round. A move answers or is refused; no error of the database ever comes out of one.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.job_states import JobStatus, StepStatus
from jobcontract.jobs import ResolveJob
from jobservice.application import Outcome, Patience, done, failed, refused, retry, uncertain
from jobservice.rules.claims import Denied
from jobservice.store import jobs as store
from jobservice.store.database import Database, Transaction
from jobservice.usecases import job_acts, job_reports
from jobservice.usecases.job_acts import Cancelled, JobOrder, Retried
from jobservice.usecases.job_reports import Run, TakenUp
from jobservice.usecases.job_settling import settle
from jobservice.usecases.job_submission import Submission, submit_in
from tests.usecases.desk import once
from tests.usecases.job_desk_stage import FAMILY, LOUD_TWO, OTHER, WORKER, JobStage

PATIENCE = Patience(attempts=2, first_wait=0.0, longest_wait=0.0)
OUTCOMES: tuple[Outcome, ...] = (
    *(done("Done."), done("Done."), done("Done."), failed("It broke."), retry("Later.", after_seconds=-1)),
    *(refused("No."), uncertain("Nobody knows.", reference="B-1")),
)
SETTLED = (JobStatus.SUCCEEDED, JobStatus.FAILED, JobStatus.CANCELLED)
Move = tuple[str, int, int, bool]
"""What is done; which thing it is done to, and how, by numbers; whether it is broken off before it is committed."""


class BrokenOff(Exception):
    """The process died in the middle of its transaction."""


@dataclass(slots=True)
class World:
    """Jobs of one example, known by the start of their identities; what was seen of them, and was answered."""

    stage: JobStage
    name: str
    runs: list[Run] = field(default_factory=list)
    submitted: dict[str, tuple[str, int]] = field(default_factory=dict)
    """By identity: the job that was answered, and which inputs it had."""
    seen: dict[str, dict[str, Any]] = field(default_factory=dict)
    told: dict[str, list[tuple[Any, ...]]] = field(default_factory=dict)
    cancelled: set[str] = field(default_factory=set)
    """Jobs of which a person was told that they are cancelled."""
    asked: set[str] = field(default_factory=set)
    """Jobs of which a person was told that they will be."""

    async def round(self, moves: Sequence[Move]) -> None:
        """All of these moves at the same instant; then every invariant."""
        jobs = self.jobs()
        ends = await asyncio.gather(*(self._move(move, jobs) for move in moves), return_exceptions=True)
        for end in ends:  # all have ended: none holds a lock while this one is told
            if isinstance(end, BaseException):
                raise end
        self.check()

    def jobs(self) -> list[str]:
        """Ids of the jobs that there are, the first made first."""
        rows = self.stage.people.connection.execute(
            "select id::text from jobs.jobs where starts_with(submission_identity, %s) order by id", (self.name,)
        )
        return [row[0] for row in rows.fetchall()]

    async def _move(self, move: Move, jobs: list[str]) -> None:
        what, which, how, broken = move
        if what == "submit":
            return await self._submit(which % 3, how % 2, broken=broken)
        if what in ("work", "take-up", "cancel", "retry", "resolve", "reconcile"):
            if not jobs:
                return None
            by_job = {
                "work": self._work,
                "take-up": self._take_up,
                "cancel": self._cancel,
                "retry": self._retry,
                "resolve": self._resolve,
                "reconcile": self._reconcile,
            }
            return await by_job[what](jobs[which % len(jobs)], how, broken)
        if not self.runs:
            return None
        run = self.runs[-1 - which % min(len(self.runs), 4)]
        return await self._report(what, run, how, broken=broken)

    async def _in(self, database: Database, broken: bool, work: Callable[[Transaction], Awaitable[Any]]) -> Any:
        """What the work answers, in a transaction of its own; None where it was broken off before it was committed."""
        with contextlib.suppress(BrokenOff):
            async with database.transaction("acme") as transaction:
                answer = await work(transaction)
                if broken:
                    raise BrokenOff
                return answer
        return None

    async def _submit(self, which: int, inputs: int, *, broken: bool) -> None:
        identity = f"{self.name}-{which}"
        submission = Submission(
            kind=LOUD_TWO, submission_identity=identity, inputs={"pages": inputs}, requester="o.lind"
        )
        database = self.stage.service.database if which else self.stage.worker

        async def work(transaction: Transaction) -> Any:
            return await submit_in(transaction, self.stage.records, submission)

        try:
            answer = await self._in(database, broken, work)
        except Refusal as refusal:
            if refusal.kind is not ErrorCode.JOB_IDENTITY_TAKEN:
                raise
            self._answered(identity, str(refusal.extra["job"]), 1 - inputs)
            return
        if answer is not None:
            self._answered(identity, answer.id, inputs)

    def _answered(self, identity: str, job: str, inputs: int) -> None:
        assert self.submitted.setdefault(identity, (job, inputs)) == (job, inputs), "INV-01"

    async def _take_up(self, job: str, how: int, broken: bool) -> None:
        handle = self.stage.row(job)["execution_handle"]

        async def work(transaction: Transaction) -> Any:
            holder = (WORKER, OTHER)[how % 2]
            return await job_reports.take_up(transaction, family=FAMILY, job=job, holder=holder, handle=handle)

        taken = await self._in(self.stage.worker, broken, work)
        if isinstance(taken, TakenUp):
            assert all(run.fence != taken.run.fence for run in self.runs if run.job == job)
            self.runs.append(taken.run)

    async def _report(self, what: str, run: Run, how: int, *, broken: bool) -> None:
        position = self._next(run.job) if how % 6 else 1 + how % 2

        async def work(transaction: Transaction) -> Any:
            match what:
                case "begin":
                    return await job_reports.begin_step(transaction, run, position, attempts_most=PATIENCE.attempts)
                case "progress":
                    return await job_reports.report_progress(transaction, run, position, how * 17 % 101)
                case "sent":
                    return await job_reports.report_sent(transaction, run, position)
                case "hand-back":
                    return await job_reports.hand_back(transaction, run, "The Worker stops.")
                case "cancelled":
                    return await job_reports.settle_cancelled(transaction, run)
                case _:
                    outcome = OUTCOMES[how // 2 % len(OUTCOMES)]
                    return await job_reports.report_outcome(transaction, run, position, outcome, patience=PATIENCE)

        await self._in(self.stage.worker, broken, work)

    def _next(self, job: str) -> int:
        """The step that is next, or running."""
        steps = self.stage.steps(job)
        return next((each["position"] for each in steps if each["status"] != "succeeded"), len(steps))

    async def _work(self, job: str, how: int, broken: bool) -> None:
        """What a Worker does of itself: it takes a job up that is not its own, begins the next step, and reports its end."""
        runs = [run for run in self.runs if run.job == job]
        if not runs or how % 5 == 0:
            await self._take_up(job, how, False)
            runs = [run for run in self.runs if run.job == job]
        if runs:
            await self._report("begin", runs[-1], 1, broken=False)
            await self._report("report", runs[-1], 1, broken=broken)

    async def _cancel(self, job: str, how: int, broken: bool) -> None:
        person = ("o.lind", "s.bell")[how % 2]

        async def work(transaction: Transaction) -> Any:
            return await job_acts.cancel_in(transaction, JobOrder(job=job, person=person, reason="No more"))

        answer = await self._in(self.stage.service.database, broken, work)
        if isinstance(answer, Cancelled):
            (self.cancelled if answer.status is JobStatus.CANCELLED else self.asked).add(job)

    async def _retry(self, job: str, how: int, broken: bool) -> None:
        async def work(transaction: Transaction) -> Any:
            order = JobOrder(job=job, person="s.bell", reason="Again")
            return await job_acts.retry_in(transaction, self.stage.records, order)

        database = (self.stage.service.database, self.stage.worker)[how % 2]
        answer = await self._in(database, broken, work)
        assert answer is None or isinstance(answer, Retried | Denied)

    async def _resolve(self, job: str, how: int, _: bool) -> None:
        order = ResolveJob(reason="By hand", ticket=("OPS-1", None)[how % 2])
        with contextlib.suppress(Refusal):
            await job_acts.resolve(self.stage.service, self.stage.people.actor("s.bell"), job, order, once())

    async def _reconcile(self, job: str, how: int, broken: bool) -> None:
        async def work(transaction: Transaction) -> Any:
            found = await store.lock(transaction, FAMILY, job)
            assert found is not None
            wanted = SETTLED[how % 3]
            return await settle(transaction, found, wanted, sentence="The engine ended it.", reconciled="It was left.")

        await self._in(self.stage.worker, broken, work)

    def check(self) -> None:
        """INV-01 to INV-11, of every job of this example. AssertionError names the job and the invariant."""
        made = self.jobs()
        jobs = {
            str(row["id"]): row for row in self.stage.all("select * from jobs.jobs where id = any(%s::uuid[])", made)
        }
        steps = self._of_each("select * from jobs.job_steps where job = any(%s::uuid[]) order by position", made)
        events = self._of_each("select * from jobs.job_events where job = any(%s::uuid[]) order by sequence", made)
        notices = self._of_each("select * from jobs.job_notices where job = any(%s::uuid[]) order by made_at", made)
        for job, row in jobs.items():
            _account_is_whole(job, row, steps[job], events[job])
            self._only_forward(job, row, steps[job], events[job])
            outcomes = [each["outcome"] for each in notices[job]]
            assert outcomes == ([row["status"]] if row["settled_at"] else []), f"INV-11 {job}"
        self._one_identity(jobs)
        _retries(jobs)

    def _one_identity(self, jobs: dict[str, dict[str, Any]]) -> None:
        identities = [row["submission_identity"] for row in jobs.values()]
        assert len(identities) == len(set(identities)), "INV-01"
        for identity, (job, inputs) in self.submitted.items():
            row = jobs[job]
            assert (row["submission_identity"], row["inputs"]) == (identity, {"pages": inputs}), "INV-01"
        handed = self.stage.people.connection.execute(
            "select count(*) from jobs.jobs as j join jobs_engine.workflow_status as w"
            " on w.workflow_uuid = j.execution_handle where starts_with(j.submission_identity, %s)",
            (self.name,),
        ).fetchone()
        assert handed == (len(jobs),), "a job is handed over exactly where it was submitted"

    def _only_forward(
        self, job: str, row: dict[str, Any], steps: list[dict[str, Any]], events: list[dict[str, Any]]
    ) -> None:
        before = self.seen.get(job)
        if before is not None:
            if before["settled_at"] is not None:
                kept = ("status", "settled_at", "progress", "failure_summary", "failure_reference", "activity_at")
                assert [row[name] for name in kept] == [before[name] for name in kept], f"INV-03 {job}"
            assert row["progress"] >= before["progress"], f"INV-04 {job}"
            assert row["activity_at"] >= before["activity_at"], f"INV-04 {job}"
            assert row["fence"] >= before["fence"], job
            for old, new in zip(before["steps"], steps, strict=True):
                assert StepStatus(old["status"]).final is False or old == new, f"INV-03 {job}"
                assert new["attempts"] >= old["attempts"], job
        lines = [tuple(each.values()) for each in events]
        assert lines[: len(self.told.get(job, []))] == self.told.get(job, []), f"INV-06 {job}"
        self.seen[job], self.told[job] = {**row, "steps": steps}, lines
        if job in self.asked and row["status"] == "succeeded":
            assert any(each["sent_at"] for each in steps), f"INV-03: {job} was to be cancelled, and nothing was outside"
        if job in self.cancelled:
            assert row["status"] == "cancelled", f"INV-03: {job} was said to be cancelled"

    def _of_each(self, query: str, jobs: list[str]) -> dict[str, list[dict[str, Any]]]:
        """Rows by their job."""
        found: dict[str, list[dict[str, Any]]] = {job: [] for job in jobs}
        for row in self.stage.all(query, jobs):
            found[str(row["job"])].append(row)
        return found


def _account_is_whole(job: str, row: dict[str, Any], steps: list[dict[str, Any]], events: list[dict[str, Any]]) -> None:
    """INV-02, 05, 06, 07 and what a failure asks for: root, steps and history tell the same."""
    status = JobStatus(row["status"])
    assert status.final is (row["settled_at"] is not None), f"INV-02 {job}"
    assert [each["sequence"] for each in events] == list(range(1, row["event_sequence"] + 1)), f"INV-06 {job}"
    assert 0 <= row["progress"] <= 100, f"INV-04 {job}"
    assert (row["progress"] == 100) is (status is JobStatus.SUCCEEDED), f"INV-04 {job}"
    settled = [each["status"] for each in events if each["kind"] == "settled"]
    assert settled == ([status.value] if status.final else []), f"INV-03, INV-05 {job}"
    if status is JobStatus.SUCCEEDED:
        assert {each["status"] for each in steps} == {"succeeded"}, f"INV-07 {job}"
    if status.final:
        assert all(StepStatus(each["status"]).final for each in steps), f"INV-07 {job}"
        assert row["holder"] is None, job
    for step in steps:
        lines = [each for each in events if each["step"] == step["step"] and each["kind"] != "progress"]
        assert step["attempts"] == sum(each["kind"] == "step-started" for each in lines), f"INV-05 {job}"
        at_once = status is JobStatus.CANCELLED and not lines  # what nobody began is one line of the whole job
        assert at_once or step["status"] == (lines[-1]["status"] if lines else "queued"), f"INV-05 {job}"
    assert row["failure_effect_state"] == ("due" if status is JobStatus.FAILED else "none"), f"INV-08 {job}"
    assert (row["cause"] is not None) is (status is JobStatus.FAILED), job


def _retries(jobs: dict[str, dict[str, Any]]) -> None:
    """INV-10: retries of settled jobs, linked, at most one of a lineage unsettled; a success has resolved what failed."""
    unsettled: dict[str, int] = {}
    for job, row in jobs.items():
        if row["retry_of"] is None:
            assert str(row["lineage"]) == job, f"INV-10 {job}"
            continue
        before = jobs[str(row["retry_of"])]
        assert before["settled_at"] is not None, f"INV-10 {job}"
        assert row["lineage"] == before["lineage"], f"INV-10 {job}"
        if row["settled_at"] is None:
            key = str(row["lineage"])
            unsettled[key] = unsettled.get(key, 0) + 1
        if row["status"] == "succeeded" and before["status"] == "failed":
            assert before["resolution"] is not None, f"INV-10 {job}"
    assert all(count == 1 for count in unsettled.values()), "INV-10"
