"""Owns one signed-in connection: the client, the session, and the live feed with its coalescing. It is imported only
after the first frame, it posts messages, and it never touches a screen."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import tzinfo

import httpx
from pydantic import SecretStr
from textual.message import Message

from jobconsole.client import feed
from jobconsole.client.alarm_watch import AlarmWatch
from jobconsole.client.errors import ClientError, SignInAgain
from jobconsole.client.feed import Feed
from jobconsole.client.money_watch import MoneyWatch
from jobconsole.client.service import Service
from jobconsole.client.session import me
from jobconsole.messages import HintsArrived, LinkChanged, ReloadAsked, TokenEnded
from jobconsole.present import money as money_words
from jobconsole.present.alarms import count_words
from jobconsole.present.link import Link, LinkState
from jobconsole.tokens import Token
from jobcontract.events import Hint
from jobcontract.permissions import IN_NO_TENANT
from jobcontract.session import Session, TenantRole

FLUSH_SECONDS = 0.2
"""Least time between two flushes of hints: at most five a second, whatever the service sends."""

Post = Callable[[Message], object]


class NotYours(ClientError):
    """The person has no tenant, or not the one that was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A failure as it is said. `ended`: the token is no longer good."""

    sentence: str
    ended: bool = False


def explain(error: BaseException, doing: str) -> Failure:
    """What went wrong while `doing` (`Loading the queue`), in a sentence without internals."""
    if isinstance(error, ClientError):
        reference = f" Reference {error.reference}." if error.reference else ""
        return Failure(sentence=f"{doing}: {error.sentence}{reference}", ended=isinstance(error, SignInAgain))
    return Failure(sentence=f"{doing}: the console itself failed ({type(error).__name__}). Please tell its makers.")


class Coalescer:
    """Holds hints back so that they come in few batches; the newest of each thing wins."""

    def __init__(self, post: Post, *, every: float = FLUSH_SECONDS) -> None:
        self._post = post
        self._every = every
        self._pending: dict[tuple[str, str], Hint] = {}
        self._reload = False
        self._last = float("-inf")
        self._handle: asyncio.TimerHandle | None = None
        self.paused = False

    def add(self, hints: tuple[Hint, ...]) -> None:
        """Takes hints in; they are posted now or within `every` seconds."""
        for hint in hints:
            key = (hint.topic, hint.id)
            known = self._pending.get(key)
            if known is None or hint.version >= known.version:
                self._pending[key] = hint
        self._soon()

    def reload(self) -> None:
        """Everything is to be asked for again; hints held back are then of no more use."""
        self._reload = True
        self._soon()

    def pause(self, paused: bool) -> None:
        """Holds everything back, or lets go of what was held."""
        self.paused = paused
        self._soon()

    def stop(self) -> None:
        """Posts nothing more."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
        self._pending.clear()
        self._reload = False

    def _soon(self) -> None:
        if self.paused or self._handle is not None or not (self._pending or self._reload):
            return
        loop = asyncio.get_running_loop()
        self._handle = loop.call_later(max(0.0, self._last + self._every - loop.time()), self._flush)

    def _flush(self) -> None:
        self._handle = None
        if self.paused:
            return
        self._last = asyncio.get_running_loop().time()
        hints, self._pending = tuple(self._pending.values()), {}
        reload, self._reload = self._reload, False
        if reload:
            self._post(ReloadAsked())
        elif hints:
            self._post(HintsArrived(hints))


