"""Owns the two services that the conformance suite of background jobs compares: both have the kinds of the example, no job
yet, and a Worker that a test moves by hand."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import httpx
import pytest
from pydantic import SecretStr

from examples.payments import application
from jobconsole.client.errors import ServiceRefused
from jobconsole.client.fake import FakeService
from jobconsole.client.fake_jobs import FakeReach
from jobconsole.client.service import Service
from jobcontract.job_states import JobStatus
from jobcontract.jobs import HERE
from jobservice.usecases.service import Service as JobService
from tests.apps import app_over
from tests.client.conftest import example_records
from tests.client.stage import AUDITOR, FIRST, OPERATOR, PUSHER
from tests.usecases.job_desk_stage import JobStage as Desk
from tests.usecases.money_desk import KEYS

EXPORT, ACTIVATE, BANK_FILE = "payments.export", "workspace.activate", "payments.bank-file"
SUPPORT = "support"
PEOPLE: Mapping[str, tuple[str, str]] = {
    FIRST: ("m.ito", "m.ito"),
    OPERATOR: ("o.lind", "o.lind"),
    SUPPORT: ("s.bell", "s.bell"),
    AUDITOR: ("a.nagy", "s.audit"),
    PUSHER: ("i.feed", "p.push"),
}
"""Who plays a part: in the fake service, in the real one."""
INPUTS: Mapping[str, Mapping[str, str | int | bool]] = {
    EXPORT: {"month": "2026-02", "format": "csv", "store": "auditors"},
    ACTIVATE: {"licence": "L-4711", "seats": 5},
    BANK_FILE: {},
}


class JobStage(Protocol):
    """A service whose jobs nobody runs but the test."""

    def sign_in(self, part: str) -> Service:
        """The connection of the person who plays `part`."""

    async def submit(self, kind: str, identity: str, **scope: Any) -> str:
        """A job that o.lind asked for; its id. A kind that moves money is submitted as by a confirmed plan."""

    async def go(self, job: str, status: JobStatus, sentence: str = ...) -> None:
        """Let a Worker begin it, or bring it to its end: as succeeded, or as failed at its first step."""

    def narrow(self, part: str, customers: tuple[str, ...]) -> None:
        """Let a person see the jobs of these customers alone."""


@dataclass(slots=True, kw_only=True)
class FakeJobStage:
    """The fake service."""

    fake: FakeService = field(default_factory=FakeService)

    def sign_in(self, part: str) -> Service:
        """See `JobStage`."""
        return self.fake.service(PEOPLE[part][0])

    async def submit(self, kind: str, identity: str, **scope: Any) -> str:
        """See `JobStage`."""
        self.fake.advance(1)
        job = self.fake.account.add(kind, identity=identity, requester="o.lind", inputs=INPUTS[kind], **scope)
        return job.id

    async def go(self, job: str, status: JobStatus, sentence: str = "It went wrong.") -> None:
        """See `JobStage`."""
        found = self.fake.account.jobs[HERE, job]
        if status is JobStatus.RUNNING:
            self.fake.account.begin(found)
        elif status is JobStatus.FAILED:
            self.fake.account.fail(found, sentence, "E-1234")
        else:
            self.fake.account.finish(found)

    def narrow(self, part: str, customers: tuple[str, ...]) -> None:
        """See `JobStage`."""
        self.fake.account.reach[PEOPLE[part][0]] = FakeReach(customers=frozenset(customers))


@dataclass(slots=True, kw_only=True)
class RealJobStage:
    """The real API, asked in process; the Worker's reports are made one by one."""

    transport: httpx.AsyncBaseTransport
    desk: Desk
    plan: str
    """Id of a confirmed plan."""

    def sign_in(self, part: str) -> Service:
        """See `JobStage`."""
        token = SecretStr(self.desk.people.token(PEOPLE[part][1]))
        return Service("http://127.0.0.1:1", token, "acme", transport=self.transport)

    async def submit(self, kind: str, identity: str, **scope: Any) -> str:
        """See `JobStage`."""
        more: dict[str, Any] = {"plan": self.plan, "database": self.desk.worker} if kind == BANK_FILE else {}
        return (await self.desk.submit(kind, identity, inputs=INPUTS[kind], **scope, **more)).id

    async def go(self, job: str, status: JobStatus, sentence: str = "It went wrong.") -> None:
        """See `JobStage`."""
        await self.desk.carried(job, status, sentence)

    def narrow(self, part: str, customers: tuple[str, ...]) -> None:
        """See `JobStage`."""
        self.desk.people.connection.execute(
            "update jobs.memberships set customers = %s where person = %s", (list(customers), PEOPLE[part][1])
        )


def real_job_stage(database: Any, worker_database: Any, people: Any) -> RealJobStage:
    """The real API over a database, with the example's kinds."""
    records = example_records()
    service = JobService(database=database, records=records, application=application, deployment="test", keys=KEYS)
    app = app_over(service, signing_key=b"k" * 32, schema_version="1")
    desk = Desk(service, worker_database, people)
    return RealJobStage(transport=httpx.ASGITransport(app=app), desk=desk, plan="00000000-0000-7000-8000-0000000000aa")


def stage_of(request: pytest.FixtureRequest) -> JobStage:
    """The service that a parametrised fixture asks for; the real one needs a database."""
    if request.param == "fake":
        return FakeJobStage()
    return real_job_stage(*(request.getfixturevalue(each) for each in ("database", "worker_database", "people")))


async def refused(call: Awaitable[object]) -> ServiceRefused:
    """How the call is refused."""
    with pytest.raises(ServiceRefused) as caught:
        await call
    assert caught.value.sentence.strip()
    return caught.value


async def code(call: Awaitable[object]) -> str:
    """The code with which the call is refused."""
    return (await refused(call)).code


async def failed(stage: JobStage, count: int = 1, kind: str = EXPORT, **scope: str) -> list[str]:
    """Jobs that failed, the first submitted first."""
    made = [await stage.submit(kind, f"failed-{number}", **scope) for number in range(count)]
    for job in made:
        await stage.go(job, JobStatus.FAILED)
    return made
