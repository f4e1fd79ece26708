"""Owns building the record set: what records say of one another, and the settings that every set must give."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from jobcontract.states import Moves
from jobservice.records.findings import Finding
from jobservice.records.forms import nearest
from jobservice.records.kind import Reference, Written
from jobservice.records.queues import Carries, QueueRecord
from jobservice.records.rules import RuleRecord
from jobservice.records.score_fit import misfits
from jobservice.records.settings import SettingRecord, setting_value
from jobservice.rules.bulk import BulkCommand
from jobservice.rules.queues import Queue, UseCase
from jobservice.rules.scores import Rule
from jobservice.rules.settings import DECLARATIONS, SettingDeclaration, Settings, SettingType

_DECLARED = {declaration.id: declaration for declaration in DECLARATIONS}
_LEASE = _DECLARED["claims.lease"]
"""Type and bounds of every setting that a queue names as its lease."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordSet:
    """A set of records without findings: queues, use cases, rules and settings by id, and the SHA-256 over their files."""

    queues: Mapping[str, Queue]
    use_cases: Mapping[str, UseCase]
    settings: Settings
    digest: str
    rules: Mapping[str, Rule] = field(default_factory=dict)
    bulk: Mapping[str, BulkCommand] = field(default_factory=dict)

    def bulk_of(self, queue: str) -> tuple[BulkCommand, ...]:
        """The bulk commands of a queue, by their ids."""
        return tuple(each for each in self.bulk.values() if each.queue == queue)


