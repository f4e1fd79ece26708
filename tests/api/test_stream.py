"""One stream apart from server and database: what is told once is not told again, and the position only goes on."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

from jobcontract.events import Hint, Topic
from jobcontract.states import Role
from jobservice.api.events import _heard_by
from jobservice.api.hub import Hub, Subscription
from jobservice.api.stream import Heard, Pace, Stream, coalesce
from jobservice.usecases.hints import HintBatch
from jobservice.usecases.session import Membership, SignedIn

NOW = datetime(2026, 12, 1, tzinfo=UTC)
HEARD: Heard = {"acme": frozenset({Topic.ITEM})}


def hint(identifier: str, version: int) -> Hint:
    return Hint(topic=Topic.ITEM, tenant="acme", queue="q", id=identifier, version=version)


class Scripted(Hub):
    """A hub that answers readings from a list, as one whose streams read beside each other does: with repetitions."""

    def __init__(self, batches: Iterable[HintBatch]) -> None:
        self._batches = iter(batches)
        self.closing = False
        self.identity = "0" * 32

    def subscribe(self, tenants: frozenset[str]) -> Subscription:
        return Subscription(tenants=tenants)

    async def heard(self, seconds: float) -> str:  # noqa: ARG002 - the hub's own form
        return self.identity

    async def read(self, tenant: str, since: HintBatch | None) -> HintBatch:  # noqa: ARG002 - the same
        return next(self._batches)


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
    heard["acme"] = frozenset(Topic)
    stream.subscription.wake("acme")
    assert b'"id":"s"' in await anext(frames), "rights that came are looked at again"
    await frames.aclose()  # type: ignore[attr-defined]  # an async generator


async def test_who_sees_some_customers_hears_of_kinds_and_of_no_job() -> None:
    people = [
        Membership(tenant="acme", name="Acme", role=Role.SUPPORT, customers=None, workspaces=None),
        Membership(tenant="acme", name="Acme", role=Role.SUPPORT, customers=("CUST-7",), workspaces=None),
    ]
    job = Hint(topic=Topic.JOB, tenant="acme", queue="t.sync", id="01a2", version=7)
    told = []
    for membership in people:
        signed_in = SignedIn(person="s", name="S", demo=False, memberships=(membership,), expires_at=NOW, now=NOW)
        heard = _heard_by(signed_in, None)

        async def rights(heard: Heard = heard) -> Heard:
            return heard

        stream = Stream(
            Scripted([batch(5), batch(6, job)]),
            heard,
            rights,
            Pace(beat_seconds=60, recheck_seconds=60),
            lambda _: None,
        )
        await stream.open(None, seconds=1)
        frames = stream.frames()
        await anext(frames)
        stream.subscription.wake("acme")
        told.append(await anext(frames))
        await frames.aclose()  # type: ignore[attr-defined]  # an async generator
    assert [frame.count(b"01a2") for frame in told] == [1, 0]
    assert b'"topic":"jobs","tenant":"acme","queue":"t.sync","id":"t.sync","version":7' in told[1]
