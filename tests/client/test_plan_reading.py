"""Reading a whole plan: what it hashes, what it stops at, what happens when the plan changes meanwhile."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from jobconsole.client import plan_reading, plans
from jobconsole.client.errors import PlanUnfit, ServiceAway
from jobconsole.client.fake import FakeService
from jobconsole.client.plan_reading import PlanReading
from jobconsole.client.queues import new_key
from jobconsole.client.service import Service
from jobcontract.plans import Plan, TakeOut
from jobcontract.states import Turn

PAYOUTS, COMMAND = "payments.payouts", "payments.release-many"
PREVIEW = pytest.mark.requirement("show-a-preview-before-bulk-money-actions", "MONEY-9")
Bend = Callable[[dict[str, Any]], None]


async def made(count: int = 7) -> tuple[FakeService, Service, Plan]:
    """A plan of `count` payouts; the third is a credit, the fourth is in yen."""
    fake = FakeService()
    for number in range(count):
        minor = -120 if number == 2 else 1_000 + number
        fake.queues.add(PAYOUTS, f"Payee {number}", minor=minor, currency="JPY" if number == 3 else "GBP")
    service = fake.service("m.ito")
    return fake, service, await plans.make(service, PAYOUTS, COMMAND, new_key(), filter="")


def bent(fake: FakeService, bend: Bend) -> Service:
    """A connection whose pages of rows pass `bend` on their way."""

    async def handle(request: httpx.Request) -> httpx.Response:
        answer = await fake.handle(request)
        if not request.url.path.endswith("/items"):
            return answer
        page = json.loads(answer.content)
        bend(page)
        return httpx.Response(200, content=json.dumps(page).encode(), headers={"Content-Type": "application/json"})

    return Service("http://127.0.0.1:1", SecretStr("jc_m.ito"), "leeds", transport=httpx.MockTransport(handle))


@PREVIEW
async def test_every_page_goes_through_the_digest_and_only_then_there_is_one() -> None:
    fake, service, plan = await made()
    seen: list[tuple[int, bool]] = []
    reading = PlanReading(service, plan, page=3)
    reading.on_progress = lambda: seen.append((reading.checked, reading.done))
    assert (reading.checked, reading.count, reading.digest) == (0, 7, None)
    digest = await reading.run()
    assert digest == fake.bulk.plans.all[plan.id].digest(fake.time)
    assert seen == [(3, False), (6, False), (7, False), (7, True)]
    wire = (await plans.items(service, plan.id)).items
    assert [(row.number, row.item, row.amount, row.payee, row.inputs) for row in reading.rows] == [
        (row.number, row.item, row.amount, row.payee, row.inputs) for row in wire
    ]
    assert [row.title for row in reading.rows[1:3]] == ["Payee 1", "Payee 2"]
    assert (reading.rows[0].turn, reading.rows[0].ended_at) == (Turn.NOT_STARTED, None)


def _set(*path: str | int, to: Any) -> Bend:
    """Put `to` in that place of a page's rows."""

    def bend(page: dict[str, Any]) -> None:
        place: Any = page["items"]
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = to

    return bend


UNFIT: dict[str, tuple[Bend, str]] = {
    "decimals": (_set(3, "amount", "exponent", to=2), "counts 2 decimals for JPY, this console 0"),
    "decimals-of-a-later-row": (_set(4, "amount", "exponent", to=3), "counts 3 decimals for GBP, this console 2"),
    "unknown-currency": (_set(1, "amount", "currency", to="XXX"), "does not know the currency XXX"),
    "amount": (_set(0, "amount", "minor", to=999), "do not add up to its totals (GBP)"),
    "currency": (_set(0, "amount", "currency", to="EUR"), "do not add up to its totals (EUR, GBP)"),
    "gap": (lambda page: page["items"].pop(1), "Row 2 of the plan lark-42 is missing (row 3 came instead)"),
    "twice": (lambda page: page["items"].insert(1, page["items"][0]), "Row 2 of the plan lark-42 is missing"),
    "end-missing": (lambda page: page["items"].pop(), "6 of the 7 rows of the plan lark-42 came"),
    "order": (_set(1, "item", to="0"), "Row 2 of the plan lark-42 is not where its id belongs"),
    "one-payee-fewer": (_set(1, "payee", "id", to="s-1"), "go to 6 payees, it says 7"),
}


@PREVIEW
@pytest.mark.parametrize(("bend", "says"), UNFIT.values(), ids=UNFIT)
async def test_what_does_not_fit_together_stops_it(bend: Bend, says: str) -> None:
    fake, _, plan = await made()
    reading = PlanReading(bent(fake, bend), plan)
    with pytest.raises(PlanUnfit) as caught:
        await reading.run()
    assert says in caught.value.sentence
    assert "must not be confirmed" in caught.value.sentence
    assert (reading.done, reading.digest) == (False, None)