class Connection:
    """The service as one person uses it, in one of their tenants."""

    def __init__(self, service: Service, session: Session, role: TenantRole, post: Post) -> None:
        self.service = service
        self.session = session
        self.role = role
        self._post = post
        self.watch = MoneyWatch(service, role)
        self.alarms = AlarmWatch(service, role)
        self._coalescer = Coalescer(post)
        self._feed: Feed | None = None
        self._broken = False

    @classmethod
    async def open(
        cls,
        url: str,
        token: Token,
        *,
        tenant: str | None,
        post: Post,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> Connection:
        """Signs in with `token`. Raises `ClientError` with what to do; the token is in none of them."""
        service = Service(url, SecretStr(token.reveal()), transport=transport)
        try:
            session = await me(service)
            role = _choose(session, tenant)
            service.tenant = role.tenant
        except BaseException:  # however signing in ends, a cancellation too, the connection is closed
            await service.close()
            raise
        return cls(service, session, role, post)

    @property
    def paused(self) -> bool:
        """Whether live changes are held back."""
        return self._coalescer.paused

    def switch(self, tenant: str) -> None:
        """Works in another tenant of the person from now on; the caller follows anew."""
        self.role = _choose(self.session, tenant)
        self.service.tenant = tenant
        self._coalescer.stop()
        self.watch.begin(self.role)
        self.alarms.begin(self.role)

    def pause(self, paused: bool) -> None:
        """Holds live changes back, or lets go of them."""
        self._coalescer.pause(paused)

    @property
    def stopped_by_me(self) -> bool:
        """Whether the person stopped all money of the tenant."""
        stop = self.watch.stop
        return stop is not None and stop.by is not None and stop.by.id == self.session.person.id

    def stopped_words(self, zone: tzinfo) -> str:
        """Who stopped all money of the tenant, when and why; empty while it moves."""
        stop, now = self.watch.stop, self.service.clock.server_now()
        return "" if stop is None else money_words.stopped_words(stop, zone, now or stop.at)

    def plan_words(self) -> str:
        """How far the person's live plan is; empty where there is none."""
        return money_words.own_plan_words(self.watch.plans)

    def alarm_words(self) -> str:
        """How many alarms nobody looks after; empty where there is none."""
        return count_words(self.alarms.unacknowledged)

    def link(self, state: LinkState) -> Link:
        """A link in `state`, heard from just now."""
        return Link(state=state, heard=time.monotonic())

    def heard(self, link: Link) -> Link:
        """`link` with when the feed was last heard from; its heartbeats count."""
        self.watch.slowly()
        self.alarms.slowly()
        heard = None if self._feed is None else self._feed.heard_at
        return link if heard is None else replace(link, heard=heard)

    async def follow(self) -> None:
        """Follows the live feed until cancelled or the token ends; whatever breaks is said and tried again."""
        self._feed = Feed(self.service)
        async for news in self._feed.news():
            self._tell(news)

    def _tell(self, news: feed.News) -> None:
        match news:
            case feed.Connecting():
                if not self._broken:
                    self._post(LinkChanged(self.link(LinkState.CONNECTING)))
            case feed.Live():
                regained, self._broken = self._broken, False
                self._post(LinkChanged(self.link(LinkState.PAUSED if self.paused else LinkState.LIVE)))
                self._look()
                if regained:
                    self._coalescer.reload()
            case feed.Stale(since=since, retry_at=retry_at, sentence=sentence):
                self._broken = True
                stale = Link(state=LinkState.STALE, since=since, retry=retry_at)
                self._post(LinkChanged(stale, sentence))
            case feed.Changed(hints=hints):
                here = tuple(hint for hint in hints if hint.tenant == self.role.tenant)
                self._coalescer.add(here)
                # Not held back with the rows: that money is stopped is said at once.
                self.watch.hear(here)
                self.alarms.hear(here)
            case feed.Reload():
                self._look()
                self._coalescer.reload()
            case feed.SignedOut(sentence=sentence):
                self._post(TokenEnded(sentence))

    def _look(self) -> None:
        self.watch.look()
        self.alarms.look()

    async def close(self) -> None:
        """Closes the connections and forgets the token."""
        self._coalescer.stop()
        self.watch.end()
        self.alarms.end()
        await self.service.close()


def _choose(session: Session, tenant: str | None) -> TenantRole:
    if not session.tenants:
        raise NotYours(f"{session.person.name} {IN_NO_TENANT}")
    if tenant is None:
        return session.tenants[0]
    for role in session.tenants:
        if role.tenant == tenant:
            return role
    known = ", ".join(role.tenant for role in session.tenants)
    raise NotYours(f"{tenant} is not a tenant of yours; yours: {known}. See `jobconsole config show`.")
