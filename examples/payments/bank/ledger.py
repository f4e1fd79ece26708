"""Owns the bank's ledger: one file of JSON lines that only grows, one line a booking, a settled file, or a refusal.

A line is on the disk before anybody is told of it, so a killed bank forgets nothing that it said. One process at a
time writes a ledger. Never answers HTTP, never reads the clock that it was not given.
"""

from __future__ import annotations

import fcntl
import json
import os
import stat
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from examples.payments.bank.files import (
    FileEntry,
    FileOrder,
    FileRefused,
    Settlement,
    instant_of,
    is_file,
    read_file_entry,
)
from examples.payments.bank.orders import MEMBERS, MessageRefused, PaymentOrder, members_of, parse, read_order, text_of
from jobcontract.ids import REASON_MAX

Clock = Callable[[], datetime]
"""The bank's own clock, UTC: it is another company, and the service's database is not its clock."""


class LedgerRefused(Exception):
    """A ledger that cannot be used; the sentence says why."""


class KeyTaken(Exception):
    """A payment was booked under this outward key, with other content; `entry` is that booking."""

    def __init__(self, entry: Booking) -> None:
        super().__init__("A payment with other content was booked under this key; nothing was booked now.")
        self.entry = entry


class FileKeyTaken(Exception):
    """A file was settled under this key, with other content; `entry` is that settlement."""

    def __init__(self, entry: Settlement) -> None:
        super().__init__("A file with other content was settled under this key; nothing was settled now.")
        self.entry = entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Booking:
    """A payment that was made: its reference at the bank and when it was booked, UTC."""

    order: PaymentOrder
    reference: str
    at: datetime

    def message(self) -> dict[str, object]:
        """The booking as its line in the ledger."""
        return {"booking": self.reference, "booked_at": self.at.isoformat(), **self.order.message()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """A payment that the bank refused for good, and when, UTC."""

    order: PaymentOrder
    reason: str
    at: datetime

    def message(self) -> dict[str, object]:
        """The refusal as its line in the ledger."""
        return {"refused": self.reason, "refused_at": self.at.isoformat(), **self.order.message()}


Entry = Booking | Refused


class Ledger:
    """An open ledger. Safe for several threads; several that wait for the disk share one flush."""

    def __init__(self, path: Path, clock: Clock) -> None:
        """Open it (made with mode 0600 where there is none) and read it back; LedgerRefused where it cannot be."""
        self._clock = clock
        self._lock = threading.Lock()
        self._flushing = threading.Lock()
        self._entries: dict[str, tuple[Entry, int]] = {}
        self._written: list[Entry] = []
        self._files: dict[str, tuple[FileEntry, int]] = {}
        self._settled: dict[str, str] = {}
        """Reference of the settlement, by the key of the payment."""
        self._settlements = 0
        self._bookings = 0
        self._lines = 0
        self._flushed = 0
        self._broken = False
        self._file = _opened(path)
        self.dropped: str | None = None
        """The sentence about a last line that was torn; None = there was none."""
        try:
            self._read_back(path)
        except BaseException:  # however reading ends, the file and its lock are let go
            os.close(self._file)
            raise

    def book(self, order: PaymentOrder) -> tuple[Entry, bool]:
        """Book once for each key: the entry, and whether it was there before. KeyTaken, LedgerRefused.

        Under a key that was refused nothing is booked: other content, like a corrected account, is looked at anew.
        """
        return self._enter(order, self._booking)

    def refuse(self, order: PaymentOrder, reason: str) -> tuple[Entry, bool]:
        """Refuse this content for good; what is known of it stays. The same answer and errors as `book`."""
        return self._enter(order, lambda order: Refused(order=order, reason=reason, at=self._clock()))

    def find(self, key: str) -> Entry | None:
        """What is known last of a key, once it is on the disk; None = never seen."""
        with self._lock:
            entry, line = self._entries.get(key, (None, 0))
        self._flush(line)
        return entry

    def entries(self) -> tuple[Entry, ...]:
        """All of it, in the order of the file."""
        with self._lock:
            entries, line = tuple(self._written), self._lines
        self._flush(line)
        return entries

    def settle(self, order: FileOrder, *, late: float = 0.0) -> tuple[FileEntry, bool]:
        """Settle a file once for its key: the entry, and whether it was there before. FileKeyTaken, LedgerRefused.

        Refused whole where a line names a payment that was not booked with that amount, or that another file settled.
        It is acknowledged `late` seconds after it came.
        """
        with self._lock:
            known, line = self._files.get(order.key, (None, 0))
            repeated = isinstance(known, Settlement)
            if isinstance(known, Settlement):
                entry: FileEntry = known
            else:
                why = self._unsettled(order)
                entry = self._settlement(order, late) if why is None else self._file_refusal(order, why)
                line = self._enter_file(entry)
        self._flush(line)
        if isinstance(entry, Settlement) and entry.order != order:
            raise FileKeyTaken(entry)
        return entry, repeated

    def refuse_file(self, order: FileOrder, reason: str) -> tuple[FileEntry, bool]:
        """Refuse a file whole, unless it was settled: then that is the answer. As `settle`."""
        with self._lock:
            known, line = self._files.get(order.key, (None, 0))
            entry = known if isinstance(known, Settlement) else self._file_refusal(order, reason)
            if entry is not known:
                line = self._enter_file(entry)
        self._flush(line)
        if isinstance(entry, Settlement) and entry.order != order:
            raise FileKeyTaken(entry)
        return entry, entry is known

    def find_file(self, key: str) -> FileEntry | None:
        """What is known last of a file, once it is on the disk; None = never seen."""
        with self._lock:
            entry, line = self._files.get(key, (None, 0))
        self._flush(line)
        return entry

    def files(self) -> tuple[FileEntry, ...]:
        """What is known last of each file, in the order in which their keys came."""
        with self._lock:
            entries, line = tuple(entry for entry, _ in self._files.values()), self._lines
        self._flush(line)
        return entries

    @property
    def now(self) -> datetime:
        """The bank's clock."""
        return self._clock()

    def close(self) -> None:
        """Take nothing more; whoever waits for the disk is still served."""
        with self._lock, self._flushing:
            if not self._broken:
                os.fsync(self._file)
                self._flushed = self._lines
            self._broken = True
            os.close(self._file)

    def _enter(self, order: PaymentOrder, make: Callable[[PaymentOrder], Entry]) -> tuple[Entry, bool]:
        with self._lock:
            entry, line = self._entries.get(order.key, (None, 0))
            repeated = entry is not None and entry.order == order
            if entry is None or (isinstance(entry, Refused) and not repeated):
                entry = make(order)
                self._append(entry)
                line = self._keep(entry)
        self._flush(line)
        if isinstance(entry, Booking) and entry.order != order:
            raise KeyTaken(entry)
        return entry, repeated

    def _unsettled(self, order: FileOrder) -> str | None:
        """Why a file is refused; None where each of its payments is booked so, and held in clearing."""
        for number, line in enumerate(order.lines, 1):
            entry, _ = self._entries.get(line.key, (None, 0))
            if not isinstance(entry, Booking):
                return f"Line {number:,} names a payment that was not booked."
            if entry.order.money != line.money:
                return f"Line {number:,} is {line.money}, and booking {entry.reference} is {entry.order.money}."
            if line.key in self._settled:
                return f"Line {number:,}: booking {entry.reference} was settled by {self._settled[line.key]}."
        return None

    def _settlement(self, order: FileOrder, late: float) -> Settlement:
        at = self._clock()
        return Settlement(
            order=order, reference=self._next_settlement(), at=at, acknowledged_at=at + timedelta(seconds=late)
        )

    def _next_settlement(self) -> str:
        return f"ST-{self._settlements + 1:06d}"

    def _file_refusal(self, order: FileOrder, reason: str) -> FileRefused:
        return FileRefused(order=order, reason=reason, at=self._clock())

    def _enter_file(self, entry: FileEntry) -> int:
        self._append(entry)
        return self._keep_file(entry)

    def _keep_file(self, entry: FileEntry) -> int:
        self._lines += 1
        self._files[entry.order.key] = (entry, self._lines)
        if isinstance(entry, Settlement):
            self._settlements += 1
            self._settled.update(dict.fromkeys((line.key for line in entry.order.lines), entry.reference))
        return self._lines

    def _booking(self, order: PaymentOrder) -> Booking:
        return Booking(order=order, reference=self._next_reference(), at=self._clock())

    def _next_reference(self) -> str:
        return f"BK-{self._bookings + 1:06d}"

    def _keep(self, entry: Entry) -> int:
        """The line that it stands on, counted from 1."""
        self._lines += 1
        self._bookings += isinstance(entry, Booking)
        self._entries[entry.order.key] = (entry, self._lines)
        self._written.append(entry)
        return self._lines

    def _append(self, entry: Entry | FileEntry) -> None:
        """After a write that failed nobody knows what the file holds: nothing more is taken until it is read again."""
        self._usable()
        line = json.dumps(entry.message(), ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        try:
            while line:
                line = line[os.write(self._file, line) :]
        except OSError as error:
            self._broken = True
            raise LedgerRefused(f"The ledger cannot be written: {error.strerror}.") from error

    def _flush(self, line: int) -> None:
        """Return when that line is on the disk."""
        with self._flushing:
            if self._flushed >= line:
                return
            self._usable()
            lines = self._lines
            try:
                os.fsync(self._file)
            except OSError as error:
                self._broken = True
                raise LedgerRefused(f"The ledger cannot be written to the disk: {error.strerror}.") from error
            self._flushed = lines

    def _usable(self) -> None:
        if self._broken:
            raise LedgerRefused("The ledger takes nothing more until the bank is started again.")

    def _read_back(self, path: Path) -> None:
        good = 0
        with open(self._file, "rb", closefd=False) as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    os.ftruncate(self._file, good)
                    self.dropped = (
                        f"The ledger {path} ended inside line {number:,}; its {len(line):,} bytes were dropped. "
                        "Nobody was told of that line."
                    )
                    break
                self._read_line(path, number, line)
                good += len(line)
        os.fsync(self._file)
        self._flushed = self._lines

    def _read_line(self, path: Path, number: int, line: bytes) -> None:
        try:
            message = parse(line)
            if is_file(message):
                self._read_file(path, number, read_file_entry(message))
                return
            entry = _entry(message)
        except MessageRefused as error:
            raise LedgerRefused(f"Line {number:,} of the ledger {path} cannot be read: {error}") from None
        earlier, _ = self._entries.get(entry.order.key, (None, 0))
        if isinstance(earlier, Booking) or (earlier is not None and earlier.order == entry.order):
            raise LedgerRefused(f"Line {number:,} of the ledger {path} has a key that an earlier line has.")
        if isinstance(entry, Booking) and entry.reference != self._next_reference():
            raise LedgerRefused(f"Line {number:,} of the ledger {path} is not the next booking: a line is missing.")
        self._keep(entry)

    def _read_file(self, path: Path, number: int, entry: FileEntry) -> None:
        known, _ = self._files.get(entry.order.key, (None, 0))
        if isinstance(known, Settlement):
            raise LedgerRefused(f"Line {number:,} of the ledger {path} has a file that an earlier line settled.")
        if isinstance(entry, Settlement) and (
            entry.reference != self._next_settlement() or self._unsettled(entry.order) is not None
        ):
            raise LedgerRefused(f"Line {number:,} of the ledger {path} is not the next settlement of what was booked.")
        self._keep_file(entry)


def _opened(path: Path) -> int:
    """A descriptor that appends and that no other process has for a ledger."""
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        file = os.open(path, flags, 0o600)
    except OSError as error:
        raise LedgerRefused(f"The ledger {path} cannot be opened: {error.strerror}.") from None
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise LedgerRefused(f"The ledger {path} is not a plain file.")
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.fchmod(file, 0o600)
        _flush_folder(path.parent)
    except BlockingIOError:
        os.close(file)
        raise LedgerRefused(f"Another bank writes the ledger {path}; end it, or take another file.") from None
    except BaseException:  # however it ends, the file and its lock are let go
        os.close(file)
        raise
    return file


def _flush_folder(folder: Path) -> None:
    """A new file is only found again after a power cut when its folder is on the disk, too."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _entry(message: object) -> Entry:
    refused = isinstance(message, dict) and "refused" in message
    first, second = ("refused", "refused_at") if refused else ("booking", "booked_at")
    members = members_of(message, needed=(first, second, *MEMBERS), what="A line")
    order = read_order({name: members[name] for name in MEMBERS})
    at = instant_of(members, second)
    if refused:
        return Refused(order=order, reason=text_of(members[first], first, most=REASON_MAX), at=at)
    return Booking(order=order, reference=text_of(members[first], first, most=REASON_MAX), at=at)