@PREVIEW
async def test_a_head_that_names_other_decimals_or_another_largest_stops_it() -> None:
    _, service, plan = await made()
    yen = next(total for total in plan.totals if total.currency == "JPY")
    others = tuple(total for total in plan.totals if total.currency != "JPY")
    for update, says in (
        ({"totals": (*others, yen.model_copy(update={"exponent": 2}))}, "counts 2 decimals for JPY"),
        ({"totals": (*others, yen.model_copy(update={"net_minor": 0}))}, "do not add up to its totals (net)"),
        ({"largest": plan.largest[:1]}, "largest amount"),
    ):
        with pytest.raises(PlanUnfit, match=says.replace("(", "\\(").replace(")", "\\)")):
            await PlanReading(service, plan.model_copy(update=update)).run()


UNREADABLE: dict[str, tuple[Bend, str]] = {
    "minor-as-float": (_set(0, "amount", "minor", to=1000.0), "row 1"),
    "minor-as-boolean": (_set(2, "amount", "minor", to=True), "row 3"),
    "no-payee": (_set(1, "payee", to=None), "row 2"),
    "odd-input": (_set(1, "inputs", to={"invoice": ["x"]}), "row 2"),
    "not-a-row": (lambda page: page["items"].insert(0, "row"), "a row"),
    "no-edition": (lambda page: page.pop("edition"), "the whole"),
    "edition-as-text": (lambda page: page.update(edition="1"), "edition"),
}


@pytest.mark.parametrize(("bend", "where"), UNREADABLE.values(), ids=UNREADABLE)
async def test_a_page_that_cannot_be_read_is_said_in_words(bend: Bend, where: str) -> None:
    fake, _, plan = await made()
    with pytest.raises(ServiceAway, match=f"page of a plan: {where}"):
        await PlanReading(bent(fake, bend), plan).run()


@PREVIEW
async def test_a_plan_that_is_frozen_anew_meanwhile_is_read_anew() -> None:
    fake, service, plan = await made()
    taken = [row.item for row in (await plans.items(service, plan.id)).items][:2]
    reading = PlanReading(service, plan, page=3)
    pages = 0

    def once() -> None:
        nonlocal pages
        pages += 1
        if pages == 1:
            fake.bulk.plans.take_out(fake.bulk.plans.all[plan.id], plan.owner, TakeOut(items=tuple(taken)))

    reading.on_progress = once
    digest = await reading.run()
    assert (reading.edition, reading.checked, reading.count) == (plan.edition + 1, 5, 5)
    assert digest == fake.bulk.plans.all[plan.id].digest(fake.time)
    assert {row.item for row in reading.rows}.isdisjoint(taken)


async def test_a_plan_that_never_rests_is_given_up() -> None:
    fake, _, plan = await made()
    with pytest.raises(PlanUnfit, match="again and again"):
        await PlanReading(bent(fake, lambda page: page.update(edition=99)), plan).run()


async def test_a_run_after_a_failed_one_begins_at_the_first_row() -> None:
    fake, service, plan = await made()
    reading = PlanReading(service, plan, page=3)
    fake.status = 404
    with pytest.raises(ServiceAway):
        await reading.run()
    fake.status = None
    assert await reading.run() == fake.bulk.plans.all[plan.id].digest(fake.time)


@PREVIEW
async def test_the_loop_has_its_turns_while_many_rows_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plan_reading, "SLICE", 0.0)
    _, service, plan = await made(200)
    seen: set[int] = set()
    reading = PlanReading(service, plan)
    running = asyncio.ensure_future(reading.run())
    while not running.done():
        seen.add(reading.checked)
        await asyncio.sleep(0)
    assert len(await running) == 64
    assert {32, 64, 96, 128, 160, 192} <= seen


@pytest.mark.requirement("BULK-04", "HTTP-03")
async def test_pressing_twice_is_one_request_and_a_refused_code_makes_the_next_one_another() -> None:
    fake, service, plan = await made()
    intent = plans.Confirming(plan, await PlanReading(service, plan).run())
    first = intent.key
    tries = await asyncio.gather(
        intent.confirm(service, SecretStr("000000")),
        intent.confirm(service, SecretStr("000000")),
        return_exceptions=True,
    )
    assert [getattr(each, "code", None) for each in tries] == ["code-wrong", "code-wrong"]
    assert fake.bulk.codes.standing("m.ito").tries_left == 4
    assert intent.key != first
    confirmed = await intent.confirm(service, SecretStr("123456"))
    assert confirmed.state.confirmed
    sent = [request for request in fake.requests if request.url.path.endswith("/confirm")]
    assert len(sent) == 2


@pytest.mark.requirement("BULK-04", "HTTP-03")
async def test_an_answer_that_is_lost_for_good_is_looked_up_and_repeated_under_its_key() -> None:
    fake, service, plan = await made()
    intent = plans.Confirming(plan, await PlanReading(service, plan).run())
    assert await intent.looked_up(service) is None
    key, fake.lost = intent.key, 1
    confirmed = await intent.confirm(service, SecretStr("123456"))
    assert confirmed.state.confirmed
    found = await intent.looked_up(service)
    assert found is not None
    assert found.state.confirmed
    assert intent.key == key
    again = await intent.confirm(service, SecretStr("654321"))
    assert again == confirmed
    assert fake.bulk.codes.standing("m.ito").tries_left == 5
