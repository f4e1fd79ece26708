"""Owns the heads of the trail that lie outside the database (MONEY.md 31): JSON lines in a folder, one file a month, each
line on the disk before it counts. Only adds lines; never touches one that is whole.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

PATTERN = "heads-*.jsonl"
_LINE_MOST = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """A seal's head: up to `place` entries, the last link, the instant of the seal (UTC)."""

    place: int
    count: int
    link: bytes
    at: datetime


class HeadsBroken(Exception):
    """A line is not a head; the text names file and line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heads:
    """The folder, made with mode 0700 where there is none; the one above it has to be there."""

    folder: Path

    def add(self, head: Head) -> None:
        """Write one head; it is on the disk when this returns. OSError where it cannot be."""
        if not self.folder.is_dir():
            self.folder.mkdir(mode=0o700)
            _sync(self.folder.parent)
        path = self.folder / f"heads-{head.at.astimezone(UTC):%Y-%m}.jsonl"
        new = not path.exists()
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0), 0o600)
        try:
            _cut_torn(descriptor)
            members = {
                "place": head.place,
                "count": head.count,
                "link": head.link.hex(),
                "at": head.at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
            }
            line = (json.dumps(members) + "\n").encode()
            if os.write(descriptor, line) != len(line):
                raise OSError(f"{path} took only a part of a line")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        if new:
            _sync(self.folder)

    def last(self) -> int:
        """The place of the newest head; 0 where there is none."""
        newest = sorted(self.folder.glob(PATTERN))[-1:]
        return max((place for path in newest for place, _ in _read(path, path.stat().st_size)), default=0)

    def sizes(self) -> Mapping[Path, int]:
        """How long each file is now: what is added later is read another time."""
        return {path: path.stat().st_size for path in sorted(self.folder.glob(PATTERN))}

    def read(self, sizes: Mapping[Path, int]) -> Iterator[tuple[int, bytes]]:
        """Place and link of every head up to there, in the order in which they were written; HeadsBroken names a line
        that is none."""
        for path, size in sizes.items():
            yield from _read(path, size)


def _read(path: Path, size: int) -> Iterator[tuple[int, bytes]]:
    read = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            read += len(line)
            if not line.endswith(b"\n") or read > size:
                return  # torn: the machine stopped in the middle of it, and the next one takes its place
            try:
                members = json.loads(line[:_LINE_MOST])
                place, link = int(members["place"]), bytes.fromhex(members["link"])
            except (ValueError, KeyError, TypeError) as broken:
                raise HeadsBroken(f"{path.name}, line {number}: that is no head of a seal.") from broken
            yield place, link


def _cut_torn(descriptor: int) -> None:
    """Take away what is left of a line that was not written whole."""
    size = os.fstat(descriptor).st_size
    tail = os.pread(descriptor, _LINE_MOST, max(0, size - _LINE_MOST))
    if tail and not tail.endswith(b"\n"):
        os.ftruncate(descriptor, size - len(tail) + tail.rfind(b"\n") + 1)


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
