"""Owns the digest of a plan: the bytes that are hashed, the same for service, Worker and whoever confirms (MONEY.md 9).

Version tag, then each text as its length in bytes, a colon, and its UTF-8 exactly as stored. Head first, then the rows
in byte order of their ids. Never normalises, never rounds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

TAG = b"jobs.plan.1"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestTotal:
    """The totals of one currency, in minor units."""

    currency: str
    exponent: int
    out_minor: int
    out_count: int
    back_minor: int
    back_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestHead:
    """What a plan is, besides its rows. `parameters` are texts by name; `totals` in any order."""

    tenant: str
    plan: str
    person: str
    command: str
    use_case: str
    use_case_version: int
    frozen_at: datetime
    parameters: Mapping[str, str]
    count: int
    totals: tuple[DigestTotal, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestRow:
    """One item as the plan shows it; `key` is empty where it has none."""

    item: str
    money_version: int
    key: str
    title: str
    minor: int
    currency: str
    exponent: int
    payee_id: str
    payee_name: str
    account_last4: str
    account_mark: str


def microseconds(instant: datetime) -> int:
    """Microseconds since 1970 UTC, exactly."""
    return (instant - _EPOCH) // (datetime.resolution)


class PlanDigest:
    """The digest while rows stream through it, in byte order of their ids; ValueError for one out of order."""

    def __init__(self, head: DigestHead) -> None:
        self._hash = hashlib.sha256(TAG)
        self._last = ""
        self._expected = head.count
        self.rows = 0
        """How many rows went through."""
        self._hash.update(_texts(_head(head)))

    def add(self, row: DigestRow) -> None:
        """Put one row through."""
        if row.item <= self._last:
            raise ValueError("rows of a plan go through its digest in the order of their ids")
        self._last = row.item
        self._hash.update(_texts(_row(row)))
        self.rows += 1

    def hexdigest(self) -> str:
        """64 hexadecimal digits; ValueError before every row of the plan went through."""
        if self.rows != self._expected:
            raise ValueError(f"{self.rows} of {self._expected} rows went through the digest")
        return self._hash.hexdigest()


def plan_digest(head: DigestHead, rows: Iterable[DigestRow]) -> str:
    """The digest of a whole plan, whatever the order of `rows`."""
    digest = PlanDigest(head)
    for row in sorted(rows, key=lambda row: row.item):
        digest.add(row)
    return digest.hexdigest()


def parameter_texts(parameters: Mapping[str, bool | int | str]) -> Mapping[str, str]:
    """Parameters of a command as the digest takes them: a boolean is `true` or `false`, a number its decimal digits."""
    return {name: str(given).lower() if isinstance(given, bool) else str(given) for name, given in parameters.items()}


def account_mark(salt: bytes, account: str) -> str:
    """What stands for an account in a digest: it cannot be turned back without the salt, which never leaves."""
    return hashlib.sha256(salt + account.encode()).hexdigest()


def _head(head: DigestHead) -> list[str]:
    texts = [head.tenant, head.plan, head.person, head.command, head.use_case, str(head.use_case_version)]
    texts += [str(microseconds(head.frozen_at)), str(len(head.parameters))]
    for name in sorted(head.parameters):
        texts += [name, head.parameters[name]]
    texts += [str(head.count), str(len(head.totals))]
    for total in sorted(head.totals, key=lambda total: total.currency):
        texts += [total.currency, str(total.exponent), str(total.out_minor), str(total.out_count)]
        texts += [str(total.back_minor), str(total.back_count)]
    return texts


def _row(row: DigestRow) -> list[str]:
    return [
        row.item,
        str(row.money_version),
        row.key,
        row.title,
        str(row.minor),
        row.currency,
        str(row.exponent),
        row.payee_id,
        row.payee_name,
        row.account_last4,
        row.account_mark,
    ]


def _texts(texts: Iterable[str]) -> bytes:
    encoded = [text.encode() for text in texts]
    return b"".join(b"%d:%b" % (len(each), each) for each in encoded)
