"""Owns the settings in force: what each has to be, their records' values, and what `--set` puts in their place.

A setting is declared by the service, or by the records that name it: the lease of a queue, a limit of a bulk command,
the retention of a job.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from jobservice.records.bulk_commands import ROLES, BulkRecord
from jobservice.records.forms import nearest
from jobservice.records.index import Index
from jobservice.records.jobs import JobRecord
from jobservice.records.kind import Reference, Written
from jobservice.records.queues import QueueRecord
from jobservice.records.settings import SettingRecord, SettingValue, setting_value
from jobservice.rules.bulk import Amounts
from jobservice.rules.settings import DECLARATIONS, SettingDeclaration, Settings, SettingType

_DECLARED = {declaration.id: declaration for declaration in DECLARATIONS}
_LEASE = _DECLARED["claims.lease"]
"""Type and bounds of every setting that a queue names as its lease."""
_RETENTION = SettingDeclaration(
    id="retention",
    type=SettingType.DURATION,
    least=60,
    most=315_360_000,
    purpose="how long occurrences of a schedule are kept",
)
"""Type and bounds of every setting that a job names as its retention."""
_BARE = {SettingType.COUNT: "", SettingType.DURATION: " s", SettingType.SIZE: " bytes", SettingType.AMOUNTS: ""}


class SettingValues:
    """The values of all settings that are in order, overrides applied; findings stay in the index."""

    def __init__(self, index: Index, overrides: Mapping[str, str]) -> None:
        self._index = index
        self._leases: set[str] = set()
        self._named = self._roles()
        self._values: dict[str, SettingValue] = {}
        known = index.all_read("queue", "bulk-command", "job")
        for record, content in index.of("setting", SettingRecord):
            declaration = self._declaration(record.id)
            if declaration is None and known:
                self._unknown(record)
            elif declaration is not None and self._fits(record, content, declaration):
                self._values[record.id] = content.value
        self._missing()
        for identifier, text in overrides.items():
            self._override(identifier, text)

    def declared(self) -> Settings | None:
        """The values of the settings that the service declares; None where one is missing or contradicts another."""
        values = {identifier: self._whole(identifier) for identifier in _DECLARED}
        total = values["claims.total"]
        if total is None or None in values.values() or not self._leases_fit(total):
            return None
        fields = {identifier.replace(".", "_").replace("-", "_"): value for identifier, value in values.items()}
        return Settings(**fields)  # type: ignore[arg-type]  # one field a declaration; a test compares the two

    def lease(self, record: Written, reference: Reference) -> int | None:
        """Seconds of the lease that a queue names; None where it cannot serve or is not in order."""
        if self._index.look_up(record, "setting", reference, "lease") is None:
            return None
        declared = _DECLARED.get(reference.id)
        if declared is not None and declared is not _LEASE:
            sentence = f"`lease`: {reference.id} is {declared.purpose}; name claims.lease or a setting of your own."
            self._index.found(record, reference.line, "reference-unfit", sentence)
            return None
        return self._whole(reference.id) if self._serves(record, reference, "lease", _LEASE.type) else None

    def whole(self, record: Written, role: str, reference: Reference) -> int | None:
        """Seconds or the count that a bulk command names in a role; None where it cannot serve or is not in order."""
        return self._whole(reference.id) if self._own(record, role, ROLES[role], reference) else None

    def retention(self, record: Written, reference: Reference) -> int | None:
        """Seconds that a job's occurrences are kept; None where the setting cannot serve or is not in order."""
        return self._whole(reference.id) if self._own(record, "retention", _RETENTION, reference) else None

    def amounts(self, record: Written, role: str, reference: Reference) -> Amounts | None:
        """The same of amounts: minor units by currency."""
        value = self._values.get(reference.id) if self._own(record, role, ROLES[role], reference) else None
        return None if isinstance(value, int) else value

    def _own(self, record: Written, role: str, wanted: SettingDeclaration, reference: Reference) -> bool:
        if self._index.look_up(record, "setting", reference, role) is None:
            return False
        declared = _DECLARED.get(reference.id)
        if declared is not None:
            sentence = f"`{role}`: {reference.id} is {declared.purpose}; name a setting of your own."
            self._index.found(record, reference.line, "reference-unfit", sentence)
            return False
        return self._serves(record, reference, role, wanted.type)

    def _serves(self, record: Written, reference: Reference, role: str, wanted: SettingType) -> bool:
        """Whether the setting is of the type that this role wants: another record may name it in another role."""
        declaration = self._declaration(reference.id)
        if declaration is None or declaration.type is wanted:
            return True
        sentence = f"`{role}` wants a {wanted}, but {reference.id} is a {declaration.type} elsewhere; name another."
        self._index.found(record, reference.line, "reference-unfit", sentence)
        return False

    def _whole(self, identifier: str) -> int | None:
        value = self._values.get(identifier)
        return value if isinstance(value, int) else None

    def _roles(self) -> dict[str, SettingDeclaration]:
        """What each setting that a record names has to be; where several name it, what fits them all."""
        named: dict[str, SettingDeclaration] = {}
        for _, queue in self._index.of("queue", QueueRecord):
            if queue.lease is not None:
                self._leases.add(queue.lease.id)
                named[queue.lease.id] = _LEASE
        for _, command in self._index.of("bulk-command", BulkRecord):
            for role, reference in command.settings.items():
                named[reference.id] = _both(named.get(reference.id), ROLES[role])
        for _, job in self._index.of("job", JobRecord):
            named[job.retention.id] = _both(named.get(job.retention.id), _RETENTION)
        return named

    def _declaration(self, identifier: str) -> SettingDeclaration | None:
        return _DECLARED.get(identifier) or self._named.get(identifier)

    def _leases_fit(self, total: int) -> bool:
        granted = {identifier: self._whole(identifier) or 0 for identifier in self._leases | {_LEASE.id}}
        long = sorted(identifier for identifier, seconds in granted.items() if seconds > total)
        for identifier in long:
            record = self._index.written("setting", identifier)
            if record is not None and isinstance(record.content, SettingRecord):
                sentence = (
                    f"{identifier} grants {granted[identifier]:,} s, more than claims.total ({total:,} s) allows."
                )
                self._index.found(record, record.content.value_line, "setting-conflict", sentence)
        return not long

    def _unknown(self, record: Written) -> None:
        known = f" Known: {', '.join(_DECLARED)}, and what a queue, a bulk command or a job names."
        hint = nearest(record.id, _DECLARED) or known
        self._index.found(record, None, "setting-unknown", f"Nothing reads a setting {record.id}.{hint}")

    def _fits(self, record: Written, content: SettingRecord, declaration: SettingDeclaration) -> bool:
        if content.type is not declaration.type:
            sentence = f"`type`: {record.id} is a {declaration.type}, not a {content.type}."
            self._index.found(record, content.type_line, "field-invalid", sentence)
            return False
        if not _within(content.value, declaration):
            sentence = _bounds(record.id, declaration)
            self._index.found(record, content.value_line, "setting-out-of-bounds", sentence)
            return False
        return True

    def _missing(self) -> None:
        for declaration in DECLARATIONS:
            if self._index.whole and self._index.written("setting", declaration.id) is None:
                sentence = f"No record gives {declaration.id} ({declaration.purpose}); add a setting record for it."
                self._index.add(self._index.folder, 1, "setting-missing", sentence)

    def _override(self, identifier: str, text: str) -> None:
        place = f"--set {identifier}={text}"
        declaration = self._declaration(identifier)
        if declaration is None or self._index.written("setting", identifier) is None:
            known = {**_DECLARED, **self._named}
            hint = nearest(identifier, known) or f" Known: {', '.join(known)}."
            self._index.add(place, 1, "setting-unknown", f"No record gives a setting {identifier}.{hint}")
            return
        try:
            value = setting_value(text, declaration.type)
        except ValueError as error:
            self._index.add(place, 1, "field-invalid", f"{identifier}: {error}.")
            return
        if not _within(value, declaration):
            self._index.add(place, 1, "setting-out-of-bounds", _bounds(identifier, declaration))
            return
        self._values[identifier] = value


def _both(first: SettingDeclaration | None, second: SettingDeclaration) -> SettingDeclaration:
    """What fits both; the first where they are of different types, which is a finding where the second is looked up."""
    if first is None:
        return second
    if first.type is not second.type:
        return first
    return replace(first, least=max(first.least, second.least), most=min(first.most, second.most))


def _within(value: SettingValue, declaration: SettingDeclaration) -> bool:
    """Amounts were read as at least nothing, and every amount that can be kept is within bounds."""
    return not isinstance(value, int) or declaration.least <= value <= declaration.most


def _bounds(identifier: str, declaration: SettingDeclaration) -> str:
    least, most = (f"{int(bound):,}{_BARE[declaration.type]}" for bound in (declaration.least, declaration.most))
    return f"{identifier} is {declaration.purpose}: from {least} to {most}."
