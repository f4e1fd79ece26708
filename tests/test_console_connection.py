"""The connection: coalescing of hints, the choice of a tenant, and how failures are said."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.message import Message

from jobconsole.client.errors import ClientError, ServiceAway, SignInAgain
from jobconsole.client.fake import FakeService
from jobconsole.connection import Coalescer, Connection, NotYours, explain
from jobconsole.messages import HintsArrived, ReloadAsked
from jobconsole.tokens import Token
from jobcontract.events import Hint, Topic
from jobcontract.wire import Problem

SECRET = "jc_m.ito"


def hint(name: str, version: int = 1) -> Hint:
    return Hint(topic=Topic.ITEM, tenant="leeds", queue="q", id=name, version=version)


class Posted:
    """Keeps what was posted, and tells when."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.came = asyncio.Event()

    def __call__(self, message: Message) -> None:
        self.messages.append(message)
        self.came.set()

    async def next(self) -> Message:
        await asyncio.wait_for(self.came.wait(), 5)
        self.came.clear()
        return self.messages[-1]


async def test_a_burst_becomes_one_message_with_the_newest_of_each() -> None:
    posted = Posted()
    coalescer = Coalescer(posted, every=0.01)
    for version in range(1, 2_001):
        coalescer.add((hint("a", version), hint("b", 2_001 - version)))
    message = await posted.next()
    assert isinstance(message, HintsArrived)
    assert {(h.id, h.version) for h in message.hints} == {("a", 2_000), ("b", 2_000)}
    assert len(posted.messages) == 1


async def test_two_flushes_are_never_closer_than_the_least_time(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    delays: list[float] = []
    real = loop.call_later

    def call_later(delay: float, call: Any, *arguments: Any, **more: Any) -> Any:
        delays.append(delay)
        return real(delay, call, *arguments, **more)

    posted = Posted()
    coalescer = Coalescer(posted, every=0.2)
    coalescer.add((hint("a"),))
    await posted.next()
    monkeypatch.setattr(loop, "call_later", call_later)
    coalescer.add((hint("b"),))
    assert delays
    assert 0.1 < delays[0] <= 0.2
    coalescer.stop()


async def test_a_reload_makes_hints_held_back_needless() -> None:
    posted = Posted()
    coalescer = Coalescer(posted, every=0.0)
    coalescer.pause(True)
    coalescer.add((hint("a"),))
    coalescer.reload()
    assert posted.messages == []
    coalescer.pause(False)
    assert isinstance(await posted.next(), ReloadAsked)
    assert len(posted.messages) == 1


async def test_what_is_stopped_posts_nothing_more() -> None:
    posted = Posted()
    coalescer = Coalescer(posted, every=0.0)
    coalescer.add((hint("a"),))
    coalescer.stop()
    done = asyncio.Event()
    asyncio.get_running_loop().call_later(0.0, done.set)
    await done.wait()
    assert posted.messages == []


@given(st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 9)), min_size=1, max_size=30))
def test_the_newest_version_wins_in_whatever_order(arrived: list[tuple[str, int]]) -> None:
    async def run() -> dict[str, int]:
        posted = Posted()
        coalescer = Coalescer(posted, every=0.0)
        for name, version in arrived:
            coalescer.add((hint(name, version),))
        message = await posted.next()
        assert isinstance(message, HintsArrived)
        return {h.id: h.version for h in message.hints}

    newest = asyncio.run(run())
    assert newest == {name: max(v for n, v in arrived if n == name) for name, _ in arrived}


async def opened(token: str, tenant: str | None = None) -> Connection:
    fake = FakeService()
    return await Connection.open(
        "http://127.0.0.1:1", Token(token), tenant=tenant, post=lambda _: None, transport=fake.transport()
    )


async def test_a_persons_only_tenant_is_chosen_and_another_is_refused_with_theirs_named() -> None:
    connection = await opened(SECRET)
    assert connection.role.tenant == "leeds"
    await connection.close()
    with pytest.raises(NotYours, match="acme is not a tenant of yours; yours: leeds"):
        await opened(SECRET, "acme")


async def test_a_person_in_no_tenant_is_told_whom_to_ask() -> None:
    fake = FakeService()

    async def nowhere(request: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={**(await fake.handle(request)).json(), "tenants": []})

    with pytest.raises(NotYours) as refused:
        await Connection.open(
            "http://127.0.0.1:1",
            Token(SECRET),
            tenant=None,
            post=lambda _: None,
            transport=httpx.MockTransport(nowhere),
        )
    assert str(refused.value) == (
        "Mika Ito is in no tenant. Ask whoever runs the service for a role in one (jobservice person grant)."
    )


async def test_a_wrong_token_is_not_in_what_is_raised() -> None:
    with pytest.raises(SignInAgain) as caught:
        await opened("jc_somebody-else")
    assert "somebody-else" not in str(caught.value)


def test_failures_are_said_with_what_was_done_and_the_reference() -> None:
    away = ServiceAway("The service answered 503.", reference="8C1E")
    assert explain(away, "Loading the queue").sentence == "Loading the queue: The service answered 503. Reference 8C1E."
    problem = Problem(
        type="about:blank", title="t", status=401, code="token-expired", detail="It ended.", reference="1"
    )
    assert explain(SignInAgain(problem), "Claim").ended
    assert not explain(ClientError("No."), "Claim").ended


def test_an_error_of_the_console_itself_shows_no_text_of_its_own() -> None:
    said = explain(ValueError(SECRET), "Claim").sentence
    assert SECRET not in said
    assert "ValueError" in said
