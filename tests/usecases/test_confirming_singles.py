"""Single releases that a setting frees from the code: counted where they are confirmed, however many at once."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from jobcontract.errors import ErrorCode, Refusal
from tests.conftest import Clock
from tests.usecases.desk import SETTINGS, refused_with
from tests.usecases.money_desk import MoneyDesk

pytestmark = pytest.mark.requirement("MONEY-2")


@pytest.fixture
def free(money: MoneyDesk) -> MoneyDesk:
    """A desk at which a person may release two payouts a day without a code, of GBP 25.00 together."""
    return money.with_command(free_count=2, free_gross={"GBP": 2_500})


async def singles(free: MoneyDesk, *minors: int) -> list[dict[str, Any]]:
    """A plan of one each."""
    return [await free.plan(await free.pushed(1, minor=minor)) for minor in minors]


async def test_of_many_at_once_no_more_are_freed_than_may_be(free: MoneyDesk) -> None:
    plans = await singles(free, 1_000, 1_000, 1_000)
    ended = await asyncio.gather(*(free.confirm(plan, code=None) for plan in plans), return_exceptions=True)
    refusals = [each for each in ended if isinstance(each, BaseException)]
    assert [each.kind for each in refusals if isinstance(each, Refusal)] == [ErrorCode.CODE_WRONG]
    assert len(refusals) == 1
    assert free.rows("select count(*), sum(gross_minor) from jobs.outgoings where single") == [(2, 2_000)]


async def test_what_is_freed_is_bounded_in_money_for_24_hours(free: MoneyDesk, clock: Clock) -> None:
    first, second = await singles(free, 1_600, 1_000)
    await free.confirm(first, code=None)
    await refused_with(ErrorCode.CODE_WRONG, free.confirm(second, code=None))
    await free.confirm(second)
    clock.advance(86_400 + SETTINGS.plan_window)  # nothing of them can have left later
    (third,) = await singles(free, 2_500)
    assert (await free.confirm(third, code=None)).body["state"] == "applying"


async def test_what_comes_back_or_has_no_such_setting_takes_a_code(free: MoneyDesk) -> None:
    back, others = await singles(free, -500), await free.plan(await free.pushed(1, currency="EUR"))
    for plan in (*back, others):
        await refused_with(ErrorCode.CODE_WRONG, free.confirm(plan, code=None))
