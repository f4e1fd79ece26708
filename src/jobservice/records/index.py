"""Owns finding records by kind and id while they are put together, and the findings that this leaves.

Knows no kind's fields.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from jobservice.records.findings import Finding
from jobservice.records.forms import nearest
from jobservice.records.kind import Reference, Written

Content = TypeVar("Content")


class Index:
    """The records of a set. `whole` = every file gave one; else what seems to be missing may stand in one that did not."""

    def __init__(self, records: Sequence[Written], folder: str, *, whole: bool = True) -> None:
        self.findings: list[Finding] = []
        self.folder = folder
        self.whole = whole
        self._records = {(each.kind, each.id): each for each in records}

    def written(self, kind: str, identifier: str) -> Written | None:
        """The record of that kind and id, whether it could be read or not; None where there is none."""
        return self._records.get((kind, identifier))

    def of(self, kind: str, content: type[Content]) -> list[tuple[Written, Content]]:
        """The records of a kind that could be read, by id."""
        found = [(each, each.content) for each in self._records.values() if each.kind == kind]
        return sorted(
            ((each, read) for each, read in found if isinstance(read, content)), key=lambda record: record[0].id
        )

    def all_read(self, *kinds: str) -> bool:
        """Whether every record of these kinds is known and could be read."""
        return self.whole and all(each.content is not None for each in self._records.values() if each.kind in kinds)

    def nearest(self, kind: str, identifier: str) -> str:
        """` Did you mean X?` with the nearest record of the kind, or nothing."""
        return nearest(identifier, (known for word, known in self._records if word == kind))

    def found(self, record: Written, line: int | None, code: str, sentence: str) -> None:
        """Leave a finding at a line of a record; None = that of its id."""
        self.add(record.file, record.line if line is None else line, code, sentence)

    def add(self, file: str, line: int, code: str, sentence: str) -> None:
        """Leave a finding anywhere."""
        finding = Finding(file=file, line=line, code=code, sentence=sentence)
        if finding not in self.findings:
            self.findings.append(finding)

    def look_up(self, record: Written, kind: str, reference: Reference, field: str) -> Written | None:
        """What `field` of a record names; None after a finding where no record of the kind has that id.

        No finding where it may stand in a file that gave no record: that file has one already.
        """
        found = self.written(kind, reference.id)
        if found is None and self.whole:
            hint = self.nearest(kind, reference.id)
            sentence = f"`{field}`: no {kind} record is {reference.id}.{hint}"
            self.found(record, reference.line, "reference-unknown", sentence)
        return found
