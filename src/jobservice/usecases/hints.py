"""Owns reading live hints from a position, and who may be told of them: repeats rather than misses, and says when only a reload
helps.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from jobcontract.events import Hint, Topic
from jobservice.store import hints as store
from jobservice.store.database import Database
from jobservice.store.items import Reach
from jobservice.store.recoveries import Sight
from jobservice.usecases.actor import Actor
from jobservice.usecases.items import reach
from jobservice.usecases.recovery_views import sight


@dataclass(frozen=True, slots=True, kw_only=True)
class HintBatch:
    """Hints since a position. Hand `position` and `seen` to the next read: what was told once is not told again."""

    position: int
    hints: tuple[Hint, ...]
    seen: frozenset[int]
    """Rows told so far that the next read would find again (their transaction is at or above `position`)."""
    reset: bool
    """The position was too old, of another database, or too much waited: reload everything."""


_UNSEEN: frozenset[int] = frozenset()
_SCOPED = frozenset({Topic.ITEM, Topic.JOB})
"""What belongs to a customer or a workspace."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which of these single things may somebody read? Equal for all who have equal rights to them."""

    reach: Reach
    sight: Sight | None
    """Of plans and recoveries; None where there are none among the things."""
    things: frozenset[tuple[Topic, str]]

    def ids(self, topic: Topic) -> list[str]:
        """The things of a topic."""
        return [each for about, each in self.things if about is topic]


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """What of the single things of a tenant a person may read."""

    reach: Reach
    sight: Sight

    @classmethod
    def of(cls, actor: Actor) -> Audience:
        """As reading them decides."""
        return cls(reach=reach(actor), sight=sight(actor))

    def asked(self, hints: Iterable[Hint]) -> tuple[Asked, ...]:
        """What has to be looked up before these hints are told."""
        scoped = _SCOPED if self.reach.narrowed else frozenset[Topic]()
        owned = frozenset({Topic.PLAN}) if self.reach.narrowed else frozenset[Topic]()
        if self.reach.narrowed or not self.sight.runs:
            owned |= {Topic.RECOVERY}
        things = [(hint.topic, hint.id) for hint in hints]
        found = (
            Asked(reach=self.reach, sight=None, things=frozenset(each for each in things if each[0] in scoped)),
            Asked(reach=self.reach, sight=self.sight, things=frozenset(each for each in things if each[0] in owned)),
        )
        return tuple(each for each in found if each.things)


async def read_hints(
    database: Database, tenant: str, position: int | None, *, seen: Collection[int] = _UNSEEN
) -> HintBatch:
    """What changed in `tenant` since `position`; None begins now. Positions never go back."""
    async with database.transaction(tenant) as transaction:
        found = await store.read(transaction, position=position, seen=seen)
    lost = position is not None and not found.floor < position <= found.position
    if position is None or lost or len(found.hints) > store.BATCH_MAX:
        return HintBatch(position=found.position, hints=(), seen=_UNSEEN, reset=position is not None)
    return HintBatch(
        position=found.position,
        hints=tuple(hint for _, hint in found.hints),
        seen=found.ahead,
        reset=False,
    )


async def readable(database: Database, tenant: str, asked: Asked) -> frozenset[str]:
    """The ids of those that may be read."""
    async with database.transaction(tenant) as transaction:
        return await store.readable(
            transaction,
            asked.reach,
            asked.sight,
            items=asked.ids(Topic.ITEM),
            jobs=asked.ids(Topic.JOB),
            plans=asked.ids(Topic.PLAN),
            recoveries=asked.ids(Topic.RECOVERY),
        )
