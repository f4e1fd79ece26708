"""Owns building the record set: what the records of queues, use cases and rules say of one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from jobcontract.operating import Procedure
from jobcontract.states import Moves
from jobservice.records.bulk_fit import bulk_commands
from jobservice.records.findings import Finding
from jobservice.records.index import Index
from jobservice.records.job_fit import schedules
from jobservice.records.job_kind_fit import job_kinds
from jobservice.records.kind import Reference, Written
from jobservice.records.queues import Carries, QueueRecord
from jobservice.records.rules import RuleRecord
from jobservice.records.runbook_fit import runbooks
from jobservice.records.score_fit import misfits
from jobservice.records.values import SettingValues
from jobservice.rules.bulk import BulkCommand
from jobservice.rules.job_kinds import PLAN_APPLY, JobKind, StepUseCase, plan_apply
from jobservice.rules.queues import Queue, UseCase
from jobservice.rules.runbooks import RunbookRule
from jobservice.rules.schedules import JobUseCase, Schedule
from jobservice.rules.scores import Rule
from jobservice.rules.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSet:
    """A set of records without findings: queues, use cases, rules and settings by id, and the SHA-256 over their files."""

    queues: Mapping[str, Queue]
    use_cases: Mapping[str, UseCase]
    settings: Settings
    digest: str
    rules: Mapping[str, Rule] = field(default_factory=dict)
    bulk: Mapping[str, BulkCommand] = field(default_factory=dict)
    schedules: Mapping[str, Schedule] = field(default_factory=dict)
    """Job records: what people call schedules everywhere else."""
    job_use_cases: Mapping[str, JobUseCase] = field(default_factory=dict)
    runbooks: Mapping[str, Mapping[Procedure, RunbookRule]] = field(default_factory=dict)
    """By schedule, then by procedure: inspect, replay, disable."""
    job_kinds: Mapping[str, JobKind] = field(default_factory=lambda: {PLAN_APPLY: plan_apply()})
    """Kinds of background jobs by id, that of the accounts of plans among them."""
    step_use_cases: Mapping[str, StepUseCase] = field(default_factory=dict)
    """Use cases that background jobs run: as a step, or where one failed."""

    def bulk_of(self, queue: str) -> tuple[BulkCommand, ...]:
        """The bulk commands of a queue, by their ids."""
        return tuple(each for each in self.bulk.values() if each.queue == queue)


class Assembly:
    """The records as written while they are put together. Every finding stays in `findings`."""

    def __init__(
        self, records: Sequence[Written], folder: str, overrides: Mapping[str, str], *, whole: bool = True
    ) -> None:
        """`whole` = every file gave a record; else what seems to be missing may stand in one that did not."""
        self._index = Index(records, folder, whole=whole)
        self._values = SettingValues(self._index, overrides)

    @property
    def findings(self) -> list[Finding]:
        """What was found so far."""
        return self._index.findings

    def use_cases(self) -> dict[str, UseCase]:
        """Every use case that could be read, by id."""
        return {record.id: content for record, content in self._index.of("use-case", UseCase)}

    def rules(self) -> dict[str, Rule]:
        """Every calculation rule that could be read, by id."""
        return {record.id: content.rule for record, content in self._index.of("rule", RuleRecord)}

    def queues(self) -> dict[str, Queue]:
        """Every queue whose references hold, by id."""
        queues = [self._queue(record, content) for record, content in self._index.of("queue", QueueRecord)]
        return {queue.id: queue for queue in queues if queue is not None}

    def bulk(self) -> dict[str, BulkCommand]:
        """Every bulk command that can work, by id."""
        return bulk_commands(self._index, self._values)

    def schedules(self) -> dict[str, Schedule]:
        """Every schedule that can work, by id."""
        return schedules(self._index, self._values)

    def job_use_cases(self) -> dict[str, JobUseCase]:
        """Every use case of jobs that could be read, by id."""
        return {record.id: content for record, content in self._index.of("use-case", JobUseCase)}

    def job_kinds(self, application: str | None) -> dict[str, JobKind]:
        """Every kind of background job that can work, by id; of `application`, None: as their ids begin."""
        return job_kinds(self._index, application)

    def step_use_cases(self) -> dict[str, StepUseCase]:
        """Every use case of background jobs that could be read, by id."""
        return {record.id: content for record, content in self._index.of("use-case", StepUseCase)}

    def runbooks(self) -> dict[str, dict[Procedure, RunbookRule]]:
        """Every runbook that can serve, by schedule and procedure."""
        return runbooks(self._index)

    def settings(self) -> Settings | None:
        """The values of all declared settings; None where one is missing or out of bounds."""
        return self._values.declared()

    def _queue(self, record: Written, content: QueueRecord) -> Queue | None:
        use_cases = [self._use_case(record, content, reference) for reference in content.use_cases]
        lease = 0 if content.lease is None else self._values.lease(record, content.lease)
        fits = content.score is None or self._rule_fits(record, content, content.score)
        if lease is None or None in use_cases or not fits:
            return None
        return Queue(
            id=record.id,
            title=content.title,
            claim=content.claim,
            money=content.carries is Carries.MONEY,
            inputs=content.inputs,
            use_cases=tuple(each for each in use_cases if each is not None),
            lease_seconds=lease,
            score=None if content.score is None else content.score.id,
        )

    def _use_case(self, record: Written, content: QueueRecord, reference: Reference) -> UseCase | None:
        written = self._index.look_up(record, "use-case", reference, "useCases")
        use_case = None if written is None else written.content
        if isinstance(use_case, JobUseCase | StepUseCase):
            sentence = f"`useCases`: {reference.id} is run by jobs; a queue lists what people run on its items."
            self._index.found(record, reference.line, "reference-unfit", sentence)
        if not isinstance(use_case, UseCase):
            return None
        if use_case.moves is Moves.MONEY and content.carries is Carries.NOTHING:
            sentence = f"{reference.id} moves money, but the items of {record.id} carry nothing; take it off the list."
            self._index.found(record, reference.line, "moves-unfit", sentence)
            return None
        return use_case

    def _rule_fits(self, record: Written, content: QueueRecord, reference: Reference) -> bool:
        written = self._index.look_up(record, "rule", reference, "score")
        if written is None or not isinstance(written.content, RuleRecord):
            return False
        faults = misfits(written.content.rule, content)
        for fault in faults:
            self._index.found(record, reference.line, "score-unfit", f"`score`: {reference.id} {fault}.")
        return not faults
