"""The walk says so when an outcome is not what it must be: each of its steps is made to differ, and it fails there."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime

import pytest

from jobconsole.client import fake_explanations, fake_filters, fake_scores, fake_totals
from jobconsole.client.fake import FakeService
from jobconsole.client.fake_listing import Asked, FakeListing
from jobconsole.client.fake_scores import Scorable
from jobconsole.demo_desk import AUDITOR, FIRST, PUSHER, QUEUE, SECOND
from jobconsole.demo_walk import steps_of, walk
from jobcontract.items import ClaimRecord, Item
from jobcontract.permissions import GRANTS, Permission
from jobcontract.queues import QueueTotals
from jobcontract.scores import Score
from jobcontract.states import ItemView, Moves, Role

CAST = {FIRST: "m.ito", SECOND: "k.rao", AUDITOR: "a.nagy", PUSHER: "i.feed"}


def service() -> FakeService:
    """The fake service with claims of two seconds and some payouts."""
    fake = FakeService()
    fake.queues.queues = tuple(queue.model_copy(update={"lease_seconds": 2}) for queue in fake.queues.queues)
    for count in range(6):
        currency = {3: "JPY", 2: "EUR"}.get(count, "GBP")
        fake.queues.add(
            QUEUE, f"Supplier {count}", minor=-50 if count == 4 else 100 + count, days_old=9 - count, currency=currency
        )
    return fake


@asynccontextmanager
async def passing_time(fake: FakeService) -> AsyncIterator[None]:
    """The fake service's clock runs, ten times as fast as a real one."""

    async def run() -> None:
        while True:
            await asyncio.sleep(0.02)
            fake.advance(0.2)

    running = asyncio.create_task(run())
    try:
        yield
    finally:
        running.cancel()


async def walked(fake: FakeService) -> tuple[bool, list[str]]:
    """Whether the walk passed, and what it said."""
    said: list[str] = []
    people = {part: fake.service(person) for part, person in CAST.items()}
    async with passing_time(fake):
        passed = await walk(people, said.append)
    for person in people.values():
        await person.close()
    return passed, said


async def test_it_passes_on_a_service_that_is_right() -> None:
    passed, said = await walked(service())
    assert passed, "\n".join(said)
    assert len([line for line in said if "  ok  " in line]) == len(steps_of(money=False))


def no_order(fake: FakeService, patch: pytest.MonkeyPatch) -> None:
    """The list is newest first."""
    listed = fake.queues.listed
    patch.setattr(fake.queues, "listed", lambda queue, view: listed(queue, view)[::-1])


def wrong_totals(fake: FakeService, patch: pytest.MonkeyPatch) -> None:
    """Credits are netted away."""
    totals = fake_totals.queue_totals

    def net(listing: FakeListing, asked: Asked) -> QueueTotals:
        answer = totals(listing, asked)
        return answer.model_copy(update={"totals": answer.totals[:1]})

    patch.setattr(fake_totals, "queue_totals", net)


def parts_that_do_not_add_up(fake: FakeService, patch: pytest.MonkeyPatch) -> None:
    """A score that is not the sum of its parts."""
    score = fake_scores.score

    def more(row: Scorable, now: datetime) -> Score | None:
        found = score(row, now)
        return None if found is None or found.value is None else found.model_copy(update={"value": found.value + 1})

    patch.setattr(fake_explanations, "score", more)


def filters_are_forgotten(fake: FakeService, patch: pytest.MonkeyPatch) -> None:
    """Every filter shows everything."""
    patch.setattr(fake_filters, "matches", lambda *_args, **_more: True)


def claims_do_not_exclude(fake: FakeService, patch: pytest.MonkeyPatch) -> None:
    """Anybody can claim what another holds."""
    grant = fake.queues._grant
    patch.setattr(fake.queues, "claim", grant)


def claims_never_lapse(fake: FakeService, patch: pytest.MonkeyPatch) -> None:
    """A claim lasts for ever."""
    patch.setattr(fake.queues, "holder", lambda row: row.holder)
    patch.setattr("jobconsole.demo_walk.PATIENCE", 1.0)


