"""Owns finding in the fake service: what one whole text leads to, over every noun that the person may read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from jobconsole.client.fake_asked import PEOPLE, Asked, Handler
from jobconsole.client.fake_audit import FakeTrail
from jobconsole.client.fake_bulk import FakeBulk
from jobconsole.client.fake_jobs import FakeAccount
from jobconsole.client.fake_queues import FakeQueues
from jobconsole.client.fake_recoveries import FakeRecoveries
from jobconsole.client.fake_schedules import FakeJobs
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.ids import KEY_MAX
from jobcontract.job_states import FoundNoun
from jobcontract.jobs import Finding, Found
from jobcontract.permissions import GRANTS, Permission

FOUND_MOST = 50
BEGINNING = 8
"""Fewest characters by which an id is found that is not whole."""
_NEEDS: Mapping[FoundNoun, Permission] = {
    FoundNoun.JOB: Permission.JOB_READ,
    FoundNoun.ITEM: Permission.QUEUE_READ,
    FoundNoun.PLAN: Permission.PLAN_READ,
    FoundNoun.RECOVERY: Permission.RECOVERY_READ,
    FoundNoun.SCHEDULE: Permission.SCHEDULE_READ,
    FoundNoun.OCCURRENCE: Permission.SCHEDULE_READ,
    FoundNoun.PERSON: Permission.COLLEAGUE_READ,
    FoundNoun.AUDIT: Permission.AUDIT_READ,
    FoundNoun.WORKER: Permission.SCHEDULE_READ,
}


class FakeFinding:
    """Looks through everything that the fake service has."""

    def __init__(
        self,
        account: FakeAccount,
        queues: FakeQueues,
        bulk: FakeBulk,
        recoveries: FakeRecoveries,
        runs: FakeJobs,
        trail: FakeTrail,
    ) -> None:
        self._account, self._queues, self._bulk = account, queues, bulk
        self._recoveries, self._runs, self._trail = recoveries, runs, trail

    def handlers(self) -> Mapping[str, Handler]:
        """The route of finding."""
        return {"find": self._find}

    def _find(self, asked: Asked) -> Finding:
        text = asked.query.get("text", "").strip()
        if not 2 <= len(text) <= KEY_MAX:
            raise Refusal(ErrorCode.INVALID_REQUEST, f"text: it has 2 to {KEY_MAX} characters.")
        may = GRANTS[asked.role]
        looked = tuple(noun for noun in FoundNoun if _NEEDS[noun] in may)
        looks: Mapping[FoundNoun, Callable[[str], Iterator[Found]]] = {
            FoundNoun.JOB: lambda text: self._jobs(text, asked),
            FoundNoun.ITEM: self._items,
            FoundNoun.PLAN: self._plans,
            FoundNoun.RECOVERY: self._kept,
            FoundNoun.SCHEDULE: self._schedules,
            FoundNoun.OCCURRENCE: self._occurrences,
            FoundNoun.PERSON: _people,
            FoundNoun.AUDIT: self._entries,
            FoundNoun.WORKER: self._workers,
        }
        found = [each for noun in looked for each in looks[noun](text)]
        return Finding(
            text=text,
            found=tuple(found[:FOUND_MOST]),
            more=len(found) > FOUND_MOST,
            looked=looked,
            now=self._account.now(),
        )

    def _jobs(self, text: str, asked: Asked) -> Iterator[Found]:
        for job in self._account.within(asked.person.id):
            row = job.summary
            steps = [step.failure_reference for step in job.steps]
            matched = _matched(
                text,
                ("id", _begins(text, row.id)),
                ("failure reference", row.failure_reference),
                ("failure reference of a step", next((each for each in steps if each == text), None)),
                ("submission identity", row.submission_identity),
                ("reference outside", next((step.reference for step in job.steps if step.reference == text), None)),
                ("requester", None if row.requester is None else row.requester.id),
            )
            if matched is not None:
                yield Found(
                    noun=FoundNoun.JOB,
                    id=row.id,
                    title=f"{row.kind_label}: {row.subject}",
                    matched=matched,
                    state=row.status.value,
                    at=row.requested_at,
                    source=row.source,
                )

    def _items(self, text: str) -> Iterator[Found]:
        for row in self._queues.items.values():
            paid = (
                each.reference
                for plan in self._bulk.plans.all.values()
                for each in plan.rows
                if each.row.id == row.id and each.reference == text
            )
            matched = _matched(
                text,
                ("id", _begins(text, row.id)),
                ("business key", row.key),
                ("reference of the bank", next(paid, None)),
            )
            if matched is not None:
                yield Found(
                    noun=FoundNoun.ITEM,
                    id=row.id,
                    title=row.title,
                    matched=matched,
                    state=self._queues.state(row).value,
                    at=row.created,
                    queue=row.queue.id,
                )

    def _plans(self, text: str) -> Iterator[Found]:
        for plan in self._bulk.plans.all.values():
            matched = _matched(text, ("name", plan.name), ("id", _begins(text, plan.id)))
            if matched is not None:
                yield _one(FoundNoun.PLAN, plan.id, plan.name, matched, plan.state.value)

    def _kept(self, text: str) -> Iterator[Found]:
        for made in self._recoveries.all.values():
            matched = _matched(text, ("name", made.name), ("id", _begins(text, made.id)))
            if matched is not None:
                yield _one(FoundNoun.RECOVERY, made.id, made.name, matched, made.state.value)

    def _schedules(self, text: str) -> Iterator[Found]:
        for schedule in self._runs.schedules.values():
            if text == schedule.id:
                yield _one(FoundNoun.SCHEDULE, schedule.id, schedule.title, "id", schedule.standing.value)

    def _occurrences(self, text: str) -> Iterator[Found]:
        for row in self._runs.occurrences.values():
            matched = _matched(text, ("name", row.name), ("id", _begins(text, row.id)))
            if matched is not None:
                yield _one(FoundNoun.OCCURRENCE, row.id, row.name, matched, row.state.value)

    def _entries(self, text: str) -> Iterator[Found]:
        for entry in self._trail.entries:
            matched = _matched(text, ("number", str(entry.id)))
            if matched is not None:
                yield _one(FoundNoun.AUDIT, str(entry.id), f"{entry.action} {entry.subject}", matched, entry.outcome)

    def _workers(self, text: str) -> Iterator[Found]:
        for worker in self._runs.workers:
            if _begins(text, worker.incarnation) is not None:
                yield _one(FoundNoun.WORKER, worker.incarnation, worker.host, "incarnation", worker.standing.value)


def _people(text: str) -> Iterator[Found]:
    for person, (name, role) in PEOPLE.items():
        if text == person:
            yield _one(FoundNoun.PERSON, person, name, "id", role.value)


def _one(noun: FoundNoun, identifier: str, title: str, matched: str, state: str) -> Found:
    return Found(noun=noun, id=identifier, title=title, matched=matched, state=state, at=None)


def _begins(text: str, identifier: str) -> str | None:
    """`text`, where it is the id or at least eight characters of its beginning."""
    return text if text == identifier or (len(text) >= BEGINNING and identifier.startswith(text.lower())) else None


def _matched(text: str, *words: tuple[str, str | None]) -> str | None:
    """Which of its words the text is, whole."""
    return next((name for name, word in words if word is not None and word == text), None)