class Assembly:
    """The records as written, by kind and id, while they are put together. Every finding stays in `findings`."""

    def __init__(
        self, records: Sequence[Written], folder: str, overrides: Mapping[str, str], *, whole: bool = True
    ) -> None:
        """`whole` = every file gave a record; else what seems to be missing may stand in one that did not."""
        self.findings: list[Finding] = []
        self._folder = folder
        self._whole = whole
        self._records = {(each.kind, each.id): each for each in records}
        self._queues = tuple(each for each in records if each.kind == "queue")
        self._leases = {
            each.content.lease.id
            for each in self._queues
            if isinstance(each.content, QueueRecord) and each.content.lease is not None
        }
        self._queues_known = whole and all(each.content is not None for each in self._queues)
        self._values = self._setting_values(overrides)

    def use_cases(self) -> dict[str, UseCase]:
        """Every use case that could be read, by id."""
        return {
            each.id: each.content
            for each in sorted(self._records.values(), key=lambda record: record.id)
            if isinstance(each.content, UseCase)
        }

    def rules(self) -> dict[str, Rule]:
        """Every calculation rule that could be read, by id."""
        return {
            each.id: each.content.rule
            for each in sorted(self._records.values(), key=lambda record: record.id)
            if isinstance(each.content, RuleRecord)
        }

    def queues(self) -> dict[str, Queue]:
        """Every queue whose references hold, by id."""
        queues = [self._queue(each, each.content) for each in self._queues if isinstance(each.content, QueueRecord)]
        return {queue.id: queue for queue in sorted(filter(None, queues), key=lambda queue: queue.id)}

    def settings(self) -> Settings | None:
        """The values of all declared settings; None where one is missing or out of bounds."""
        values = {identifier: self._values.get(identifier) for identifier in _DECLARED}
        if None in values.values():
            return None
        if not self._leases_fit(self._values["claims.total"]):
            return None
        fields = {identifier.replace(".", "_").replace("-", "_"): value for identifier, value in values.items()}
        return Settings(**fields)  # type: ignore[arg-type]  # one field a declaration; a test compares the two

    def _leases_fit(self, total: int) -> bool:
        long = sorted(each for each in self._leases | {_LEASE.id} if self._values.get(each, 0) > total)
        for identifier in long:
            record = self._records[("setting", identifier)]
            line = record.content.value_line if isinstance(record.content, SettingRecord) else None
            sentence = (
                f"{identifier} grants {self._values[identifier]:,} s, more than claims.total ({total:,} s) allows."
            )
            self._found(record, line, "setting-conflict", sentence)
        return not long

    def _found(self, record: Written, line: int | None, code: str, sentence: str) -> None:
        place = record.line if line is None else line
        self.findings.append(Finding(file=record.file, line=place, code=code, sentence=sentence))

    def _setting_values(self, overrides: Mapping[str, str]) -> dict[str, int]:
        """Seconds, count or bytes of every setting that is in order, overrides applied."""
        values: dict[str, int] = {}
        for each in self._records.values():
            if each.kind != "setting" or not isinstance(each.content, SettingRecord):
                continue
            declaration = self._declaration(each.id)
            if declaration is None and self._queues_known:
                hint = (
                    nearest(each.id, _DECLARED) or f" Known: {', '.join(_DECLARED)}, and what a queue names as lease."
                )
                self._found(each, None, "setting-unknown", f"Nothing reads a setting {each.id}.{hint}")
            elif declaration is not None and self._fits(each, each.content, declaration):
                values[each.id] = each.content.value
        self._missing()
        for identifier, text in overrides.items():
            self._override(identifier, text, values)
        return values

    def _declaration(self, identifier: str) -> SettingDeclaration | None:
        lease = _LEASE if identifier in self._leases else None
        return _DECLARED.get(identifier, lease)

    def _fits(self, record: Written, content: SettingRecord, declaration: SettingDeclaration) -> bool:
        if content.type is not declaration.type:
            sentence = f"`type`: {record.id} is a {declaration.type}, not a {content.type}."
            self._found(record, content.type_line, "field-invalid", sentence)
            return False
        if not declaration.least <= content.value <= declaration.most:
            sentence = _bounds(record.id, declaration)
            self._found(record, content.value_line, "setting-out-of-bounds", sentence)
            return False
        return True

    def _missing(self) -> None:
        for declaration in DECLARATIONS:
            if self._whole and ("setting", declaration.id) not in self._records:
                sentence = f"No record gives {declaration.id} ({declaration.purpose}); add a setting record for it."
                self.findings.append(Finding(file=self._folder, line=1, code="setting-missing", sentence=sentence))

    def _override(self, identifier: str, text: str, values: dict[str, int]) -> None:
        place = f"--set {identifier}={text}"

        def found(code: str, sentence: str) -> None:
            self.findings.append(Finding(file=place, line=1, code=code, sentence=sentence))

        declaration = self._declaration(identifier)
        if declaration is None or ("setting", identifier) not in self._records:
            hint = nearest(identifier, _DECLARED) or f" Known: {', '.join(_DECLARED)}."
            found("setting-unknown", f"No record gives a setting {identifier}.{hint}")
            return
        try:
            value = setting_value(text, declaration.type)
        except ValueError as error:
            found("field-invalid", f"{identifier}: {error}.")
            return
        if not declaration.least <= value <= declaration.most:
            found("setting-out-of-bounds", _bounds(identifier, declaration))
            return
        values[identifier] = value

    def _queue(self, record: Written, content: QueueRecord) -> Queue | None:
        use_cases = [self._use_case(record, content, reference) for reference in content.use_cases]
        lease = 0 if content.lease is None else self._lease(record, content.lease)
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
        if not self._known(record, "use-case", reference, "useCases"):
            return None
        use_case = self._records[("use-case", reference.id)].content
        if not isinstance(use_case, UseCase):
            return None
        if use_case.moves is Moves.MONEY and content.carries is Carries.NOTHING:
            sentence = f"{reference.id} moves money, but the items of {record.id} carry nothing; take it off the list."
            self._found(record, reference.line, "moves-unfit", sentence)
            return None
        return use_case

    def _rule_fits(self, record: Written, content: QueueRecord, reference: Reference) -> bool:
        if not self._known(record, "rule", reference, "score"):
            return False
        written = self._records[("rule", reference.id)].content
        if not isinstance(written, RuleRecord):
            return False
        faults = misfits(written.rule, content)
        for fault in faults:
            sentence = f"`score`: {reference.id} {fault}."
            self._found(record, reference.line, "score-unfit", sentence)
        return not faults

    def _lease(self, record: Written, reference: Reference) -> int | None:
        if not self._known(record, "setting", reference, "lease"):
            return None
        declaration = _DECLARED.get(reference.id)
        if declaration is not None and (declaration.type is not SettingType.DURATION or declaration is not _LEASE):
            sentence = f"`lease`: {reference.id} is {declaration.purpose}; name claims.lease or a setting of your own."
            self._found(record, reference.line, "reference-unfit", sentence)
            return None
        return self._values.get(reference.id)

    def _known(self, record: Written, kind: str, reference: Reference, field: str) -> bool:
        if (kind, reference.id) in self._records:
            return True
        ids: Iterable[str] = (identifier for word, identifier in self._records if word == kind)
        hint = nearest(reference.id, ids)
        self._found(
            record, reference.line, "reference-unknown", f"`{field}`: no {kind} record is {reference.id}.{hint}"
        )
        return False


def _bounds(identifier: str, declaration: SettingDeclaration) -> str:
    unit = {SettingType.DURATION: "s", SettingType.COUNT: "", SettingType.SIZE: "bytes"}[declaration.type]
    least, most = (f"{int(bound):,} {unit}".rstrip() for bound in (declaration.least, declaration.most))
    return f"{identifier} is {declaration.purpose}: from {least} to {most}."
