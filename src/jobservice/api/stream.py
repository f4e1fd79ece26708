"""Owns one live stream of hints: what is sent when, from a position, until its rights end or the process stops.

Keeps positions and the versions of the last batch, never more: a slow client costs no memory (MONEY.md 34).
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from jobcontract.errors import Refusal
from jobcontract.events import EventName, Hint, Hints, Topic
from jobservice.api.hub import Hub, Subscription
from jobservice.usecases.hints import Audience, HintBatch

FRAME_HINTS = 500
"""Most hints of one event: a line stays far below what clients take."""
BEAT = b": beat\n"
"""A comment, and no blank line behind it: some clients take one for an event without a name."""
_ID = re.compile(r"(?P<identity>[0-9a-f]{32})-(?P<position>[0-9]{1,19})", re.ASCII)

Versions = Mapping[tuple[str, str], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hearing:
    """What a stream may be told of one tenant: topics, and of single things those that its audience may read."""

    topics: frozenset[Topic]
    audience: Audience


Heard = Mapping[str, Hearing]
"""What a stream may be told, by tenant."""
Rights = Callable[[], Awaitable[Heard | None]]
"""Looks again: what to hear of, or None where the token or all its rights ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Seconds between signs of life, and between looks at the rights."""

    beat_seconds: float
    recheck_seconds: float


class Stream:
    """One stream. `open` reads the first positions, then `frames` are sent until it ends."""

    def __init__(self, hub: Hub, heard: Heard, rights: Rights, pace: Pace, count: Callable[[float], object]) -> None:
        self._hub = hub
        self._heard = heard
        self._count = count
        self._rights = rights
        self._pace = pace
        self._places: dict[str, HintBatch] = {}
        self._last: dict[str, Versions] = {}
        self._identity = ""
        self._sent_id = ""
        self._reset = False
        self.subscription: Subscription = hub.subscribe(frozenset(heard))

    async def open(self, last_event_id: str | None, *, seconds: float) -> None:
        """Take the position to begin from: behind `last_event_id`, or now. Refusal DATABASE_AWAY."""
        self._identity = await self._hub.heard(seconds)
        for tenant in self.subscription.tenants:
            self._places[tenant] = await self._hub.read(tenant, None)
        if last_event_id is None:
            return
        position = _position(last_event_id, self._identity)
        if position is None:
            self._reset = True
            return
        for tenant in self.subscription.tenants:
            self._places[tenant] = _at(position)
            self.subscription.wake(tenant)

    def close(self) -> None:
        """Wait for nothing any more."""
        self._hub.unsubscribe(self.subscription)

    async def frames(self) -> AsyncIterator[bytes]:
        """Events as they are to be sent, at most one batch for each time that the hub wakes it."""
        loop = asyncio.get_running_loop()
        beat_at = loop.time() + self._pace.beat_seconds
        check_at = loop.time() + self._pace.recheck_seconds
        if not self._reset:
            yield self._hints(())
        while not self._hub.closing:
            if loop.time() >= check_at:
                check_at = loop.time() + self._pace.recheck_seconds
                if not await self._still_allowed():
                    yield _event(EventName.ENDED, self._id())
                    return
            async for frame in self._due():
                beat_at = loop.time() + self._pace.beat_seconds
                yield frame
            if loop.time() >= beat_at:
                beat_at = loop.time() + self._pace.beat_seconds
                # A position that went on tells the client where to resume; an old one would be too old one day.
                yield BEAT if self._id() == self._sent_id else self._hints(())
            await self._wait(min(beat_at, check_at) - loop.time())

    async def _wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(max(0.0, seconds)):
                await self.subscription.woken.wait()
        except TimeoutError:
            return

    async def _still_allowed(self) -> bool:
        try:
            heard = await self._rights()
        except Refusal:
            return True  # the database is away: nothing can be told meanwhile, and the next look comes
        if heard is None:
            return False
        self._heard = heard
        tenants = frozenset(heard)
        if tenants != self.subscription.tenants:
            self._hub.change(self.subscription, tenants)
            self._places = {tenant: place for tenant, place in self._places.items() if tenant in tenants}
            for tenant in tenants:
                self.subscription.wake(tenant)
        return True

    async def _due(self) -> AsyncIterator[bytes]:
        self.subscription.woken.clear()
        if self._identity != self._hub.identity:
            self._identity = self._hub.identity
            self._places.clear()
            self._reset = True
            self.subscription.due |= self.subscription.tenants
        found: list[Hint] = []
        while self.subscription.due:
            tenant = self.subscription.due.pop()
            try:
                found += await self._read(tenant)
            except Refusal:
                # The database is away. The hub wakes everyone when it listens again, and the position still stands.
                continue
        if self._reset:
            self._reset = False
            yield self._event_at(EventName.RESET)
            return
        for at in range(0, len(found), FRAME_HINTS):
            part = found[at : at + FRAME_HINTS]
            self._count(len(part))
            yield self._hints(part, last=at + FRAME_HINTS >= len(found))

    async def _read(self, tenant: str) -> list[Hint]:
        since = self._places.get(tenant)
        batch = await self._hub.read(tenant, since)
        if batch.reset:
            self._places[tenant] = batch
            self._reset = True
            self._last.pop(tenant, None)
            return []
        before = self._last.get(tenant, {})
        newest = coalesce(batch.hints)
        new = [hint for key, hint in newest.items() if hint.version > before.get(key, -1)]
        told = await self._readable(tenant, new)
        self._places[tenant] = batch  # not before: where nobody can tell what may be read, it comes again
        self._last[tenant] = {key: hint.version for key, hint in newest.items()}
        return told

    async def _readable(self, tenant: str, hints: Sequence[Hint]) -> list[Hint]:
        """Those of the hints that the stream may be told."""
        hearing = self._heard.get(tenant)
        if hearing is None:
            return []
        heard = [hint for hint in hints if hint.topic in hearing.topics]
        return await self._hub.readable(tenant, hearing.audience, heard)

    def _hints(self, hints: Iterable[Hint], *, last: bool = True) -> bytes:
        """An event of hints. Only the last part of a batch carries the new position: resuming before it repeats all."""
        content = Hints(hints=tuple(hints)).model_dump_json()
        if last:
            self._sent_id = self._id()
        return _event(EventName.HINTS, self._sent_id, content)

    def _event_at(self, name: EventName) -> bytes:
        self._sent_id = self._id()
        return _event(name, self._sent_id)

    def _id(self) -> str:
        """Where to resume: the least position of all tenants, in this very database."""
        position = min((place.position for place in self._places.values()), default=0)
        return f"{self._identity}-{position}"


def coalesce(hints: Iterable[Hint]) -> dict[tuple[str, str], Hint]:
    """The newest version of each thing, in the order in which the things first changed."""
    newest: dict[tuple[str, str], Hint] = {}
    for hint in hints:
        key = (hint.queue, hint.id)
        if key not in newest or hint.version > newest[key].version:
            newest[key] = hint
    return newest


def _position(last_event_id: str, identity: str) -> int | None:
    """The position that an event id names, None where it is none of this database."""
    found = _ID.fullmatch(last_event_id)
    if found is None or found["identity"] != identity or int(found["position"]) >= 2**63:
        return None
    return int(found["position"])


def _at(position: int) -> HintBatch:
    return HintBatch(position=position, hints=(), seen=frozenset(), reset=False)


def _event(name: EventName, identifier: str, content: str | None = None) -> bytes:
    """One server-sent event (WHATWG HTML, 9.2). One without data is sent with an empty object: clients drop others."""
    content = json.dumps({}) if content is None else content
    return f"event: {name}\nid: {identifier}\ndata: {content}\n\n".encode()
