"""Owns finding the files of a records folder and reading their bytes: nothing outside it, no links (case FILE-03).

Never looks inside a file.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from jobservice.records.findings import Finding

SUFFIX = ".yaml"
SIZE_MAX = 65_536
"""Most bytes of one record file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordFile:
    """One file of the folder: its path below the folder (`/` between parts), as shown to people, and its bytes."""

    path: str
    shown: str
    content: bytes


def read_folder(folder: Path) -> tuple[tuple[RecordFile, ...], tuple[Finding, ...]]:
    """All record files below `folder`, by path, and what could not be taken. Names that begin with a dot are skipped."""
    findings: list[Finding] = []
    files = [file for file in _walk(folder, "", folder, findings)]
    if not files and not findings:
        sentence = f"No record here: put one {SUFFIX} file a record into {folder.name or folder}/."
        findings.append(_finding(folder, "records-missing", sentence))
    return tuple(sorted(files, key=lambda file: file.path.encode())), tuple(findings)


def digest(files: tuple[RecordFile, ...]) -> str:
    """SHA-256 over paths and bytes, each with its length before it; the same wherever the folder stands."""
    whole = sha256(b"jobservice records 1\n")
    for file in files:
        for part in (file.path.encode(), file.content):
            whole.update(len(part).to_bytes(8, "big"))
            whole.update(part)
    return whole.hexdigest()


def _finding(path: Path, code: str, sentence: str) -> Finding:
    return Finding(file=str(path), line=1, code=code, sentence=sentence)


def _walk(folder: Path, below: str, top: Path, findings: list[Finding]) -> Iterator[RecordFile]:
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError as error:
        sentence = f"The folder cannot be listed ({error.strerror}); name an existing folder of records."
        findings.append(_finding(folder, "records-missing", sentence))
        return
    for entry in entries:
        path = Path(entry.path)
        if entry.name.startswith("."):
            continue
        if entry.is_symlink():
            sentence = "A link is not followed; put the file itself here."
            findings.append(_finding(path, "record-outside", sentence))
        elif entry.is_dir(follow_symlinks=False):
            yield from _walk(path, f"{below}{entry.name}/", top, findings)
        elif not entry.name.endswith(SUFFIX):
            sentence = f"Only {SUFFIX} files belong here; rename it, or move it elsewhere."
            findings.append(_finding(path, "record-misnamed", sentence))
        else:
            content = _content(path, findings)
            if content is not None:
                yield RecordFile(path=below + entry.name, shown=str(path), content=content)


def _content(path: Path, findings: list[Finding]) -> bytes | None:
    """The bytes of an ordinary file; opened without following a link that took its place meanwhile."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        findings.append(_finding(path, "record-unreadable", f"The file cannot be opened ({error.strerror})."))
        return None
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            findings.append(_finding(path, "record-outside", "Not an ordinary file; it is not read."))
            return None
        content = file.read(SIZE_MAX + 1)
    if len(content) > SIZE_MAX:
        findings.append(
            _finding(path, "record-too-large", f"Larger than {SIZE_MAX:,} bytes; a record is a page at most.")
        )
        return None
    return content
