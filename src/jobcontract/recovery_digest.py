"""Owns the digest of a recovery: the bytes that are hashed, the same for service, Worker and whoever confirms.

Version tag, then each text as its length in bytes, a colon, and its UTF-8 exactly as stored (as `plan_digest`). Head first,
then the rows by number. Never normalises, never rounds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from jobcontract.plan_digest import microseconds

TAG = b"jobs.recovery.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryDigestMoney:
    """What confirmed plans hold in one currency, in minor units."""

    currency: str
    exponent: int
    out_minor: int
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryDigestHead:
    """What a recovery is, besides its rows; `money` in any order."""

    tenant: str
    recovery: str
    person: str
    act: str
    reason: str
    frozen_at: datetime
    disable_until: datetime | None
    count: int
    money: tuple[RecoveryDigestMoney, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecoveryDigestRow:
    """One row as the recovery shows it; `not_done` counts items that are not done, 0 where it has none."""

    number: int
    key: str
    target: str
    name: str
    moves: str
    row_version: int
    state: str
    not_done: int


class RecoveryDigest:
    """The digest while rows stream through it, by number from 1; ValueError for one out of order."""

    def __init__(self, head: RecoveryDigestHead) -> None:
        self._hash = hashlib.sha256(TAG)
        self._expected = head.count
        self.rows = 0
        """How many rows went through."""
        self._hash.update(_texts(_head(head)))

    def add(self, row: RecoveryDigestRow) -> None:
        """Put one row through."""
        if row.number != self.rows + 1:
            raise ValueError("rows of a recovery go through its digest by number")
        self._hash.update(row_bytes(row))
        self.rows += 1

    def hexdigest(self) -> str:
        """64 hexadecimal digits; ValueError before every row of the recovery went through."""
        if self.rows != self._expected:
            raise ValueError(f"{self.rows} of {self._expected} rows went through the digest")
        return self._hash.hexdigest()


def recovery_digest(head: RecoveryDigestHead, rows: Iterable[RecoveryDigestRow]) -> str:
    """The digest of a whole recovery, whatever the order of `rows`."""
    digest = RecoveryDigest(head)
    for row in sorted(rows, key=lambda row: row.number):
        digest.add(row)
    return digest.hexdigest()


def row_bytes(row: RecoveryDigestRow) -> bytes:
    """What of one row is hashed."""
    return _texts(_row(row))


def _head(head: RecoveryDigestHead) -> list[str]:
    until = "" if head.disable_until is None else str(microseconds(head.disable_until))
    texts = [head.tenant, head.recovery, head.person, head.act, head.reason, str(microseconds(head.frozen_at)), until]
    texts += [str(head.count), str(len(head.money))]
    for money in sorted(head.money, key=lambda money: money.currency):
        texts += [money.currency, str(money.exponent), str(money.out_minor), str(money.count)]
    return texts


def _row(row: RecoveryDigestRow) -> list[str]:
    return [
        str(row.number),
        row.key,
        row.target,
        row.name,
        row.moves,
        str(row.row_version),
        row.state,
        str(row.not_done),
    ]


def _texts(texts: Iterable[str]) -> bytes:
    encoded = [text.encode() for text in texts]
    return b"".join(b"%d:%b" % (len(each), each) for each in encoded)
