"""What is odd in a plan and said so: accounts, payees and amounts, inside the plan and against what was paid before."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from jobcontract.items import ChangedItem, NewPayee
from jobcontract.plans import PlanOrder, PlanWarning, TakeOut
from jobcontract.states import Warned
from jobservice.usecases import items, plan_reading, plans
from tests.conftest import Clock
from tests.usecases.desk import PAYOUTS, RELEASE_MANY, Desk, once, payout

pytestmark = [pytest.mark.requirement("MONEY-11"), pytest.mark.requirement("show-a-preview-before-bulk-money-actions")]
ONE, OTHER, THIRD = "GB29NWBK60161331926819", "GB94BARC10201530093459", "GB33BUKB20201555555555"


def to(key: str, minor: int, payee: str = "sup-1", name: str = "Aspire Care", account: str = ONE) -> Any:
    return payout(key, minor).model_copy(update={"payee": NewPayee(id=payee, name=name, account=account)})


async def warned(desk: Desk, *above: int) -> dict[str, list[PlanWarning]]:
    """The warnings of a plan over the whole queue, by the key of their items, in the order of the page."""
    if above:
        command = replace(desk.service.records.bulk[RELEASE_MANY], answer_above={"GBP": above[0]})
        desk = Desk(
            replace(desk.service, records=replace(desk.service.records, bulk={RELEASE_MANY: command})), desk.people
        )
    order = PlanOrder(command=RELEASE_MANY, filter="")
    plan = (await plans.make(desk.service, desk.actor("m.ito"), PAYOUTS, order, once())).body
    page, _ = await plan_reading.plan_warnings(desk.service, desk.actor("m.ito"), plan["id"], limit=500)
    found: dict[str, list[PlanWarning]] = {}
    for each in page.warnings:
        key = (await desk.detail(each.item)).item.key
        found.setdefault(str(key), []).append(each)
    return found


def on_rows(desk: Desk) -> dict[str, list[str]]:
    """What the rows of the one plan say of themselves, by key."""
    rows = desk.people.connection.execute("select business_key, warned from jobs.plan_items").fetchall()
    return {key: list(kinds) for key, kinds in rows}


def kinds(found: dict[str, list[PlanWarning]], key: str) -> list[str]:
    return [each.kind.value for each in found.get(key, [])]


def said(found: dict[str, list[PlanWarning]], key: str, kind: Warned) -> str:
    return next(each.sentence for each in found[key] if each.kind is kind)


async def paid(desk: Desk, key: str, minor: int, *, days: int = 1, **payee: str) -> None:
    """A payout that was released so many days ago, as the Worker would have left it."""
    item = await desk.push(new=to(key, minor, **payee))
    desk.people.connection.execute(
        """
        with plan as (
            insert into jobs.plans (
                tenant, name, command, queue, use_case, use_case_version, owner, state, salt, digest, totals, count,
                payees, frozen_at, valid_until, confirmed_at, signing_key, signature, ended_at
            )
            select 'acme', 'past-' || %(key)s, 'c', i.queue, 'u', 1, 'k.rao', 'done', sha256('s'), sha256('d'), '[]', 1, 1,
                jobs.now(), jobs.now(), jobs.now(), 'k', 's', jobs.now()
            from jobs.items as i where i.id = %(item)s
            returning id
        ), row as (
            insert into jobs.plan_items (
                plan, item, tenant, number, money_version, fence, title, amount_minor, currency, payee_id, payee_name,
                account, account_mark, inputs, turn, ended_at
            )
            select p.id, i.id, i.tenant, 1, 1, 1, i.title, i.amount_minor, i.currency, i.payee_id, i.payee_name, i.account,
                'm', '{}', 'done', jobs.now()
            from jobs.items as i, plan as p where i.id = %(item)s
            returning plan, item, tenant, amount_minor, currency, payee_id, account
        ), release as (
            insert into jobs.releases (
                item, tenant, plan, at, person, amount_minor, currency, payee_id, account, outward_key
            )
            select item, tenant, plan, jobs.now() - make_interval(days => %(days)s), 'k.rao', amount_minor, currency,
                payee_id, account, 'jc-' || item
            from row
        )
        update jobs.items set state = 'released', closed_at = jobs.now() where id = %(item)s
        """,
        {"key": key, "item": item["id"], "days": days},
    )


async def test_what_was_never_paid_to_is_a_first_payment_and_a_credit_is_said_as_ordinary(desk: Desk) -> None:
    await paid(desk, "P-1", 700, payee="sup-2", name="Booker", account=OTHER)
    await desk.push(new=to("K-1", 500))
    await desk.push(new=to("K-2", -300))
    await desk.push(new=to("K-3", 701, payee="sup-2", name="Booker", account=OTHER))
    found = await warned(desk)
    assert (kinds(found, "K-1"), kinds(found, "K-2"), kinds(found, "K-3")) == (["first-payment"], ["negative"], [])


async def test_the_same_amount_to_the_same_account_is_told_inside_the_plan_and_from_the_days_before(desk: Desk) -> None:
    await paid(desk, "P-1", 642_45, days=3)
    await paid(desk, "P-2", 99_00, days=31)
    for key, minor in (("K-1", 642_45), ("K-2", 500), ("K-3", 500), ("K-4", 99_00)):
        await desk.push(new=to(key, minor))
    found = await warned(desk)
    assert kinds(found, "K-1") == ["paid-before"]
    assert "The same amount went to this account on " in said(found, "K-1", Warned.PAID_BEFORE)
    assert kinds(found, "K-2") == kinds(found, "K-3") == ["same-here"]
    assert said(found, "K-2", Warned.SAME_HERE) == "2 rows of this plan have this amount to this account."
    assert kinds(found, "K-4") == [], "31 days are longer ago than the setting looks back"


async def test_a_payee_with_two_accounts_an_account_with_two_payees_and_look_alikes_name_the_other(desk: Desk) -> None:
    await desk.push(new=to("K-1", 500, account=ONE))
    await desk.push(new=to("K-2", 600, account=OTHER))
    await desk.push(new=to("K-3", 700, payee="sup-3", name="Cyril Post", account=THIRD))
    await desk.push(new=to("K-4", 800, payee="sup-4", name="\N{CYRILLIC CAPITAL LETTER ES}yril Post", account=THIRD))
    found = await warned(desk)
    assert said(found, "K-1", Warned.PAYEE_TWO_ACCOUNTS).endswith("another is …3459.")
    assert said(found, "K-3", Warned.ACCOUNT_TWO_PAYEES).endswith("another is \N{CYRILLIC CAPITAL LETTER ES}yril Post.")
    assert said(found, "K-4", Warned.LOOK_ALIKE) == "Looks like another payee of this plan: Cyril Post."
    assert kinds(found, "K-4") == ["look-alike", "account-two-payees", "first-payment"], "odd before ordinary"
    assert on_rows(desk)["K-4"] == kinds(found, "K-4"), "its row says the same, in this order"


async def test_a_row_says_what_is_odd_about_it_as_the_plan_is_after_another_was_taken_out(desk: Desk) -> None:
    for key, minor in (("K-1", 500), ("K-2", 500), ("K-3", 600)):
        await desk.push(new=to(key, minor))
    await warned(desk)
    same = ["same-here", "first-payment"]
    assert on_rows(desk) == {"K-1": same, "K-2": same, "K-3": ["first-payment"]}
    row = desk.people.connection.execute(
        "select plan::text, item::text from jobs.plan_items where business_key = 'K-1'"
    ).fetchone()
    assert row is not None
    await plans.take_out(desk.service, desk.actor("m.ito"), row[0], TakeOut(items=(row[1],)), once())
    assert on_rows(desk) == {"K-2": ["first-payment"], "K-3": ["first-payment"]}


async def test_a_changed_account_says_when_and_by_whom_or_where_the_payee_was_paid_before(desk: Desk) -> None:
    await paid(desk, "P-1", 700, payee="sup-2", name="Booker", account=OTHER)
    item = await desk.push(new=to("K-1", 500))
    new = to("K-1", 500, account=THIRD)
    changed = ChangedItem(
        money_version=item["money_version"], title=new.title, amount=new.amount, payee=new.payee, inputs=new.inputs
    )
    await items.change_item(desk.service, desk.actor("p.push"), PAYOUTS, "K-1", changed)
    await desk.push(new=to("K-2", 900, payee="sup-2", name="Booker", account=ONE))
    found = await warned(desk)
    assert said(found, "K-1", Warned.ACCOUNT_CHANGED).startswith("The account was changed by p.push on ")
    assert "another account before, …3459 on " in said(found, "K-2", Warned.ACCOUNT_CHANGED)


async def test_a_change_of_account_is_told_for_the_stated_days_and_no_longer(desk: Desk, clock: Clock) -> None:
    """What was left out because of it waits for so many days, and is then as any other."""
    item = await desk.push(new=to("K-1", 500))
    new = to("K-1", 500, account=THIRD)
    changed = ChangedItem(
        money_version=item["money_version"], title=new.title, amount=new.amount, payee=new.payee, inputs=new.inputs
    )
    await items.change_item(desk.service, desk.actor("p.push"), PAYOUTS, "K-1", changed)
    clock.advance(desk.service.records.settings.warnings_days - 60)
    assert "account-changed" in kinds(await warned(desk), "K-1")
    clock.advance(3_600)
    assert kinds(await warned(desk), "K-1") == ["first-payment"]


async def test_an_amount_far_outside_the_history_of_three_payments_is_told(desk: Desk) -> None:
    for number, minor in enumerate((100, 120, 90)):
        await paid(desk, f"P-{number}", minor, days=40 + number)
    await desk.push(new=to("K-1", 600))
    await desk.push(new=to("K-2", 601))
    found = await warned(desk)
    assert (kinds(found, "K-1"), kinds(found, "K-2")) == ([], ["amount-unusual"])
    assert (
        said(found, "K-2", Warned.AMOUNT_UNUSUAL)
        == "More than 5 times the largest of the 3 payments to this payee before."
    )


async def test_from_the_stated_amount_on_warnings_must_be_answered_and_stand_first_most_money_first(desk: Desk) -> None:
    for key, minor in (("K-1", 999), ("K-2", 1_000), ("K-3", 5_000), ("K-4", -9_000)):
        await desk.push(new=to(key, minor))
    found = await warned(desk, 1_000)
    must = {key: [each.must_answer for each in found[key]] for key in found}
    assert must == {"K-1": [False], "K-2": [True], "K-3": [True], "K-4": [False]}
    assert list(found) == ["K-3", "K-2", "K-1", "K-4"]
