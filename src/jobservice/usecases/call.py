"""Owns what a use case's function may do to its item: it says the effect here, the act writes it once it is done.

One effect a call, kept until the function ends well; nothing is written before. Never decides about claims of the
person who acts.
"""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import UTC, datetime

from psycopg import AsyncTransaction

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.permissions import GRANTS, Permission
from jobcontract.states import ClaimMode, ItemState, Role
from jobservice.rules.claims import Denied, claims_disabled, decide_room
from jobservice.rules.inputs import YEARS
from jobservice.rules.queues import Queue
from jobservice.store import claims as store
from jobservice.store.database import Row, Transaction
from jobservice.store.items import LockedItem
from jobservice.usecases.actor import Actor
from jobservice.usecases.content import stranger
from jobservice.usecases.service import refuse


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What a function asked for: the state it leaves, until when the item is set aside, who gets the claim."""

    state: ItemState
    set_aside_until: datetime | None = None
    heir: str | None = None

    @property
    def ends_claim(self) -> bool:
        """Whether the claim ends with it."""
        return self.state.closed or self.set_aside_until is not None


class ItemCall:
    """`jobservice.application.Call` on one locked item. Use cases' functions see the protocol alone."""

    def __init__(
        self, transaction: Transaction, actor: Actor, queue: Queue, item: LockedItem, *, now: datetime, claims_max: int
    ) -> None:
        self._transaction = transaction
        self._actor = actor
        self._queue = queue
        self._item = item
        self._now = now
        self._claims_max = claims_max
        self.effect: Effect | None = None
        """What was asked for; None = the item stays as it is."""

    def savepoint(self) -> AbstractAsyncContextManager[AsyncTransaction]:
        """A savepoint of the act's transaction: rolled back on any exception, `psycopg.Rollback` included."""
        return self._transaction.connection.transaction()

    @property
    def tenant(self) -> str:
        """The one tenant of this call."""
        return self._actor.tenant

    @property
    def person(self) -> str:
        """Who acts."""
        return self._actor.person

    @property
    def now(self) -> datetime:
        """The database's clock when the item was locked, UTC."""
        return self._now

    async def set_aside(self, until: datetime) -> None:
        """Keep the item out of the waiting list until then, and end the claim; ValueError where `until` is no future."""
        if until.tzinfo is None:
            raise ValueError("set_aside wants an instant with an offset")
        moment = until.astimezone(UTC)
        if moment <= self._now or moment.year not in YEARS:
            raise ValueError(f"set_aside wants an instant after now and before {YEARS.stop}")
        self._take(Effect(state=self._item.version.state, set_aside_until=moment))

    async def reopen(self, state: ItemState) -> None:
        """Leave the item open in `state`; ValueError where that is not open or evidence-asked."""
        if state not in (ItemState.OPEN, ItemState.EVIDENCE_ASKED):
            raise ValueError(f"reopen leaves an item open or evidence-asked, not {state}")
        self._take(Effect(state=state))

    async def close(self, state: ItemState) -> None:
        """End the item as rejected or resolved, and end the claim; ValueError for any other state."""
        if state not in (ItemState.REJECTED, ItemState.RESOLVED):
            raise ValueError(f"close ends an item as rejected or resolved, not {state}")
        self._take(Effect(state=state))

    async def hand_over(self, colleague: str) -> None:
        """Give the claim to a colleague with a raised fence. Refusal COLLEAGUE_UNFIT, CLAIMS_DISABLED."""
        if self._queue.claim is ClaimMode.DISABLED:
            raise refuse(claims_disabled())
        row = await store.colleague(self._transaction, colleague)
        if row is None:
            raise stranger(colleague, self.tenant)
        await self._fit(row)
        self._take(
            Effect(state=self._item.version.state, set_aside_until=self._item.version.set_aside_until, heir=colleague)
        )

    async def _fit(self, row: Row) -> None:
        """Refusal COLLEAGUE_UNFIT unless that colleague may claim this item and has room for it."""
        name = row["name"]
        if row["id"] == self.person:
            raise Refusal(ErrorCode.COLLEAGUE_UNFIT, "That is you; name a colleague.")
        if Permission.QUEUE_CLAIM not in GRANTS[Role(row["role"])]:
            raise Refusal(
                ErrorCode.COLLEAGUE_UNFIT, f"{name} is {row['role']} here and has no {Permission.QUEUE_CLAIM}."
            )
        for allowed, value in ((row["customers"], self._item.customer), (row["workspaces"], self._item.workspace)):
            if allowed is not None and value not in allowed:
                raise Refusal(ErrorCode.COLLEAGUE_UNFIT, f"{name} does not see this item.")
        await store.lock_person(self._transaction, row["id"])
        room = decide_room(
            await store.count_live(self._transaction, row["id"]), self._claims_max, whose=f"{name} holds"
        )
        if isinstance(room, Denied):
            raise Refusal(ErrorCode.COLLEAGUE_UNFIT, room.sentence)

    def _take(self, effect: Effect) -> None:
        if self.effect is not None:
            raise RuntimeError("a use case sets aside, reopens, closes or hands over once")
        self.effect = effect
