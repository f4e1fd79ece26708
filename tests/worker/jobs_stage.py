"""Jobs for tests of the duties about them: submitted as an application does, then put into any state that account and
engine could leave behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from psycopg.rows import dict_row

from jobcontract.states import InputType, Moves
from jobservice.rules.job_kinds import JobKind, KindInput, StepDefinition
from jobservice.store import duties as duty_rows
from jobservice.store.database import Database
from jobservice.usecases.job_submission import Submission, submit_kind
from jobservice.worker.fenced import FencedDuty, Lease, take
from tests.conftest import People

KIND = JobKind(
    id="payments.note",
    label="Note",
    application="payments",
    family="payments",
    moves=Moves.NOTHING,
    retryable=True,
    failure_effect="payments.note-failed",
    no_effect=None,
    inputs=(KindInput(name="text", label="Text", type=InputType.TEXT, required=False),),
    versions={
        1: tuple(
            StepDefinition(step=step, label=step.title(), use_case=f"payments.{step}", moves=Moves.NOTHING)
            for step in ("collect", "check", "submit")
        )
    },
)


@dataclass(slots=True)
class JobStage:
    """Jobs of acme in the Worker's database, and what the tests ask of them."""

    database: Database
    people: People
    holder: UUID = field(default_factory=lambda: UUID(int=7))

    async def submit(self, identity: str = "one", *, requester: str | None = "m.ito", kind: JobKind = KIND) -> str:
        """A pending job that is handed over; its id."""
        async with self.database.transaction("acme") as transaction:
            submission = Submission(
                kind=kind.id, submission_identity=identity, inputs={}, requester=requester, subject="lark-42"
            )
            return (await submit_kind(transaction, kind, submission)).id

    async def quiet(self, identity: str = "one", *steps: str, engine: str | None = "PENDING", **other: Any) -> str:
        """A job that showed no life for an hour: its steps stand like that, and the engine says so of its run (None: it
        knows none). `other`: columns of its root, as SQL."""
        job = await self.submit(identity, requester=other.pop("requester", "m.ito"))
        for position, status in enumerate(steps, 1):
            if status != "queued":
                self._step(job, position, status)
        self.engine(job, engine)
        running = any(status != "queued" for status in steps)
        columns = {"status": "'running'", "started_at": "requested_at", "fence": "1"} if running else {}
        columns |= {
            "requested_at": "requested_at - interval '1 hour'",
            "activity_at": "activity_at - interval '1 hour'",
        }
        self.past_the_walls(
            f"update jobs.jobs set {', '.join(f'{name} = {value}' for name, value in (columns | other).items())}"
            f" where id = '{job}'"
        )
        return job

    def _step(self, job: str, position: int, status: str) -> None:
        settled = "jobs.now()" if status in ("succeeded", "failed", "cancelled") else "null"
        again = "jobs.now()" if status == "retrying" else "null"
        self.past_the_walls(
            f"update jobs.job_steps set status = '{status}', attempts = 1, started_at = jobs.now(), settled_at = {settled},"
            f" next_attempt_at = {again} where job = '{job}' and position = {position}"
        )

    def engine(self, job: str, status: str | None) -> None:
        """What the engine says of the job's run from now on, as if it had said so an hour ago."""
        of_job = f"(select execution_handle from jobs.jobs where id = '{job}')"
        if status is None:
            self.past_the_walls(f"delete from jobs_engine.workflow_status where workflow_uuid = {of_job}")
        else:
            self.past_the_walls(
                f"update jobs_engine.workflow_status set status = '{status}', created_at = created_at - 3600000"
                f" where workflow_uuid = {of_job}"
            )

    def past_the_walls(self, statement: str) -> None:
        """Write what no statement of the service would."""
        with self.people.connection.transaction():
            self.people.connection.execute("set local session_replication_role = replica")
            self.people.connection.execute(statement.encode())

    def row(self, query: str, *parameters: object) -> dict[str, Any]:
        """The one row of a query, by column."""
        rows = self.rows(query, *parameters)
        assert len(rows) == 1
        return rows[0]

    def rows(self, query: str, *parameters: object) -> list[dict[str, Any]]:
        """The rows of a query, by column."""
        with self.people.connection.cursor(row_factory=dict_row) as cursor:
            return cursor.execute(query.encode(), parameters).fetchall()

    def job(self, job: str) -> dict[str, Any]:
        """A job's root."""
        return self.row("select * from jobs.jobs where id = %s", job)

    def history(self, job: str) -> list[tuple[str, str]]:
        """Kind and sentence of each line of a job's history; its sequences have no holes."""
        rows = self.rows("select sequence, kind, sentence from jobs.job_events where job = %s order by sequence", job)
        assert [row["sequence"] for row in rows] == list(range(1, len(rows) + 1))
        return [(row["kind"], row["sentence"]) for row in rows]

    def notices(self, job: str) -> list[dict[str, Any]]:
        """A job's notices, by the time at which they were made."""
        return self.rows("select * from jobs.job_notices where job = %s order by made_at, id", job)

    def run_of(self, job: str) -> str | None:
        """What the engine says of the job's run; None where it knows none."""
        rows = self.rows(
            "select w.status from jobs_engine.workflow_status as w join jobs.jobs as j"
            " on j.execution_handle = w.workflow_uuid where j.id = %s",
            job,
        )
        return rows[0]["status"] if rows else None

    async def lease(self, duty: FencedDuty, holder: UUID | None = None) -> Lease:
        """The duty's lease, taken anew."""
        async with self.database.transaction(None) as transaction:
            await duty_rows.add_duty(transaction, duty.name)
        lease = await take(self.database, duty, holder or self.holder, woken=True)
        assert lease is not None
        return lease

    async def run(self, duty: FencedDuty) -> Mapping[str, int]:
        """One run of the duty."""
        return await duty.run_once(await self.lease(duty))
