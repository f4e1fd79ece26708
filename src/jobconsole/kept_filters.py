"""Owns the filters that a person kept under a name: one file a profile, read and written whole, each filter with the
queue that it was kept for. Names and filters are data; whether a filter can still be read is for others to say.

Consoles share the file: a change reads it again under a lock, and puts the new file in the place of the old one in one
step. A file that is not understood is never written over.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from jobcontract.ids import FILTER_MAX, SLUG_MAX, storable, visible

NAME_MAX = 60
"""Most characters of a name."""
KEPT_MAX = 500
"""Most filters of one profile."""
BYTES_MAX = 2_000_000
"""A larger file was not written by us."""
VERSION = 1
PATIENCE = 3.0
"""Seconds that a change waits for another console to finish its own."""
_LOOK_AGAIN = 0.02
_READING = os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
"""How it is opened: a pipe of that name must not hold the console."""


class KeptFiltersError(Exception):
    """The kept filters cannot be read or changed; the text says what and what to do. Nothing was changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFilter:
    """A filter with its name and the queue that it was kept for."""

    queue: str
    name: str
    text: str


class KeptFilters:
    """The kept filters in `file`, which need not exist. Calls may wait for a disk or another console: use a thread."""

    def __init__(self, file: Path, *, patience: float = PATIENCE) -> None:
        self.file = file
        self._patience = patience

    def read(self) -> tuple[KeptFilter, ...]:
        """Every kept filter, by queue and name. Raises `KeptFiltersError`."""
        try:
            written = self._bytes()
        except OSError as error:
            raise self._unusable(_why(error)) from None
        return () if written is None else self._understood(written)

    def find(self, queue: str, name: str) -> KeptFilter | None:
        """The filter kept under `name` for `queue`. Raises `KeptFiltersError`."""
        return next((kept for kept in self.read() if (kept.queue, kept.name) == (queue, name)), None)

    def save(self, kept: KeptFilter) -> KeptFilter | None:
        """Keeps it, in the place of the one with its queue and name, which is given back. Raises `KeptFiltersError`."""
        fault = name_fault(kept.name) or _text_fault(kept.text)
        if fault:
            raise KeptFiltersError(fault)
        replaced: list[KeptFilter] = []

        def put(known: Sequence[KeptFilter]) -> list[KeptFilter]:
            replaced[:] = [one for one in known if _same(one, kept)]
            if not replaced and len(known) >= KEPT_MAX:
                raise KeptFiltersError(f"{KEPT_MAX} filters are kept already. Delete one first.")
            return [*(one for one in known if not _same(one, kept)), kept]

        self._change(put)
        return replaced[0] if replaced else None

    def delete(self, queue: str, name: str) -> KeptFilter | None:
        """Forgets the filter and gives it back; None where there is none of that name. Raises `KeptFiltersError`."""
        gone: list[KeptFilter] = []

        def drop(known: Sequence[KeptFilter]) -> list[KeptFilter]:
            gone[:] = [one for one in known if (one.queue, one.name) == (queue, name)]
            return [one for one in known if one not in gone]

        self._change(drop)
        return gone[0] if gone else None

    def _change(self, change: Callable[[Sequence[KeptFilter]], list[KeptFilter]]) -> None:
        try:
            _make_folders(self.file.parent)
            with _locked(self.file.with_suffix(".lock"), self._patience):
                known = self.read()
                changed = sorted(change(known), key=_order)
                if tuple(changed) != known:
                    self._write(changed)
        except OSError as error:
            raise KeptFiltersError(f"The saved filters cannot be written to {self.file}: {_why(error)}.") from None

    def _bytes(self) -> bytes | None:
        try:
            with os.fdopen(os.open(self.file, _READING), "rb") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise self._unusable("it is no plain file")
                written = file.read(BYTES_MAX + 1)
        except FileNotFoundError:
            return None
        if len(written) > BYTES_MAX:
            raise self._unusable(f"it has more than {BYTES_MAX:,} bytes")
        return written

    def _understood(self, written: bytes) -> tuple[KeptFilter, ...]:
        try:
            document = json.loads(written.decode("utf-8"))
        except json.JSONDecodeError as error:
            raise self._unusable(f"it is no JSON (line {error.lineno}, column {error.colno})") from None
        except (UnicodeDecodeError, RecursionError):
            raise self._unusable("it is no JSON") from None
        if not isinstance(document, dict) or not isinstance(document.get("filters"), list):
            raise self._unusable("it holds something else than saved filters")
        if document.get("version") != VERSION:
            raise self._unusable("it was written by another version of the console")
        kept = [self._one(at, entry) for at, entry in enumerate(document["filters"], 1)]
        for at, one in enumerate(kept, 1):
            if any(_same(one, before) for before in kept[: at - 1]):
                raise self._unusable(f"its entry {at} has the name and queue of an earlier one")
        return tuple(sorted(kept, key=_order))

    def _one(self, at: int, entry: object) -> KeptFilter:
        parts = entry if isinstance(entry, dict) else {}
        queue, name, text = parts.get("queue"), parts.get("name"), parts.get("filter")
        if not isinstance(queue, str) or not isinstance(name, str) or not isinstance(text, str) or len(parts) != 3:
            raise self._unusable(f"its entry {at} needs queue, name and filter, each a text, and nothing else")
        fault = "its queue is no id." if not 0 < len(queue) <= SLUG_MAX else name_fault(name) or _text_fault(text)
        if fault:
            raise self._unusable(f"its entry {at} is wrong: {fault.rstrip('.')}")
        return KeptFilter(queue=queue, name=name, text=text)

    def _write(self, kept: Sequence[KeptFilter]) -> None:
        entries = [{"queue": one.queue, "name": one.name, "filter": one.text} for one in kept]
        document = json.dumps({"version": VERSION, "filters": entries}, indent=1) + "\n"
        place = self.file.resolve()  # a link to where the file really is stays one
        handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.stem}-")
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write(document)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(place)
        except BaseException:  # whatever happened, no half-written file stays behind
            with suppress(OSError):
                Path(name).unlink()
            raise

    def _unusable(self, why: str) -> KeptFiltersError:
        return KeptFiltersError(
            f"The saved filters in {self.file} cannot be used: {why}. The file is left as it is; mend it or move it away."
        )


