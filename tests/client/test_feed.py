"""The live feed: whatever the stream does, the console hears a link state and goes on (TUI-07, HTTP-01)."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from jobconsole.client.clock import ServerClock
from jobconsole.client.feed import (
    EVENT_MOST,
    Changed,
    Connecting,
    Feed,
    FeedTimes,
    Live,
    News,
    Reload,
    SignedOut,
    Stale,
)
from jobconsole.client.service import Service
from jobcontract.errors import ErrorCode
from jobservice.api.context import Bounds
from tests.fakes.script import TOKEN, problem

Piece = bytes | Exception
TYPE = {"Content-Type": "text/event-stream"}


def hints(position: int, *ids: str) -> bytes:
    """One hints event."""
    rows = [{"topic": "item", "tenant": "leeds", "queue": "q", "id": name, "version": 1} for name in ids]
    return f"id: {position}\nevent: hints\ndata: {json.dumps({'hints': rows})}\n\n".encode()


def stream(*pieces: Piece) -> Callable[[], httpx.Response]:
    """A stream of pieces; an exception among them is raised where it stands."""

    async def content() -> AsyncIterator[bytes]:
        for piece in pieces:
            if isinstance(piece, Exception):
                raise piece
            yield piece

    return lambda: httpx.Response(200, headers=TYPE, content=content())


class Line:
    """Connections in turn; the last one repeats. Time passes only in pauses."""

    def __init__(self, *connections: Callable[[], httpx.Response] | Exception) -> None:
        self.connections = list(connections)
        self.resumed: list[str | None] = []
        self.pauses: list[float] = []
        self.monotonic = 0.0

    def feed(self) -> Feed:
        service = Service(
            "http://127.0.0.1:1",
            SecretStr(TOKEN),
            "leeds",
            transport=httpx.MockTransport(self._handle),
            clock=ServerClock(lambda: self.monotonic),
        )
        return Feed(service, sleep=self._sleep)

    async def collect(self, count: int) -> list[News]:
        """The first `count` pieces of news, or all when the feed ends before."""
        seen: list[News] = []
        news = self.feed().news()
        async for piece in news:
            seen.append(piece)
            if len(seen) == count:
                break
        return seen

    async def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.monotonic += seconds

    def _handle(self, request: httpx.Request) -> httpx.Response:
        self.resumed.append(request.headers.get("Last-Event-ID"))
        step = self.connections.pop(0) if len(self.connections) > 1 else self.connections[0]
        if isinstance(step, Exception):
            raise step
        return step()


def names(news: Sequence[News]) -> list[str]:
    """The kinds of news, in order."""
    return [type(piece).__name__ for piece in news]


@pytest.mark.requirement("HTTP-01")
async def test_it_resumes_where_it_broke_and_gives_each_hint_in_order() -> None:
    line = Line(stream(hints(5, "a"), httpx.ReadError("reset")), stream(hints(6, "b", "c"), hints(9)))
    news = await line.collect(7)
    assert names(news) == ["Connecting", "Live", "Reload", "Changed", "Stale", "Connecting", "Live"]
    line = Line(stream(hints(5, "a"), httpx.ReadError("reset")), stream(hints(6, "b", "c")))
    news = await line.collect(8)
    changed = [[hint.id for hint in piece.hints] for piece in news if isinstance(piece, Changed)]
    assert changed == [["a"], ["b", "c"]]
    assert line.resumed == [None, "5"]


@pytest.mark.requirement("HTTP-01")
async def test_a_stream_that_opens_without_a_position_reloads_everything() -> None:
    """What changed after the first page was read and before the stream opened is in neither; so after a break."""
    line = Line(stream(b": hello\n\n"), stream(b": hello\n\n"))
    assert names(await line.collect(7)) == ["Connecting", "Live", "Reload", "Stale", "Connecting", "Live", "Reload"]
    assert line.resumed == [None, None]


@pytest.mark.requirement("HTTP-01")
async def test_a_reset_reloads_everything_and_goes_on_from_its_position() -> None:
    line = Line(stream(hints(5), b"id: 40\nevent: reset\ndata: {}\n\n"), stream())
    seen = names(await line.collect(7))
    assert seen == ["Connecting", "Live", "Reload", "Reload", "Stale", "Connecting", "Live"]
    assert line.resumed == [None, "40"]


@pytest.mark.requirement("TUI-07")
@pytest.mark.parametrize(
    "broken",
    [
        lambda: httpx.Response(500),
        lambda: problem(ErrorCode.INTERNAL),
        lambda: problem(ErrorCode.TOO_MANY_STREAMS),
        lambda: httpx.Response(200, headers={"Content-Type": "text/html"}, text="<html>"),
        lambda: httpx.Response(302, headers={"Location": "https://evil.example"}),
        stream(b"id: 1\nevent: hints\ndata: {not json\n\n"),
        stream(b"id: 1\nevent: hints\ndata: [1, 2]\n\n"),
        stream(b"data: " + b"x" * 10 * EVENT_MOST + b"\n\n"),
        stream(*([b"data: " + b"x" * 1000 + b"\n"] * 2_000)),
        stream(*([b"x" * 65_536] * 200)),
        stream(httpx.ReadTimeout("silence")),
        stream(httpx.RemoteProtocolError("cut")),
        httpx.ConnectError("refused"),
        stream(),
        stream(b"\xff\xfe\x00garbage\n\nevent: hints\ndata: \xff\n\n"),
        lambda: httpx.Response(500, headers={"Content-Type": "application/problem+json"}, content=b"x" * 10_000_000),
    ],
    ids=[
        "500",
        "problem",
        "too-many",
        "html",
        "redirect",
        "malformed",
        "shape",
        "10-mb-line",
        "endless-event",
        "no-line-end",
        "silence",
        "cut",
        "refused",
        "closed",
        "garbage",
        "huge-problem",
    ],
)
async def test_whatever_breaks_is_stale_and_recovers_by_itself(
    broken: Callable[[], httpx.Response] | Exception,
) -> None:
    line = Line(broken, broken, broken, stream(hints(7, "z"), httpx.ReadError("end")))
    seen: list[News] = []
    async for piece in line.feed().news():
        seen.append(piece)
        if isinstance(piece, Changed):
            break
    stale = [piece for piece in seen if isinstance(piece, Stale)]
    assert len(stale) == 3
    assert all(piece.sentence.endswith(".") for piece in stale)
    assert isinstance(seen[-1], Changed)


@pytest.mark.requirement("TUI-07")
@pytest.mark.parametrize("chunk", [b"x" * 65_536, b"data: " + b"x" * 65_529 + b"\n"], ids=["one-line", "many-lines"])
async def test_an_endless_event_is_cut_off_instead_of_kept(chunk: bytes) -> None:
    read: list[int] = []

    async def endless() -> AsyncIterator[bytes]:
        for count in range(1_000):
            read.append(count)
            yield chunk

    line = Line(lambda: httpx.Response(200, headers=TYPE, content=endless()))
    assert names(await line.collect(4)) == ["Connecting", "Live", "Reload", "Stale"]
    assert len(read) * len(chunk) < 2 * EVENT_MOST


@pytest.mark.requirement("TUI-07")
async def test_pauses_grow_with_jitter_up_to_fifteen_seconds() -> None:
    line = Line(httpx.ConnectError("refused"))
    news = await line.collect(60)
    pauses = line.pauses
    assert 0.25 <= pauses[0] <= 0.5
    assert all(7.5 <= pause <= 15 for pause in pauses[6:])
    assert len(set(pauses)) > len(pauses) // 2
    since = {piece.since for piece in news if isinstance(piece, Stale)}
    assert len(since) == 1, "stale since the first break, however often it is tried"


@pytest.mark.requirement("TUI-07")
async def test_a_stream_that_opens_and_closes_at_once_is_not_hammered() -> None:
    line = Line(stream(hints(1)))
    await line.collect(60)
    assert line.pauses[-1] >= 7.5


@pytest.mark.requirement("TUI-07")
@pytest.mark.parametrize(
    "ending",
    [
        lambda: problem(ErrorCode.TOKEN_EXPIRED),
        lambda: httpx.Response(401),
        stream(b"event: ended\ndata: {}\n\n", hints(8, "never")),
    ],
    ids=["401", "bare-401", "ended"],
)
async def test_an_ended_sign_in_ends_the_feed(ending: Callable[[], httpx.Response]) -> None:
    line = Line(stream(hints(1), httpx.ReadError("reset")), ending)
    news = await line.collect(100)
    assert isinstance(news[-1], SignedOut)
    assert len(line.resumed) == 2


async def test_events_may_come_in_any_pieces_and_with_any_line_end() -> None:
    whole = (hints(1, "a") + hints(2, "b")).replace(b"\n", b"\r\n")
    line = Line(stream(*(whole[at : at + 1] for at in range(len(whole)))))
    news = await line.collect(5)
    assert names(news) == ["Connecting", "Live", "Reload", "Changed", "Changed"]


async def test_many_events_in_one_chunk_are_not_one_large_event() -> None:
    one = hints(1, *(f"item-{count}" for count in range(2_000)))
    line = Line(stream(one * 20))
    assert names(await line.collect(23)) == ["Connecting", "Live", "Reload", *["Changed"] * 20]


@settings(max_examples=200)
@given(st.lists(st.binary(max_size=40), max_size=6))
async def test_no_bytes_of_a_stream_raise_out_of_the_feed(pieces: list[bytes]) -> None:
    line = Line(stream(*pieces), stream(httpx.ReadError("reset")))
    news = await line.collect(8)
    assert {type(piece) for piece in news} <= {Connecting, Live, Stale, Changed, Reload, SignedOut}


def test_the_silence_allowed_is_more_than_twice_the_heartbeat() -> None:
    assert FeedTimes().silence > 2 * Bounds().beat_seconds
