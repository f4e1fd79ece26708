"""One stream apart from server and database: what is told once is not told again, and the position only goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime

import pytest

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.events import Hint, Topic
from jobcontract.states import Role
from jobservice.api.events import _heard_by
from jobservice.api.hub import Hub, Subscription
from jobservice.api.stream import Heard, Hearing, Pace, Stream, coalesce
from jobservice.store.database import Database
from jobservice.store.items import Reach
from jobservice.usecases.actor import Actor
from jobservice.usecases.hints import Asked, Audience, HintBatch, readable
from jobservice.usecases.service import Service
from jobservice.usecases.session import Membership, SignedIn
from tests.api.conftest import Api, until
from tests.cast import People
from tests.usecases.job_hand import JobHand

NOW = datetime(2026, 12, 1, tzinfo=UTC)
SOME = Reach(customers=("CUST-7",), workspaces=None)


def audience(role: Role = Role.FINANCE, *, person: str = "m.ito", customers: tuple[str, ...] | None = None) -> Audience:
    return Audience.of(Actor(person=person, tenant="acme", role=role, customers=customers))


HEARD: Heard = {"acme": Hearing(topics=frozenset({Topic.ITEM}), audience=audience())}


def hint(identifier: str, version: int) -> Hint:
    return Hint(topic=Topic.ITEM, tenant="acme", queue="q", id=identifier, version=version)


class Scripted(Hub):
    """A hub that answers readings from a list, as one whose streams read beside each other does: with repetitions."""

    def __init__(self, batches: Iterable[HintBatch], reachable: Iterable[set[str] | None] = ()) -> None:
        """`reachable`: what is in reach at each look; None where the database is away."""
        self._batches = iter(batches)
        self._reachable = iter(reachable)
        self.places: list[int | None] = []
        """From where each reading was asked for."""
        self.closing = False
        self.identity = "0" * 32

    def subscribe(self, tenants: frozenset[str]) -> Subscription:
        return Subscription(tenants=tenants)

    async def heard(self, seconds: float) -> str:  # noqa: ARG002 - the hub's own form
        return self.identity

    async def read(self, tenant: str, since: HintBatch | None) -> HintBatch:  # noqa: ARG002 - the same
        self.places.append(None if since is None else since.position)
        return next(self._batches)

    async def readable(self, tenant: str, audience: Audience, hints: Iterable[Hint]) -> list[Hint]:  # noqa: ARG002 - the same
        if not audience.reach.narrowed:
            return list(hints)
        if (answer := next(self._reachable)) is None:
            raise Refusal(ErrorCode.DATABASE_AWAY, "Away.")
        return [hint for hint in hints if hint.id in answer]


def batch(position: int, *hints: Hint) -> HintBatch:
    return HintBatch(position=position, hints=hints, seen=frozenset(), reset=False)


async def test_what_a_reading_repeats_is_not_told_again() -> None:
    hub = Scripted([batch(5), batch(6, hint("a", 1), hint("b", 1)), batch(6, hint("b", 1), hint("a", 2), hint("c", 1))])

    async def rights() -> Heard:
        return HEARD

    pace = Pace(beat_seconds=60, recheck_seconds=60)
    stream = Stream(hub, HEARD, rights, pace, lambda _: None)
    await stream.open(None, seconds=1)
    frames = stream.frames()
    told = [await anext(frames)]
    for _ in range(2):
        stream.subscription.wake("acme")
        told.append(await anext(frames))
    await frames.aclose()  # type: ignore[attr-defined]  # an async generator
    assert [frame.count(b'"id":"b"') for frame in told] == [0, 1, 0]
    assert [frame.count(b'"id":"a"') for frame in told] == [0, 1, 1]
    assert b'"id":"c"' in told[2]
    assert [frame.splitlines()[1].rpartition(b"-")[2] for frame in told] == [b"5", b"6", b"6"]


def test_only_the_newest_of_each_thing_is_told() -> None:
    found = coalesce([hint("a", 2), hint("b", 1), hint("a", 1), hint("a", 3)])
    assert [(one.id, one.version) for one in found.values()] == [("a", 3), ("b", 1)]


async def test_a_topic_that_one_may_not_read_of_is_not_told() -> None:
    schedule = Hint(topic=Topic.SCHEDULE, tenant="acme", queue="s", id="s", version=1)
    newer = schedule.model_copy(update={"version": 2})
    hub = Scripted([batch(5), batch(6, schedule, hint("a", 1)), batch(7, newer)])
    heard = dict(HEARD)

    async def rights() -> Heard:
        return dict(heard)

    stream = Stream(hub, HEARD, rights, Pace(beat_seconds=60, recheck_seconds=0), lambda _: None)
    await stream.open(None, seconds=1)
    frames = stream.frames()
    await anext(frames)
    stream.subscription.wake("acme")
    told = await anext(frames)
    assert (told.count(b'"id":"a"'), told.count(b'"id":"s"')) == (1, 0)
    heard["acme"] = Hearing(topics=frozenset(Topic), audience=audience())
    stream.subscription.wake("acme")
    assert b'"id":"s"' in await anext(frames), "rights that came are looked at again"
    await frames.aclose()  # type: ignore[attr-defined]  # an async generator


async def test_who_sees_some_customers_is_told_what_is_in_reach_also_where_nobody_could_tell_at_first() -> None:
    membership = Membership(tenant="acme", name="Acme", role=Role.FINANCE, customers=SOME.customers, workspaces=None)
    signed_in = SignedIn(person="s", name="S", demo=False, memberships=(membership,), expires_at=NOW, now=NOW)
    heard = _heard_by(signed_in, None)
    assert heard["acme"].audience == audience(person="s", customers=SOME.customers)
    changed = batch(6, hint("a", 1), hint("b", 1))
    hub = Scripted([batch(5), changed, changed], [None, {"b"}])

    async def rights() -> Heard:
        return heard

    stream = Stream(hub, heard, rights, Pace(beat_seconds=60, recheck_seconds=60), lambda _: None)
    await stream.open(None, seconds=1)
    frames = stream.frames()
    await anext(frames)
    stream.subscription.wake("acme")
    told = asyncio.ensure_future(anext(frames))  # nothing: the database is away
    await until(lambda: not stream.subscription.due)
    stream.subscription.wake("acme")
    frame = await told
    await frames.aclose()  # type: ignore[attr-defined]  # an async generator
    assert (frame.count(b'"id":"a"'), frame.count(b'"id":"b"')) == (0, 1)
    assert hub.places == [None, 5, 5], "what nobody could judge is read again"
    assert frame.splitlines()[1].endswith(b"-6")


async def test_people_of_one_reach_share_one_look(api: Api, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[Asked] = []

    async def counted(database: Database, tenant: str, asked: Asked) -> frozenset[str]:
        looks.append(asked)
        return await readable(database, tenant, asked)

    monkeypatch.setattr("jobservice.api.hub.readable", counted)
    mine, foreign = [(await api.push(key, customer=of))["id"] for key, of in (("K-1", "CUST-7"), ("K-2", "CUST-8"))]
    found = Hub(service.database, poll_seconds=60, flush_seconds=0)
    subscription = found.subscribe(frozenset({"acme"}))
    hints = [hint(mine, 1), hint(foreign, 1), hint("q", 1).model_copy(update={"topic": Topic.ITEMS})]
    people = [audience(person=f"p.{number}", customers=SOME.customers) for number in range(20)]
    told = await asyncio.gather(*(found.readable("acme", each, hints) for each in people))
    assert all([each.id for each in one] == [mine, "q"] for one in told)
    assert await found.readable("acme", audience(), hints) == hints
    assert await found.readable("acme", people[0], hints[2:]) == hints[2:]
    assert [each.things for each in looks] == [frozenset({(Topic.ITEM, mine), (Topic.ITEM, foreign)})]
    found.unsubscribe(subscription)


async def test_what_may_be_read_is_looked_up_anew_in_each_round(
    api: Api, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the look before was overtaken: it began in a round, and ended in the next."""
    found = Hub(service.database, poll_seconds=60, flush_seconds=0)
    subscription = found.subscribe(frozenset({"acme"}))
    moved = (await api.push("K-1", customer="CUST-8"))["id"]
    hints, some = [hint(moved, 1)], audience(customers=SOME.customers)

    def moves(customer: str) -> None:
        api.people.connection.execute("update jobs.items set customer = %s where id = %s", (customer, moved))
        found._wake_all()

    assert await found.readable("acme", some, hints) == []
    moves("CUST-7")
    assert await found.readable("acme", some, hints) == hints

    async def overtaken(database: Database, tenant: str, asked: Asked) -> frozenset[str]:
        seen = await readable(database, tenant, asked)
        moves("CUST-8")
        return seen

    found._wake_all()
    with monkeypatch.context() as patched:
        patched.setattr("jobservice.api.hub.readable", overtaken)
        assert await found.readable("acme", some, hints) == hints
    assert await found.readable("acme", some, hints) == []
    found.unsubscribe(subscription)


async def test_a_job_is_in_reach_by_customer_and_workspace(service: Service, people: People) -> None:
    hand = JobHand(people.connection)
    both = {"customer": "CUST-7", "workspace": "W-1"}
    jobs = [
        hand.job(**both),
        hand.job(**both | {"workspace": "W-2"}),
        hand.job(**both | {"customer": "CUST-8"}),
        hand.job(),
    ]
    for customers, workspaces, seen in (
        (None, ("W-1",), {0, 2}),
        (("CUST-7",), ("W-1",), {0}),
        (("CUST-7",), None, {0, 1}),
    ):
        reach = Reach(customers=customers, workspaces=workspaces)
        asked = Asked(reach=reach, sight=None, things=frozenset((Topic.JOB, each) for each in jobs))
        assert await readable(service.database, "acme", asked) == {jobs[each] for each in seen}, reach
