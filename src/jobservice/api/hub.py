"""Owns the live hints of one API process: one listening connection, and who is to look for what when it speaks.

Holds no hints but the last batch of a tenant, never content; a stream that is slow costs its position and nothing more.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace

import psycopg
import structlog

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.events import Hint
from jobservice.store.database import Database
from jobservice.store.listen import listening
from jobservice.usecases.hints import Asked, Audience, HintBatch, read_hints, readable

_LOG = structlog.get_logger("jobservice.api.hub")
_PAUSE_LEAST = 0.1
_PAUSE_MOST = 5.0
"""Seconds between two tries to listen while the database is away."""


@dataclass(eq=False, slots=True)
class Subscription:
    """What one stream waits for. `due` are the tenants that it has to look at; `woken` says that there are some."""

    tenants: frozenset[str]
    due: set[str] = field(default_factory=set)
    woken: asyncio.Event = field(default_factory=asyncio.Event)

    def wake(self, tenant: str) -> None:
        """There may be something new of this tenant."""
        if tenant in self.tenants:
            self.due.add(tenant)
            self.woken.set()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """What was read last of a tenant: in which round, from which batch on, and what came."""

    round: int
    since: HintBatch | None
    batch: HintBatch


@dataclass(slots=True)
class _Tenant:
    """Rounds of one tenant: a round is one wake of all its streams, at most one every `flush_seconds`."""

    round: int = 0
    last_at: float = 0.0
    later: asyncio.TimerHandle | None = None
    read: _Read | None = None
    reading: asyncio.Lock = field(default_factory=asyncio.Lock)
    judged: dict[Asked, frozenset[str]] = field(default_factory=dict)
    """What was looked up in this round: the ids of what may be read."""
    judging: asyncio.Lock = field(default_factory=asyncio.Lock)


class Hub:
    """Listens once for the whole process and wakes its streams; `run` until cancelled."""

    def __init__(self, database: Database, *, poll_seconds: float, flush_seconds: float) -> None:
        self._database = database
        self._poll_seconds = poll_seconds
        self._flush_seconds = flush_seconds
        self._subscriptions: set[Subscription] = set()
        self._tenants: dict[str, _Tenant] = {}
        self._heard = asyncio.Event()
        self.closing = False
        self.identity = ""
        """Which database it listens to; empty before the first time."""

    def subscribe(self, tenants: frozenset[str]) -> Subscription:
        """A subscription to these tenants; to be given back with `unsubscribe`."""
        subscription = Subscription(tenants=frozenset())
        self._subscriptions.add(subscription)
        self.change(subscription, tenants)
        return subscription

    def change(self, subscription: Subscription, tenants: frozenset[str]) -> None:
        """Let a subscription wait for these tenants from now on, and forget those that nobody waits for any more."""
        subscription.tenants = tenants
        subscription.due &= tenants
        for name in tenants:
            self._tenants.setdefault(name, _Tenant())
        self._forget()

    def unsubscribe(self, subscription: Subscription) -> None:
        """Forget a subscription."""
        self._subscriptions.discard(subscription)
        self._forget()

    def _forget(self) -> None:
        wanted = frozenset[str]().union(*(one.tenants for one in self._subscriptions))
        for name in self._tenants.keys() - wanted:
            if (later := self._tenants.pop(name).later) is not None:
                later.cancel()

    def end_streams(self) -> None:
        """Tell every stream to end now: the process stops."""
        self.closing = True
        for subscription in self._subscriptions:
            subscription.woken.set()

    async def run(self) -> None:
        """Listen, and listen again after the database was away, until cancelled. Never raises but for cancelling."""
        pause = _PAUSE_LEAST
        while True:
            try:
                async with listening(self._database) as connection:
                    pause = _PAUSE_LEAST
                    self.identity = connection.identity
                    self._heard.set()
                    while True:
                        # At every turn, the first too: what came while nobody listened is found from the positions.
                        self._wake_all()
                        async for tenant in connection.tenants(self._poll_seconds):
                            self._wake(tenant)
            except psycopg.Error as error:
                _LOG.warning("hints-not-heard", error=type(error).__name__, again_in_seconds=round(pause, 1))
            self._heard.clear()
            self._wake_all()
            await asyncio.sleep(pause * random.uniform(0.5, 1.0))  # noqa: S311 - spreads retries, guards nothing
            pause = min(pause * 2, _PAUSE_MOST)

    async def heard(self, seconds: float) -> str:
        """The identity of the database that is listened to; Refusal DATABASE_AWAY where there is none for `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                await self._heard.wait()
        except TimeoutError as away:
            raise Refusal(ErrorCode.DATABASE_AWAY, "Live hints cannot be heard just now. Try again soon.") from away
        return self.identity

    async def read(self, tenant: str, since: HintBatch | None) -> HintBatch:
        """The hints of a subscribed `tenant` behind the batch `since`; None begins now. One read of the database serves
        all streams that stand at one place.

        Refusal DATABASE_AWAY or TIMED_OUT as reading does.
        """
        rounds = self._tenants[tenant]
        async with rounds.reading:
            now, last = rounds.round, rounds.read
            if last is not None and last.round == now and _place(last.since) == _place(since):
                return last.batch
            if since is None:
                batch = await read_hints(self._database, tenant, None)
            else:
                batch = await read_hints(self._database, tenant, since.position, seen=since.seen)
            if last is None or last.round != now or since is None or batch.reset:
                rounds.read = _Read(round=now, since=since, batch=batch)
                return batch
            return _beside(last.batch, since, batch)

    async def readable(self, tenant: str, audience: Audience, hints: Iterable[Hint]) -> list[Hint]:
        """Those of the hints that name nothing which the audience may not read. People of one reach who stand at one place
        share one look at the database.

        Refusal DATABASE_AWAY or TIMED_OUT as reading does.
        """
        found = list(hints)
        for asked in audience.asked(found):
            seen = await self._judge(tenant, asked)
            found = [hint for hint in found if hint.id in seen or (hint.topic, hint.id) not in asked.things]
        return found

    async def _judge(self, tenant: str, asked: Asked) -> frozenset[str]:
        rounds = self._tenants[tenant]
        async with rounds.judging:
            now = rounds.round
            if (seen := rounds.judged.get(asked)) is None:
                seen = await readable(self._database, tenant, asked)
                if rounds.round == now:
                    rounds.judged[asked] = seen
        return seen

    def _wake_all(self) -> None:
        for tenant in tuple(self._tenants):
            self._wake(tenant)

    def _wake(self, tenant: str) -> None:
        """Begin the tenant's next round: now, or when the last one is `flush_seconds` old."""
        rounds = self._tenants.get(tenant)
        if rounds is None or rounds.later is not None:
            return
        loop = asyncio.get_running_loop()
        wait = rounds.last_at + self._flush_seconds - loop.time()
        if wait <= 0:
            self._begin(tenant)
        else:
            rounds.later = loop.call_later(wait, self._begin, tenant)

    def _begin(self, tenant: str) -> None:
        rounds = self._tenants.get(tenant)
        if rounds is None:
            return
        rounds.later, rounds.last_at = None, asyncio.get_running_loop().time()
        rounds.round += 1
        rounds.judged.clear()
        for subscription in self._subscriptions:
            subscription.wake(tenant)


def _place(batch: HintBatch | None) -> tuple[int, frozenset[int]] | None:
    return None if batch is None else (batch.position, batch.seen)


def _beside(leader: HintBatch, since: HintBatch, batch: HintBatch) -> HintBatch:
    """`batch`, to be continued where `leader` of the same round is, so that the next round is one read for both.

    Right only while the leader stands between: what it told and this stream did not is then in `batch`, and what is in
    `batch` and the leader did not tell comes again next time (a repetition, never a gap).
    """
    if not leader.reset and since.position <= leader.position <= batch.position:
        return replace(batch, position=leader.position, seen=leader.seen)
    return batch


async def stop(running: asyncio.Task[None]) -> None:
    """End a hub's task and wait for it."""
    running.cancel()
    with suppress(asyncio.CancelledError):
        await running
