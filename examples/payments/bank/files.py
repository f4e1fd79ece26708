"""Owns the message of a bank file: which booked payments it settles, and what the bank keeps of one.

A payment that was booked is held in clearing until a file names it. Both ends read the message here. Pure: never sends,
never settles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from examples.payments.bank.orders import MessageRefused, key_of, members_of, money_of, text_of
from jobcontract.ids import REASON_MAX
from jobcontract.money import Money, exponent

LINES_MOST = 100_000
MEMBERS = ("key", "lines")
"""The members of a file, every one needed."""
_LINE = ("key", "minor", "currency", "exponent")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLine:
    """One payment by the key that it was booked under, with its amount."""

    key: str
    money: Money

    def message(self) -> dict[str, object]:
        """The line as it is sent and kept."""
        currency = self.money.currency
        return {"key": self.key, "minor": self.money.minor, "currency": currency, "exponent": exponent(currency)}


@dataclass(frozen=True, slots=True, kw_only=True)
class FileOrder:
    """A file that the bank is to settle: once for its key."""

    key: str
    lines: tuple[FileLine, ...]

    def message(self) -> dict[str, object]:
        """The file as it is sent and kept."""
        return {"key": self.key, "lines": [line.message() for line in self.lines]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """A file that was settled: its reference at the bank, when it came, and from when on the bank acknowledges it, UTC."""

    order: FileOrder
    reference: str
    at: datetime
    acknowledged_at: datetime

    def message(self) -> dict[str, object]:
        """The settlement as its line in the ledger."""
        return {
            "settlement": self.reference,
            "settled_at": self.at.isoformat(),
            "acknowledged_at": self.acknowledged_at.isoformat(),
            **self.order.message(),
        }

    def told(self, now: datetime) -> dict[str, object]:
        """What is told of it: whether it is acknowledged by `now`, never its lines."""
        return {
            "settlement": self.reference,
            "key": self.order.key,
            "lines": len(self.order.lines),
            "acknowledged": now >= self.acknowledged_at,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRefused:
    """A file that the bank refused whole, and when, UTC; it is looked at anew when it comes again."""

    order: FileOrder
    reason: str
    at: datetime

    def message(self) -> dict[str, object]:
        """The refusal as its line in the ledger."""
        return {"file_refused": self.reason, "refused_at": self.at.isoformat(), **self.order.message()}

    def told(self, now: datetime) -> dict[str, object]:  # noqa: ARG002  # as Settlement.told
        """What is told of it."""
        return {"refused": self.reason, "key": self.order.key}


FileEntry = Settlement | FileRefused


def is_file(message: object) -> bool:
    """Whether a line of the ledger is one of a file."""
    return isinstance(message, dict) and ("settlement" in message or "file_refused" in message)


def read_file(message: object) -> FileOrder:
    """The file in a message; MessageRefused names the first line or member that is wrong."""
    members = members_of(message, needed=MEMBERS, what="A file")
    return _order(members)


def read_file_entry(message: object) -> FileEntry:
    """The entry on a line of the ledger; MessageRefused where it is none."""
    settled = isinstance(message, dict) and "settlement" in message
    own = ("settlement", "settled_at", "acknowledged_at") if settled else ("file_refused", "refused_at")
    members = members_of(message, needed=(*own, *MEMBERS), what="A line")
    order = _order(members)
    if not settled:
        reason = text_of(members["file_refused"], "file_refused", most=REASON_MAX)
        return FileRefused(order=order, reason=reason, at=instant_of(members, "refused_at"))
    return Settlement(
        order=order,
        reference=text_of(members["settlement"], "settlement", most=REASON_MAX),
        at=instant_of(members, "settled_at"),
        acknowledged_at=instant_of(members, "acknowledged_at"),
    )


def instant_of(members: Mapping[str, object], name: str) -> datetime:
    """An instant in UTC; else MessageRefused."""
    try:
        at = datetime.fromisoformat(str(members[name]))
    except ValueError:
        raise MessageRefused(f"`{name}` is not an instant.") from None
    offset = at.utcoffset()
    if offset is None or offset.total_seconds() != 0:
        raise MessageRefused(f"`{name}` is not in UTC.")
    return at


def _order(members: Mapping[str, object]) -> FileOrder:
    lines = members["lines"]
    if not isinstance(lines, list) or not 1 <= len(lines) <= LINES_MOST:
        raise MessageRefused(f"`lines` is a list of 1 to {LINES_MOST:,} payments.")
    read: dict[str, FileLine] = {}
    for number, each in enumerate(lines, 1):
        try:
            line = _line(each)
        except MessageRefused as error:
            raise MessageRefused(f"Line {number:,}: {error}") from None
        if line.key in read:
            raise MessageRefused(f"Line {number:,}: names a payment that an earlier line names.")
        read[line.key] = line
    return FileOrder(key=key_of(members["key"]), lines=tuple(read.values()))


def _line(message: object) -> FileLine:
    members = members_of(message, needed=_LINE, what="A line")
    return FileLine(key=key_of(members["key"]), money=money_of(members))
