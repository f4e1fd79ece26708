"""Owns whether a kind of background job can work: what its record and those of its use cases and its bulk command say of one
another. Reads no file."""

from __future__ import annotations

import re

from jobcontract.states import Moves
from jobservice.records.bulk_commands import BulkRecord
from jobservice.records.index import Index
from jobservice.records.job_kinds import JobKindRecord, StatedStep
from jobservice.records.kind import Reference, Written
from jobservice.rules.job_kinds import (
    PLAN_APPLY,
    SERVICE_FAMILY,
    JobKind,
    KindInput,
    StepDefinition,
    StepUseCase,
    family_of,
    plan_apply,
)

_UNFIT = "job-kind-unfit"
_FAMILY = re.compile(r"[a-z][a-z0-9_]{0,30}", re.ASCII)


def job_kinds(index: Index, application: str | None) -> dict[str, JobKind]:
    """Every kind that can work, by id, and the service's own. `application` owns them; None: as their ids begin."""
    found = {PLAN_APPLY: plan_apply()}
    for record, content in index.of("job-kind", JobKindRecord):
        kind = _Fit(index, record, content).kind(application or record.id.partition(".")[0])
        if kind is not None:
            found[record.id] = kind
    _submits(index)
    return found


def _submits(index: Index) -> None:
    """Each bulk command that submits a kind, and whether that kind names it."""
    for record, command in index.of("bulk-command", BulkRecord):
        if command.submits is None:
            continue
        written = index.look_up(record, "job-kind", command.submits, "submits")
        kind = None if written is None else written.content
        if not isinstance(kind, JobKindRecord):
            continue
        if kind.submitted_by is None or kind.submitted_by.id != record.id:
            sentence = f"`submits`: {command.submits.id} does not say `submittedBy: {record.id}`; both records name each other."
            index.found(record, command.submits.line, _UNFIT, sentence)


class _Fit:
    """One kind beside what it names."""

    def __init__(self, index: Index, record: Written, content: JobKindRecord) -> None:
        self._index = index
        self._record = record
        self._content = content

    def kind(self, application: str) -> JobKind | None:
        """The kind; None after a finding."""
        before = len(self._index.findings)
        content = self._content
        self._owned(application)
        self._submitted()
        effect = content.failure_effect
        if effect is not None and self._moves(effect, "failureEffect") is Moves.MONEY:
            self._unfit(
                effect.line, f"`failureEffect`: {effect.id} moves money, and nobody confirms what a failure does."
            )
        versions = {number: tuple(map(self._step, steps)) for number, steps in content.versions}
        if content.moves is Moves.MONEY and not any(
            step is None or step.moves is Moves.MONEY for step in versions[max(versions)]
        ):
            sentence = f"{self._record.id} moves money, and no step of its newest version does; say `moves: nothing`."
            self._unfit(content.moves_line, sentence)
        whole = {number: tuple(each for each in steps if each is not None) for number, steps in versions.items()}
        if len(self._index.findings) > before or whole != versions:
            return None
        return JobKind(
            id=self._record.id,
            label=content.label,
            application=application,
            family=family_of(application),
            moves=content.moves,
            retryable=content.retryable,
            failure_effect=None if effect is None else effect.id,
            no_effect=content.no_effect,
            inputs=tuple(
                KindInput(name=each.name, label=each.title, type=each.type, required=each.required, most=each.most)
                for each in content.inputs
            ),
            versions=whole,
            submitted_by=None if content.submitted_by is None else content.submitted_by.id,
        )

    def _owned(self, application: str) -> None:
        """It has a place in the tables of its application, and not in the service's."""
        if self._record.id.startswith(f"{SERVICE_FAMILY}."):
            sentence = (
                f"Ids that begin with {SERVICE_FAMILY}. are the service's own; begin it with the application's name."
            )
            self._index.found(self._record, None, "id-taken", sentence)
        elif not _FAMILY.fullmatch(family_of(application)) or application == SERVICE_FAMILY:
            sentence = f"Tables cannot be named after the application {application}: 1 to 31 characters, not `service`."
            self._unfit(None, sentence)

    def _submitted(self) -> None:
        """What moves money is submitted by the confirmed plans of one bulk command, and takes nothing but the plan."""
        content, named = self._content, self._content.submitted_by
        if content.moves is Moves.MONEY and named is None:
            sentence = (
                f"{self._record.id} moves money, and nobody confirms it: name the bulk command whose confirmed plans "
                "submit it, `submittedBy: ID`."
            )
            self._unfit(content.moves_line, sentence)
        if named is None:
            return
        if content.moves is Moves.NOTHING:
            sentence = (
                f"`submittedBy` is of a kind that moves money; whoever may submit jobs submits {self._record.id}."
            )
            self._unfit(named.line, sentence)
            return
        if content.inputs:
            names = ", ".join(each.name for each in content.inputs)
            sentence = f"{self._record.id} takes inputs ({names}), and a plan gives none; its steps know the plan."
            self._unfit(content.inputs_line, sentence)
        written = self._index.look_up(self._record, "bulk-command", named, "submittedBy")
        command = None if written is None else written.content
        if isinstance(command, BulkRecord) and (command.submits is None or command.submits.id != self._record.id):
            sentence = f"`submittedBy`: {named.id} does not say `submits: {self._record.id}`; both name each other."
            self._unfit(named.line, sentence)

    def _step(self, stated: StatedStep) -> StepDefinition | None:
        if self._unmapped(stated):
            return None
        moves = self._moves(stated.use_case, "useCase")
        if moves is None:
            return None
        if moves is Moves.MONEY and self._content.moves is Moves.NOTHING:
            sentence = (
                f"Step {stated.step} moves money by {stated.use_case.id}, and {self._record.id} says that it does not."
            )
            self._unfit(stated.use_case.line, sentence)
        return StepDefinition(
            step=stated.step, label=stated.label, use_case=stated.use_case.id, moves=moves, weight=stated.weight
        )

    def _unmapped(self, stated: StatedStep) -> bool:
        """Whether a step has no use case: nothing says what it does (requirement reject-unmapped-engine-steps)."""
        if not self._index.whole or self._index.written("use-case", stated.use_case.id) is not None:
            return False
        hint = self._index.nearest("use-case", stated.use_case.id)
        sentence = f"Step {stated.step} runs {stated.use_case.id}, and no use-case record is that.{hint}"
        self._index.found(self._record, stated.use_case.line, "behavior-unrecorded", sentence)
        return True

    def _moves(self, reference: Reference, field: str) -> Moves | None:
        """Whether the use case that is named moves money; None after a finding, or where its own record has one."""
        written = self._index.look_up(self._record, "use-case", reference, field)
        if written is None or written.content is None:
            return None
        if not isinstance(written.content, StepUseCase):
            sentence = (
                f"`{field}`: {reference.id} is not one of background jobs; its record says `audit.target: job` then."
            )
            self._index.found(self._record, reference.line, "reference-unfit", sentence)
            return None
        return written.content.moves

    def _unfit(self, line: int | None, sentence: str) -> None:
        self._index.found(self._record, line, _UNFIT, sentence)
