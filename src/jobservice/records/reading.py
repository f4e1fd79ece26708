"""Owns turning the files of a folder into records as written: UTF-8, YAML, `kind` first, `id` second, no id twice.

Never resolves what one record says of another (`assembly.py`).
"""

from __future__ import annotations

from collections.abc import Callable

from jobcontract.ids import SLUG_MAX, is_slug
from jobservice.records.findings import Finding
from jobservice.records.folder import RecordFile
from jobservice.records.forms import Form, nearest
from jobservice.records.kind import Kind, Written
from jobservice.records.kinds import KINDS
from jobservice.records.yaml import Mapping, Scalar, YamlRefused, parse

_Found = Callable[[int, str, str], None]
_BY_WORD = {kind.word: kind for kind in KINDS}


def read_records(files: tuple[RecordFile, ...]) -> tuple[tuple[Written, ...], tuple[Finding, ...]]:
    """Every record of `files`, in their order, and what is wrong with each alone."""
    findings: list[Finding] = []
    records: dict[tuple[str, str], Written] = {}
    for file in files:
        written = _read_file(file, findings)
        if written is None:
            continue
        first = records.setdefault((written.kind, written.id), written)
        if first is not written:
            sentence = f"The {written.kind} {written.id} stands in {first.file} already; rename or remove one."
            findings.append(Finding(file=file.shown, line=written.line, code="id-taken", sentence=sentence))
    return tuple(records.values()), tuple(findings)


def _read_file(file: RecordFile, findings: list[Finding]) -> Written | None:
    def found(line: int, code: str, sentence: str) -> None:
        findings.append(Finding(file=file.shown, line=line, code=code, sentence=sentence))

    try:
        text = file.content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = file.content.count(b"\n", 0, error.start) + 1
        found(
            line, "not-utf-8", f"The byte {file.content[error.start]:#04x} here is not UTF-8; save the file as UTF-8."
        )
        return None
    try:
        mapping = parse(text)
    except YamlRefused as refused:
        found(refused.line, refused.code, refused.sentence)
        return None
    kind = _kind(mapping, found)
    identifier = None if kind is None else _identifier(mapping, found)
    if kind is None or identifier is None:
        return None
    rest = Mapping(entries=mapping.entries[2:], line=mapping.line)
    content = kind.read(Form(file.shown, rest, findings), identifier.text)
    return Written(kind=kind.word, id=identifier.text, file=file.shown, line=identifier.line, content=content)


def _kind(mapping: Mapping, found: _Found) -> Kind | None:
    if not mapping.entries or mapping.entries[0][0].text != "kind":
        line = mapping.entries[0][0].line if mapping.entries else mapping.line
        found(line, "kind-missing", f"A record begins with `kind:`, one of {', '.join(_BY_WORD)}.")
        return None
    value = mapping.entries[0][1]
    word = value.text if isinstance(value, Scalar) else ""
    if word not in _BY_WORD:
        hint = nearest(word, _BY_WORD) or f" It is one of {', '.join(_BY_WORD)}."
        found(value.line, "kind-unknown", f"{word[:40]!r} is not a kind of record.{hint}")
    return _BY_WORD.get(word)


def _identifier(mapping: Mapping, found: _Found) -> Scalar | None:
    if len(mapping.entries) < 2 or mapping.entries[1][0].text != "id":
        line = mapping.entries[1][0].line if len(mapping.entries) > 1 else mapping.line
        found(line, "id-missing", "The second field of a record is `id:`, right below `kind:`.")
        return None
    value = mapping.entries[1][1]
    if isinstance(value, Scalar) and is_slug(value.text):
        return value
    form = f"small letters, digits, dots and dashes, at most {SLUG_MAX} characters, such as payments.payouts"
    found(value.line, "field-invalid", f"`id` is not an id ({form}).")
    return None
