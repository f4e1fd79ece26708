"""The act of the walk about schedules says so when something is not what it must be."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime, timedelta

import pytest

from jobconsole import demo_schedules as act
from jobconsole.client.fake import FakeService
from jobconsole.demo_desk import FIRST, Desk, Differs
from jobcontract.occurrences import Attempt, ItemCounts
from jobcontract.schedules import Planned
from jobcontract.states import AttemptEnding, OccurrenceState, OutcomeKind, ScheduleStanding

AT = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
ALL = ItemCounts(done=2, refused=0, failed=0, unfinished=0, selected_all=True)


def attempt(fence: int, ending: AttemptEnding = AttemptEnding.COMPLETED) -> Attempt:
    return Attempt(
        attempt=1,
        fence=fence,
        worker="w",
        host="h",
        taken_at=AT,
        started_at=AT,
        expires_at=AT,
        renewals=0,
        ended_at=AT,
        ending=ending,
        error=None,
    )


def planned(at: datetime, *, runs: bool = True) -> Planned:
    return Planned(at=at, local=None, offset=None, abbreviation=None, clock=None, runs=runs, words="")


@pytest.fixture
async def fake(monkeypatch: pytest.MonkeyPatch) -> FakeService:
    """A service on which everything is as the walk wants it."""
    fake = FakeService()
    for identifier in (act.RESCORE, act.NIGHTLY):
        fake.jobs.add(identifier, every=60)
    fake.jobs.add("payments.drill", every=None)
    ran = fake.jobs.plan(
        act.RESCORE,
        AT,
        OccurrenceState.COMPLETED,
        items=ALL,
        started_at=AT,
        ended_at=AT + timedelta(seconds=1),
        lease=None,
    )
    fake.jobs.attempts[ran] = [attempt(1, AttemptEnding.LOST), attempt(2)]
    fake.jobs.put_items(ran, OutcomeKind.DONE)
    nights = tuple(planned(at) for at in act.NIGHTS)
    monkeypatch.setattr(fake.jobs, "_ahead", lambda *_: (nights, ""))
    monkeypatch.setattr(act, "PATIENCE", 0.3)
    return fake


@pytest.fixture
async def desk(fake: FakeService) -> AsyncIterator[Desk]:
    service = fake.service("m.ito")
    yield Desk(people={FIRST: service})
    await service.close()


def only(fake: FakeService) -> str:
    (identifier,) = fake.jobs.occurrences
    return identifier


def update(fake: FakeService, **more: object) -> None:
    """The one occurrence, with some fields given otherwise."""
    fake.jobs.occurrences[only(fake)] = fake.jobs.occurrences[only(fake)].model_copy(update=more)


@pytest.mark.requirement("carry-the-schedule-on-the-job-record")
async def test_it_passes_on_a_service_that_is_right(desk: Desk) -> None:
    said = [await step(desk) for _, step in act.STEPS]
    assert said[0].splitlines()[0] == "3 schedules"
    assert said[1] == (
        "payouts.rescore@2026-03-02T09:00:00Z: 2 items done, attempt 1 of 3, fence 2, 1 items kept singly"
    )


def parked(fake: FakeService) -> None:
    found = fake.jobs.schedules[act.NIGHTLY]
    fake.jobs.schedules[act.NIGHTLY] = found.model_copy(update={"standing": ScheduleStanding.PARKED})


def no_next_time(fake: FakeService) -> None:
    fake.jobs._ahead = lambda *_: ((), "")  # type: ignore[method-assign]  # made wrong


def unknown(fake: FakeService) -> None:
    del fake.jobs.schedules[act.NIGHTLY]


def never_ran(fake: FakeService) -> None:
    update(fake, state=OccurrenceState.DEAD_LETTER)


def began_too_early(fake: FakeService) -> None:
    update(fake, started_at=AT - timedelta(seconds=1))


def unfinished(fake: FakeService) -> None:
    update(fake, items=ALL.model_copy(update={"unfinished": 1}))


def twice(fake: FakeService) -> None:
    first = fake.jobs.occurrences[only(fake)]
    fake.jobs.occurrences["again"] = first.model_copy(update={"id": "again"})


def fences_fall(fake: FakeService) -> None:
    fake.jobs.attempts[only(fake)] = [attempt(2, AttemptEnding.LOST), attempt(1)]


def lost_at_last(fake: FakeService) -> None:
    fake.jobs.attempts[only(fake)] = [attempt(1, AttemptEnding.LOST)]


def item_without_outcome(fake: FakeService) -> None:
    fake.jobs.put_items(only(fake), OutcomeKind.DONE, None)


def both_hours(fake: FakeService) -> None:
    second = planned(act.NIGHTS[0] + timedelta(hours=1))
    fake.jobs._ahead = lambda *_: ((planned(act.NIGHTS[0]), second, planned(act.NIGHTS[1])), "")  # type: ignore[method-assign]  # made wrong


@pytest.mark.parametrize(
    ("wrong", "step", "says"),
    [
        (parked, act.list_schedules, "statements.nightly cannot be computed"),
        (no_next_time, act.list_schedules, "payouts.rescore, statements.nightly have no next time"),
        (unknown, act.list_schedules, "there are only"),
        (never_ran, act.has_run, "has not run"),
        (began_too_early, act.has_run, "it began before its time"),
        (unfinished, act.has_run, "1 of its items have no outcome"),
        (twice, act.has_run, "it ran twice for one instant"),
        (fences_fall, act.has_run, "its fences did not rise"),
        (lost_at_last, act.has_run, "its last attempt ended as lost"),
        (item_without_outcome, act.has_run, "an item of it has no outcome"),
        (both_hours, act.night_of_the_clocks, "2026-10-25 00:30:00.*2026-10-25 01:30:00"),
    ],
    ids=lambda value: value.__name__ if callable(value) else None,
)
async def test_it_fails_where_the_service_is_wrong(
    fake: FakeService,
    desk: Desk,
    wrong: Callable[[FakeService], None],
    step: Callable[[Desk], Awaitable[str]],
    says: str,
) -> None:
    wrong(fake)
    with pytest.raises(Differs, match=says):
        await step(desk)
