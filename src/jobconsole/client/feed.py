"""Owns the live feed: one endless answer of hints, resumed where it broke, and the state of that link.

Whatever the service sends, or does not send, only changes the link's state; nothing but cancelling ends the feed
early, and only a token that is no longer good ends it for good (TUI-07, HTTP-01).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from secrets import SystemRandom

import httpx
from httpx_sse import EventSource, ServerSentEvent, SSEError
from pydantic import ValidationError

from jobconsole.client.answers import Reply, away, refusal
from jobconsole.client.errors import ClientError, SignInAgain
from jobconsole.client.service import Service
from jobcontract.events import EventName, Hint, Hints
from jobcontract.routes import EVENTS

EVENT_MOST = 1024 * 1024
"""Most bytes of one event, and so of one line."""
EVENT_ENDS = (b"\n\n", b"\r\r", b"\r\n\r\n")
PROBLEM_MOST = 64 * 1024
ID_MOST = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Connecting:
    """The link is being made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Live:
    """Hints arrive; what was refetched since is current."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stale:
    """The link is down: since when (UTC, the service's clock), when it is tried again (monotonic seconds), why."""

    since: datetime
    retry_at: float
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedOut:
    """The token or its rights ended; the feed is over."""

    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """These things changed: refetch what is on screen of them."""

    hints: tuple[Hint, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reload:
    """Something may have been missed: refetch everything on screen."""


LinkState = Connecting | Live | Stale | SignedOut
News = LinkState | Changed | Reload


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedTimes:
    """Pauses of the feed in seconds. `silence` is more than twice the service's heartbeat."""

    silence: float = 40.0
    first_pause: float = 0.5
    longest_pause: float = 15.0


class FeedBroken(Exception):
    """The stream holds what no stream of the service holds."""


class _Capped(httpx.AsyncByteStream):
    """A byte stream that breaks where more than `most` bytes come without the blank line that ends an event."""

    def __init__(self, inner: httpx.AsyncByteStream, most: int, heard: Callable[[], None]) -> None:
        self._inner = inner
        self._most = most
        self._heard = heard

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        tail = b""
        async for chunk in self._inner:
            self._heard()
            window = tail + chunk
            end = max(_end_of(mark, window) for mark in EVENT_ENDS)
            size = len(window) - end if end else size + len(chunk)
            if size > self._most:
                raise FeedBroken("an event of the live feed is too large")
            tail = window[-3:]
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


def _end_of(mark: bytes, window: bytes) -> int:
    """Where the last `mark` in `window` ends; 0 without one."""
    at = window.rfind(mark)
    return 0 if at < 0 else at + len(mark)


class Feed:
    """The live feed of one service; iterate `news()` once. Its position outlives breaks of the link."""

    def __init__(
        self,
        service: Service,
        *,
        times: FeedTimes | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._service = service
        self._times = times or FeedTimes()
        self._sleep = sleep
        self._random = SystemRandom()
        self._position: str | None = None
        self._failures = 0
        self._broken_since: datetime | None = None
        self._live_at: float | None = None
        self.heard_at: float | None = None
        """When the service last sent anything, heartbeats too (monotonic seconds); None before."""

    async def news(self) -> AsyncIterator[News]:
        """Link states, changes and reloads as they come; ends after SignedOut, else never."""
        while True:
            yield Connecting()
            sentence = "The live feed was closed by the service."
            try:
                async for piece in self._read_once():
                    yield piece
                    if isinstance(piece, SignedOut):
                        return
            except SignInAgain as ended:
                yield SignedOut(sentence=ended.sentence)
                return
            except ClientError as error:
                sentence = error.sentence
            except (httpx.HTTPError, httpx.StreamError, httpx.InvalidURL) as error:
                sentence = away(self._service.address, _why(error)).sentence
            except (SSEError, FeedBroken, UnicodeError, ValidationError):
                sentence = "The live feed holds what this console cannot read."
            pause = self._next_pause()
            yield Stale(since=self._since(), retry_at=self._service.clock.monotonic() + pause, sentence=sentence)
            await self._sleep(pause)

    async def _read_once(self) -> AsyncIterator[News]:
        """One connection, from its first byte to its end or error."""
        headers = {"Accept": "text/event-stream", "Cache-Control": "no-store"}
        if self._position is not None:
            headers["Last-Event-ID"] = self._position
        async with self._service.stream(EVENTS, headers=headers, silence=self._times.silence) as response:
            if response.status_code != 200:
                raise await _refused(response, self._service)
            # Something may have changed between the last page and now, the first one too, and no position says what.
            missed = self._position is None
            self._broken_since = None
            self._live_at = self._service.clock.monotonic()
            self._hear()
            yield Live()
            if missed:
                yield Reload()
            response.stream = _Capped(_bytes_of(response), EVENT_MOST, self._hear)
            async for event in EventSource(response).aiter_sse():
                piece = self._understand(event)
                if piece is not None:
                    yield piece

    def _understand(self, event: ServerSentEvent) -> News | None:
        """What one event says, and the position after it; ValidationError where its data cannot be read."""
        piece: News | None = None
        if event.event == EventName.HINTS:
            hints = Hints.model_validate_json(event.data).hints
            piece = Changed(hints=hints) if hints else None
        elif event.event == EventName.RESET:
            piece = Reload()
        elif event.event == EventName.ENDED:
            return SignedOut(sentence="Your sign-in has ended: sign in again.")
        if event.id and len(event.id) <= ID_MOST and event.id.isascii() and event.id.isprintable():
            self._position = event.id
        return piece

    def _hear(self) -> None:
        self.heard_at = self._service.clock.monotonic()

    def _next_pause(self) -> float:
        """Seconds until the next try: growing, with jitter, so that many consoles do not come back at once."""
        held = 0.0 if self._live_at is None else self._service.clock.monotonic() - self._live_at
        self._live_at = None
        if held > self._times.longest_pause:
            self._failures = 0
        longest = min(self._times.first_pause * 2.0 ** min(self._failures, 16), self._times.longest_pause)
        self._failures += 1
        return self._random.uniform(longest / 2, longest)

    def _since(self) -> datetime:
        if self._broken_since is None:
            self._broken_since = self._service.clock.server_now() or datetime.now(UTC)
        return self._broken_since


def _bytes_of(response: httpx.Response) -> httpx.AsyncByteStream:
    if not isinstance(response.stream, httpx.AsyncByteStream):
        raise FeedBroken("the stream is not asynchronous")
    return response.stream


async def _refused(response: httpx.Response, service: Service) -> ClientError:
    """The error of a stream that was not opened."""
    body = b""
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > PROBLEM_MOST:
            break
    now = service.clock.monotonic()
    reply = Reply(status=response.status_code, headers=response.headers, body=body, sent=now, received=now)
    return refusal(reply, service.address)


def _why(error: Exception) -> str:
    return (
        "no sign of life in time" if isinstance(error, httpx.TimeoutException) else str(error) or type(error).__name__
    )
