"""Owns what the Worker believes of a recovery that moves money, row by row: its signature, over its digest, over the rows
that were confirmed (MONEY.md 1, 19). A row that was written past the service runs nothing.

All rows of a recovery are read through the digest once, and again after a while; what went through it is kept as one hash a
row. A step compares signature, head and its own row with that: a recovery of fifty thousand is not read fifty thousand times.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic
from uuid import UUID

from jobcontract.occurrence_names import occurrence_name
from jobcontract.operating import RecoveryTarget
from jobcontract.recovery_digest import RecoveryDigest, RecoveryDigestHead, row_bytes
from jobcontract.states import Moves, Turn
from jobservice.rules import recoveries as rules
from jobservice.rules.keys import PublicKeys, Signature
from jobservice.store import recovering as store
from jobservice.store import recovery_rows as rows
from jobservice.store.database import Row, Transaction

AGAIN_SECONDS = 60.0
"""So long after all rows went through the digest they do so again: what was taken out, added or changed elsewhere in a
recovery stops it within that time, and what a step acts on at once."""
KEPT = 8
"""Recoveries whose rows are kept: 32 bytes a row."""
_HASH_BYTES = 32
_OPEN_TURNS = frozenset({Turn.NOT_STARTED, Turn.RUNNING})


class Unconfirmed(Exception):
    """A recovery, or a row of one, that is not what a person confirmed with a code; the text is a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmedRow:
    """A row that a person confirmed, and how it stands. Texts are as `jobs.recovery_rows` has them."""

    act: str
    target: str
    moves: str
    turn: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Whole:
    """A recovery whose rows went through its digest: one hash a row, by number from 1. `read_at`: monotonic seconds."""

    digest: bytes
    head: RecoveryDigestHead
    rows: bytes
    read_at: float

    def holds(self, number: int, row: Mapping[str, object]) -> bool:
        """Whether the row of that number was as this one is now."""
        end = number * _HASH_BYTES
        return 0 < end <= len(self.rows) and hmac.compare_digest(self.rows[end - _HASH_BYTES : end], _hashed(row))


@dataclass(slots=True)
class RecoveryProof:
    """What one process believes of recoveries. `keys` reads the public keys anew each time; `again`: see AGAIN_SECONDS."""

    keys: Callable[[], PublicKeys]
    again: float = AGAIN_SECONDS
    _known: OrderedDict[str, _Whole] = field(default_factory=OrderedDict, init=False)
    _reading: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    async def row(self, transaction: Transaction, recovery: str, key: str) -> ConfirmedRow | None:
        """The row of that key of a recovery of the transaction's tenant; None where it has none. Unconfirmed where
        recovery or row is not what was confirmed over the API. Reads all rows where that is due (`AGAIN_SECONDS`)."""
        head, whole = await self._proven(transaction, recovery)
        row = await rows.confirmed(transaction, recovery, key)
        if row is None:
            return None
        if not whole.holds(row["number"], row) or not _acts_on_its_name(row):
            raise Unconfirmed(_ROW.format(number=row["number"], name=row["name"]))
        return ConfirmedRow(act=head["act"], target=row["target"], moves=row["moves"], turn=row["turn"])

    async def runs(self, transaction: Transaction, recovery: str, occurrence: UUID) -> bool:
        """Whether a recovery runs just that occurrence, by a row that moves money and has not ended. Unconfirmed as `row`."""
        row = await self.row(transaction, recovery, str(occurrence))
        if row is None:  # then it was made of a skipped instant, whose row has its name
            instant = await store.instant(transaction, occurrence)
            row = None if instant is None else await self.row(transaction, recovery, occurrence_name(*instant))
        return row is not None and row.moves == Moves.MONEY and row.turn in _OPEN_TURNS

    async def whole(self, transaction: Transaction, recovery: str) -> None:
        """Put all rows of a recovery through its digest now. Unconfirmed as `row`."""
        await self._proven(transaction, recovery, again=0.0)

    async def _proven(
        self, transaction: Transaction, recovery: str, *, again: float | None = None
    ) -> tuple[Row, _Whole]:
        """Its head, signed and as it was confirmed, and its rows as they went through the digest."""
        head = await store.head(transaction, recovery)
        if head is None:
            raise Unconfirmed("It was never confirmed with a code, or is not there.")
        stored = bytes(head["digest"])
        signature = Signature(key_id=head["signing_key"], signature=bytes(head["signature"]))
        if not self.keys().verify(recovery, stored, signature):
            raise Unconfirmed(f"The signature of its confirmation (key {head['signing_key']}) does not hold.")
        shown = _head(head)
        async with self._reading:  # whoever waits finds it read
            whole = self._known.get(recovery)
            due = self.again if again is None else again
            if whole is None or whole.digest != stored or monotonic() - whole.read_at >= due:
                whole = await self._read(transaction, recovery, shown, stored)
        if whole.head != shown:
            raise Unconfirmed(_OTHER)
        return head, whole

    async def _read(self, transaction: Transaction, recovery: str, head: RecoveryDigestHead, stored: bytes) -> _Whole:
        """Put all rows through the digest, and keep them where it is the one that was signed."""
        before = self._known.pop(recovery, None)
        read_at = monotonic()
        digest, hashes = RecoveryDigest(head), bytearray()
        differs: str | None = None
        try:
            async for chunk in rows.hashed(transaction, recovery):
                if before is not None and differs is None:
                    differs = next((_named(row) for row in chunk if not before.holds(row["number"], row)), None)
                await asyncio.to_thread(_add, digest, hashes, chunk)
            holds = digest.hexdigest() == stored.hex()
        except (ValueError, KeyError, TypeError):  # whatever a row written past the service makes of it
            holds = False
        if not holds:
            raise Unconfirmed(differs or _OTHER)
        whole = _Whole(digest=stored, head=head, rows=bytes(hashes), read_at=read_at)
        self._known[recovery] = whole
        while len(self._known) > KEPT:
            self._known.popitem(last=False)
        return whole


_OTHER = "Its rows are not those that were confirmed: their digest differs."
_ROW = "Row {number}, {name}, is not as it was confirmed."


def _named(row: Row) -> str:
    return _ROW.format(number=row["number"], name=row["name"])


def _head(head: Row) -> RecoveryDigestHead:
    """What of a recovery's own row goes through the digest. Unconfirmed for what the service never writes."""
    frozen = rules.Frozen(
        tenant=head["tenant"],
        recovery=head["id"],
        owner=head["owner"],
        act=head["act"],
        reason=head["reason"],
        frozen_at=head["frozen_at"],
        disable_until=head["disable_until"],
        count=head["count"],
        money=head["money"],
    )
    try:
        return rules.digest_head(frozen)
    except (ValueError, KeyError, TypeError):
        raise Unconfirmed(_OTHER) from None


def _acts_on_its_name(row: Row) -> bool:
    """Whether what a row acts on is what its key and name say, which alone go through the digest."""
    if row["target"] == RecoveryTarget.JOB:
        return bool(str(row["job"]) == row["key"])
    named: bool = (
        row["scheduled_at"] is not None and occurrence_name(row["schedule"], row["scheduled_at"]) == row["name"]
    )
    return named and (row["target"] != RecoveryTarget.OCCURRENCE or str(row["occurrence"]) == row["key"])


def _hashed(row: Mapping[str, object]) -> bytes:
    return hashlib.sha256(row_bytes(rules.digest_row(row))).digest()


def _add(digest: RecoveryDigest, hashes: bytearray, chunk: Sequence[Mapping[str, object]]) -> None:
    for row in chunk:
        digest.add(rules.digest_row(row))
        hashes += _hashed(row)
