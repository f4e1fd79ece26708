"""Owns what holds the trail together: how a link is computed, and which gap a chain has first (MONEY.md 31). Pure.

A link is SHA-256 over the link before it and the entry's texts, each in UTF-8 behind its length. Whoever can write into the
database can compute links, too: then only the heads that were written elsewhere tell.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum

GENESIS = hashlib.sha256(b"jobs.audit.1").digest()
"""Before the first link."""
LONGEST_SECONDS = 3_600.0
"""No transaction lasts so long (a statement, an idle transaction and a run have their limits): what was written so long
before a seal is in it or in an earlier one."""
_NOTHING = b"\xff\xff\xff\xff"


class GapKind(StrEnum):
    """What is wrong with the chain."""

    ENTRY_CHANGED = "entry-changed"
    ENTRY_MISSING = "entry-missing"
    ENTRY_ADDED = "entry-added"
    LINK_REWRITTEN = "link-rewritten"
    LINK_MISSING = "link-missing"
    SEAL_CHANGED = "seal-changed"
    CHAIN_REWRITTEN = "chain-rewritten"
    TAIL_MISSING = "tail-missing"
    PURGE_UNSAID = "purge-unsaid"
    HEADS_UNREADABLE = "heads-unreadable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """The first thing that is wrong; `place` and `entry` where they are known."""

    kind: GapKind
    place: int | None = None
    entry: int | None = None
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Seal:
    """One batch: up to `upto` (transaction, entry) all of its life is sealed; `place` is that of its last link."""

    number: int
    at: datetime
    life: int
    upto: tuple[int, int]
    place: int
    count: int
    head: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One link as it is stored. `texts` None: its entry is not there any more."""

    place: int
    entry: int
    link: bytes
    texts: Sequence[str | None] | None
    at: datetime | None
    xid: int | None
    seal: Seal | None


class HeadsUnreadable(Exception):
    """A file of heads is not what was written; the text says which line."""


def link_of(before: bytes, texts: Sequence[str | None]) -> bytes:
    """The link of an entry's texts behind the link before it; as `jobs.audit_link` computes it."""
    digest = hashlib.sha256(before)
    for text in texts:
        if text is None:
            digest.update(_NOTHING)
        else:
            written = text.encode("utf-8")
            digest.update(len(written).to_bytes(4, "big") + written)
    return digest.digest()