def name_fault(name: str) -> str:
    """What is wrong with a name, as a sentence; empty where nothing is."""
    if name != name.strip() or not visible(name):
        return "A saved filter needs a name that can be seen, without blanks around it."
    if len(name) > NAME_MAX:
        return f"The name has {len(name):,} characters; at most {NAME_MAX}."
    if not storable(name) or not name.isprintable():
        return "The name holds a character that cannot be seen, such as a line break: take it out."
    return ""


def _text_fault(text: str) -> str:
    if not text.strip():
        return "An empty filter matches everything; there is nothing to save."
    if len(text) > FILTER_MAX:
        return f"The filter has {len(text):,} characters; at most {FILTER_MAX}."
    return "" if storable(text) else "The filter holds a character that cannot be kept: take it out."


def _same(one: KeptFilter, other: KeptFilter) -> bool:
    return (one.queue, one.name) == (other.queue, other.name)


def _order(kept: KeptFilter) -> tuple[str, str, str]:
    return kept.queue, kept.name.casefold(), kept.name


def _why(error: OSError) -> str:
    return error.strerror or type(error).__name__


def _make_folders(folder: Path) -> None:
    if folder.is_dir():
        return
    _make_folders(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)


@contextmanager
def _locked(path: Path, patience: float) -> Iterator[None]:
    handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        until = time.monotonic() + patience
        while not _lock(handle):
            if time.monotonic() >= until:
                raise KeptFiltersError("Another console is changing the saved filters. Try again in a moment.")
            time.sleep(_LOOK_AGAIN)
        yield
    finally:
        os.close(handle)


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> bool:
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