def lapses_are_not_written(fake: FakeService, patch: pytest.MonkeyPatch) -> None:
    """History forgets how a claim ended."""
    end = fake.queues.end_claim

    def forget(row: object, *rest: object) -> None:
        end(row, *rest)  # type: ignore[arg-type]  # handed on as it came
        claims: list[ClaimRecord] = row.claims  # type: ignore[attr-defined]  # a FakeItem
        claims[:] = [claim.model_copy(update={"ending": None}) for claim in claims]

    patch.setattr(fake.queues, "end_claim", forget)


def late_acts_are_done(fake: FakeService, patch: pytest.MonkeyPatch) -> None:
    """Nobody asks who holds it."""
    patch.setattr(fake.queues, "may_act", lambda *_: None)


def set_aside_still_waits(fake: FakeService, patch: pytest.MonkeyPatch) -> None:
    """The waiting list shows everything that is open."""
    listed = fake.queues.listed

    def more(queue: str, view: ItemView) -> list[Item]:
        rows = listed(queue, view)
        if view is ItemView.WAITING:
            rows = sorted([*rows, *listed(queue, ItemView.SET_ASIDE)], key=lambda row: (row.created, row.id))
        return rows

    patch.setattr(fake.queues, "listed", more)


def keys_are_forgotten(fake: FakeService, patch: pytest.MonkeyPatch) -> None:
    """A repeated key is a new request."""

    class Forgets(dict[object, object]):
        def __setitem__(self, key: object, value: object) -> None:
            """Keep nothing."""

    patch.setattr(fake, "_keys", Forgets())


def money_moves(fake: FakeService, patch: pytest.MonkeyPatch) -> None:
    """The release is like any other act."""
    fake.queues.queues = tuple(
        queue.model_copy(
            update={"use_cases": tuple(case.model_copy(update={"moves": Moves.NOTHING}) for case in queue.use_cases)}
        )
        for queue in fake.queues.queues
    )
    for row in fake.queues.items.values():
        row.queue = fake.queues.queue(row.queue.id)


def trail_has_holes(fake: FakeService, patch: pytest.MonkeyPatch) -> None:
    """Refusals are not recorded."""
    record = fake._record

    def only_done(person: object, action: str, subject: str, outcome: str, **detail: str) -> None:
        if outcome == "done":
            record(person, action, subject, outcome, **detail)  # type: ignore[arg-type]  # handed on as it came

    patch.setattr(fake, "_record", only_done)


def pusher_reads(fake: FakeService, patch: pytest.MonkeyPatch) -> None:
    """Pushers read queues."""
    patch.setitem(GRANTS, Role.PUSHER, GRANTS[Role.PUSHER] | {Permission.QUEUE_READ})


@pytest.mark.parametrize(
    ("wrong", "step"),
    [
        (no_order, "list payouts"),
        (wrong_totals, "list payouts"),
        (parts_that_do_not_add_up, "explain the first"),
        (filters_are_forgotten, "filter them"),
        (claims_do_not_exclude, "a second clerk is refused"),
        (claims_never_lapse, "the claim lapses, the second gets it"),
        (lapses_are_not_written, "the claim lapses, the second gets it"),
        (late_acts_are_done, "the first clerk's late act is refused"),
        (set_aside_still_waits, "it leaves the waiting list"),
        (keys_are_forgotten, "repeat that under its key"),
        (money_moves, "release a payout without a plan"),
        (trail_has_holes, "the auditor reads the trail"),
        (pusher_reads, "the pusher may not read"),
    ],
    ids=lambda value: value.__name__ if callable(value) else None,
)
async def test_it_fails_where_the_service_is_wrong(
    monkeypatch: pytest.MonkeyPatch, wrong: Callable[[FakeService, pytest.MonkeyPatch], None], step: str
) -> None:
    fake = service()
    wrong(fake, monkeypatch)
    passed, said = await walked(fake)
    assert not passed
    assert "  FAILED  " in said[-1]
    assert step in said[-1], "\n".join(said)