@dataclass(slots=True, kw_only=True)
class Checking:
    """One walk along the chain: `take` every link in the order of places, then `end`. The first answer that is a gap is
    the first gap."""

    heads: Iterator[tuple[int, bytes]]
    """Place and link of what was written outside, in that order."""
    place: int = 0
    link: bytes = GENESIS
    compared: int = 0
    """Heads outside that agree."""
    agreed: int = 0
    """Place of the last of them."""
    seal: Seal | None = None
    """The last one that is whole."""
    _in_seal: int = 0
    _suspect: tuple[Link, bytes] | None = None
    _head: tuple[int, bytes] | None = field(default=None)
    _begun: bool = False

    def begin(self, base: Seal | None, place: int, announced: tuple[int, str] | None) -> Gap | None:
        """Begin behind the last head before a purge, at `place`; the gap where that seal (None: it is not there) is not what
        it was. `announced`: what the trail itself says of the purge, how far and with which head."""
        if base is None or base.place != place:
            return Gap(
                kind=GapKind.SEAL_CHANGED,
                place=place,
                sentence=f"The trail begins behind place {place:,}, and the seal of that place is not there.",
            )
        if announced is None or (announced[0] == place and announced[1] != base.head.hex()):
            return Gap(
                kind=GapKind.PURGE_UNSAID,
                place=place,
                sentence=(
                    f"The trail begins behind place {place:,}, and no entry of it says that what was before was purged "
                    "there."
                ),
            )
        self.place, self.link, self.seal, self.agreed = place, base.head, base, place
        while (head := self._next_head(forget=True)) is not None and head[0] <= place:
            self._begun = False
            if head[0] == place and head[1] != base.head:
                return Gap(
                    kind=GapKind.CHAIN_REWRITTEN,
                    place=place,
                    sentence=(
                        f"The trail begins behind place {place:,}, and a head outside the database says another link there."
                    ),
                )
        return None

    def take(self, row: Link) -> Gap | None:
        """The gap that this link shows, or the one before it; None where all is well so far."""
        if self._suspect is not None:
            return self._blame(row)
        if row.place != self.place + 1:
            return Gap(
                kind=GapKind.LINK_MISSING,
                place=self.place + 1,
                sentence=f"What was sealed at place {self.place + 1:,} is missing: its link is not there.",
            )
        self.place = row.place
        if row.texts is None:
            return Gap(
                kind=GapKind.ENTRY_MISSING,
                place=row.place,
                entry=row.entry,
                sentence=f"Entry {row.entry} is missing: it was sealed at place {row.place:,}.",
            )
        computed = link_of(self.link, row.texts)
        if computed != row.link:
            self._suspect = (row, computed)
            return None
        self.link = row.link
        return self._added(row) or self._sealed(row) or self._outside(row)

    def end(self, last: Seal | None) -> Gap | None:
        """The gap behind the last link. `last`: the newest seal, as it was before the walk began."""
        if self._suspect is not None:
            return self._blame(None)
        if last is not None and last.place > self.place:
            return Gap(
                kind=GapKind.TAIL_MISSING,
                place=self.place + 1,
                sentence=f"Seal {last.number} covers {last.place:,} entries; the chain ends at place {self.place:,}.",
            )
        head = self._next_head()
        if head is not None:
            return Gap(
                kind=GapKind.TAIL_MISSING,
                place=self.place + 1,
                sentence=(
                    f"The heads outside know of {head[0]:,} entries or more; the database has {self.place:,}: what was "
                    f"sealed behind place {self.place:,} is gone."
                ),
            )
        return None

    def pause(self) -> Gap | None:
        """The gap behind the last link of a part of the chain that was walked."""
        return None if self._suspect is None else self._blame(None)

    def _blame(self, following: Link | None) -> Gap:
        """Whether the entry or its link was changed: what comes next, or the seal, was made with the true link."""
        assert self._suspect is not None  # noqa: S101  # asked only then
        row, computed = self._suspect
        link_holds = entry_holds = False
        if following is not None and following.place == row.place + 1 and following.texts is not None:
            link_holds = link_of(row.link, following.texts) == following.link
            entry_holds = link_of(computed, following.texts) == following.link
        if not (link_holds or entry_holds) and row.seal is not None and row.seal.place == row.place:
            link_holds, entry_holds = row.seal.head == row.link, row.seal.head == computed
        if entry_holds:
            return Gap(
                kind=GapKind.LINK_REWRITTEN,
                place=row.place,
                entry=row.entry,
                sentence=f"The link at place {row.place:,} was rewritten; entry {row.entry} is as it was sealed.",
            )
        what = f"Entry {row.entry} was changed" if link_holds else f"Entry {row.entry} or its link was changed"
        return Gap(
            kind=GapKind.ENTRY_CHANGED,
            place=row.place,
            entry=row.entry,
            sentence=f"{what}: it is not what was sealed at place {row.place:,}.",
        )

    def _added(self, row: Link) -> Gap | None:
        """Whether the entry cannot have been there when the seals before its own were made, and should have."""
        before = self.seal
        if before is None or row.seal is None or row.at is None or row.xid is None:
            return None
        covered = before.life == row.seal.life and (row.xid, row.entry) <= before.upto
        # A batch that was full left older entries to the next one.
        whole = before.upto[0] >= 0 and before.upto[1] == 0
        if not covered and not (whole and row.at < before.at - timedelta(seconds=LONGEST_SECONDS)):
            return None
        return added(row.entry, row.place)

    def _sealed(self, row: Link) -> Gap | None:
        """Whether the seal that the link belongs to is what it was."""
        self._in_seal += 1
        seal = row.seal
        if seal is not None and row.place < seal.place:
            return None
        if seal is None or seal.head != row.link or seal.count != self._in_seal or seal.place != row.place:
            return Gap(
                kind=GapKind.SEAL_CHANGED,
                place=row.place,
                sentence=f"The seal that covers place {row.place:,} was changed or is missing.",
            )
        self.seal, self._in_seal = seal, 0
        return None

    def _outside(self, row: Link) -> Gap | None:
        """Whether a head that was written outside says another link here."""
        while (head := self._next_head()) is not None and head[0] == row.place:
            self._begun = False
            if head[1] != row.link:
                return Gap(
                    kind=GapKind.CHAIN_REWRITTEN,
                    place=row.place,
                    entry=row.entry,
                    sentence=(
                        f"The chain was rewritten between place {self.agreed + 1:,} and place {row.place:,}: it holds "
                        "together, but a head outside the database says another link."
                    ),
                )
            self.compared, self.agreed = self.compared + 1, row.place
        return None

    def _next_head(self, *, forget: bool = False) -> tuple[int, bytes] | None:
        """The head that is compared next; `forget`: it may be from before a purge."""
        if not self._begun:
            self._head, self._begun = next(self.heads, None), True
            if self._head is not None and self._head[0] < self.agreed and not forget:
                raise HeadsUnreadable(
                    f"The heads outside go back from place {self.agreed:,} to {self._head[0]:,}: they are of two chains."
                )
        return self._head


def added(entry: int, place: int | None = None) -> Gap:
    """That an entry was put between those that were sealed."""
    return Gap(
        kind=GapKind.ENTRY_ADDED,
        place=place,
        entry=entry,
        sentence=f"Entry {entry} was added between sealed ones: it says that it is older than a seal that it is not in.",
    )
