"""The statements of acts: an effect is written only over the claim and version that were read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import psycopg
import pytest

from jobcontract.states import ItemState, OutcomeKind
from jobservice.rules.claims import Holding
from jobservice.store import acts, items
from jobservice.store.items import LockedItem, Reach
from tests.usecases.desk import NOTES, Desk
from tests.usecases.desk import desk as new_desk

CLOSE = acts.Effect(state=ItemState.RESOLVED, set_aside_until=None, closed_at=None, raised=True, ends_claim=True)


@pytest.fixture
def desk(database: Any, people: Any) -> Desk:
    return new_desk(database, people)


async def read(desk: Desk, transaction: Any, item: str) -> LockedItem:
    found = await items.lock(transaction, item, Reach(customers=None, workspaces=None))
    assert found is not None
    return found


async def test_an_effect_ends_claim_and_raises_both_versions(desk: Desk) -> None:
    item = await desk.push()
    await desk.claim("m.ito", item["id"])
    async with desk.service.database.transaction("acme") as transaction:
        found = await read(desk, transaction, item["id"])
        closed = replace(CLOSE, closed_at=await items.now(transaction))
        assert await acts.apply(transaction, found, closed) == found.row_version + 1
    after = (await desk.detail(item["id"])).item
    assert (after.state, after.holder, after.money_version, after.fence) == (ItemState.RESOLVED, None, 2, 1)


@pytest.mark.parametrize("stale", ["holder", "fence", "version"])
async def test_an_effect_over_what_is_no_longer_so_writes_nothing(desk: Desk, stale: str) -> None:
    item = await desk.push()
    await desk.claim("m.ito", item["id"])
    async with desk.service.database.transaction("acme") as transaction:
        found = await read(desk, transaction, item["id"])
        holding: Holding = found.holding
        other = {
            "holder": replace(found, holding=replace(holding, holder="k.rao")),
            "fence": replace(found, holding=replace(holding, fence=holding.fence - 1)),
            "version": replace(found, version=replace(found.version, number=7)),
        }[stale]
        effect = replace(CLOSE, closed_at=await items.now(transaction))
        assert await acts.apply(transaction, other, effect) is None
    assert (await desk.detail(item["id"])).item.state is ItemState.OPEN


async def test_the_record_of_an_act_only_grows(desk: Desk, superuser: psycopg.Connection[Any]) -> None:
    item = await desk.push(NOTES)
    async with desk.service.database.transaction("acme") as transaction:
        found = await read(desk, transaction, item["id"])
        for number in range(acts.HISTORY_MOST + 2):
            act = acts.NewAct(
                person="m.ito",
                use_case="t.note",
                outcome=OutcomeKind.DONE,
                sentence=str(number),
                inputs={},
                money_version=1,
            )
            await acts.add(transaction, found, act)
        history = await acts.history(transaction, item["id"])
    assert [each["sentence"] for each in history] == [str(number) for number in range(51, 1, -1)]
    with pytest.raises(psycopg.errors.RestrictViolation):
        superuser.execute("update jobs.acts set sentence = 'x'")
