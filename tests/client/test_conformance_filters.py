"""The fake service reads a filter as the real one does: in lists, totals, claim next, refusals, and its vocabulary."""

from __future__ import annotations

import pytest

from jobconsole.client import queues as client
from jobconsole.client.errors import ServiceRefused
from jobcontract.states import ItemView
from tests.client.stage import FIRST, PUSHER, SECOND, Stage
from tests.client.test_conformance import PAYOUTS, claimed, refused


async def four(stage: Stage) -> list[str]:
    """Payouts with words, amounts and dates to filter by."""
    return [
        await stage.add(PAYOUTS, "Alpha Ltd", minor=120_000, days_old=9),
        await stage.add(PAYOUTS, "Beta Straße", minor=-500, days_old=5),
        await stage.add(PAYOUTS, "Gamma", minor=5_000, days_old=2, currency="JPY"),
        await stage.add(PAYOUTS, "50% [off]", minor=100_050, days_old=1),
    ]


FILTERED = (
    ("", "Alpha Beta Gamma 50%"),
    ("amount>1,000 currency:GBP", "Alpha 50%"),
    ("amount>1000.50 currency:gbp", "Alpha"),
    ("amount>=1000.50 amount<1200 currency:GBP", "50%"),
    ("amount<0 currency:GBP", "Beta"),
    ("amount:5000 currency:JPY", "Gamma"),
    ("currency:JPY,EUR", "Gamma"),
    ("age>4d", "Alpha Beta"),
    ("age>=2d age<6d", "Beta Gamma"),
    ("holder:me", "Alpha"),
    ("holder:k.rao,me", "Alpha Beta"),
    ("holder:free", "Gamma 50%"),
    ("holder:free,k.rao age<1w", "Beta Gamma 50%"),
    ("state:open", "Alpha Beta Gamma 50%"),
    ("state:evidence-asked,rejected", ""),
    ("input.invoice:none", ""),
    ("input.invoice:none,I-1,invoice-1", "Alpha|Alpha Beta Gamma 50%"),
    ("STRASSE", "Beta"),
    ('"alpha l"', "Alpha"),
    ("pha", ""),
    ("50%", "50%"),
    ("5_%", ""),
    ("[off]", "50%"),
    ("000", "Alpha Beta Gamma 50%"),
    ("s-3", "Gamma"),
    ("K-2 0002", "Beta"),
    ("score:none", "|Alpha Beta Gamma 50%"),
    ("score>=-1000000", "Alpha Beta Gamma 50%|"),
)
"""A filter, and the first words of the titles that match; after a bar: where the two services' inputs or rules differ."""


@pytest.mark.requirement("TUI-01")
async def test_a_filter_matches_the_same_items_in_list_and_totals(stage: Stage) -> None:
    first, second, *_ = await four(stage)
    service = stage.sign_in(FIRST)
    await claimed(service, first)
    await claimed(stage.sign_in(SECOND), second)
    for text, titles in FILTERED:
        found = {row.title.split()[0] async for row in client.all_items(service, PAYOUTS, filter=text)}
        assert found in [set(each.split()) for each in titles.split("|")], text
        totals = await client.totals(service, PAYOUTS, filter=text)
        assert (totals.matching, totals.waiting, totals.filter) == (len(found), len(found), text)
        assert (totals.mine, totals.unclaimed) == ("Alpha" in found, len(found - {"Alpha", "Beta"}))
        assert sum(row.out_count + row.back_count for row in totals.totals) == len(found)
    aside = await client.totals(service, PAYOUTS, view=ItemView.SET_ASIDE, filter="currency:GBP")
    assert (aside.matching, aside.waiting, aside.totals, aside.exact) == (0, 3, (), True)


@pytest.mark.requirement("MONEY-03")
async def test_the_order_by_amount_is_within_one_currency(stage: Stage) -> None:
    await four(stage)
    service = stage.sign_in(FIRST)
    page = await client.items(service, PAYOUTS, filter="sort:amount currency:GBP")
    assert [row.amount.minor for row in page.items if row.amount] == [120_000, 100_050, -500]
    for text in ("sort:amount", "amount>5", "amount>5 currency:GBP,JPY"):
        for call in (client.items(service, PAYOUTS, filter=text), client.totals(service, PAYOUTS, filter=text)):
            with pytest.raises(ServiceRefused) as caught:
                await call
            assert (caught.value.code, caught.value.extra["choices"]) == ("filter-invalid", ["GBP", "JPY"])
            assert (caught.value.extra["at"], caught.value.extra["length"]) == (0, len(text.split()[0]))


async def test_a_filter_that_cannot_be_read_is_refused_at_its_place(stage: Stage) -> None:
    await four(stage)
    service = stage.sign_in(FIRST)
    for text, at, length in (
        ("x amout>5", 2, 5),
        ("holder:me,k.roa", 10, 5),
        ("input.invoic:x", 0, 12),
        ("currency:GBP amount>1.555", 20, 5),
        ('x "y', 2, 2),
    ):
        with pytest.raises(ServiceRefused) as caught:
            await client.totals(service, PAYOUTS, filter=text)
        refusal = caught.value
        assert (refusal.code, refusal.extra["at"], refusal.extra["length"]) == ("filter-invalid", at, length), text


async def test_the_vocabulary_is_what_a_filter_may_name(stage: Stage) -> None:
    await four(stage)
    found = await client.vocabulary(stage.sign_in(FIRST), PAYOUTS)
    fields = {field.name: field for field in found.fields}
    scored = (
        next(row for row in (await client.queues(stage.sign_in(FIRST))).queues if row.id == PAYOUTS).score is not None
    )
    assert ("score" in fields) is scored
    assert [name for name in fields if name != "score"] == [
        "amount",
        "currency",
        "holder",
        "age",
        "state",
        "input.invoice",
        "sort",
    ]
    assert found.currencies == fields["currency"].values == ("GBP", "JPY")
    assert fields["holder"].values[:2] == ("me", "free")
    assert {"m.ito", "k.rao"} < set(fields["holder"].values)
    assert fields["input.invoice"].values[-1] == "none"
    assert set(fields["input.invoice"].values[:-1]) & {"I-1", "invoice-1"}
    assert fields["sort"].values == (("score", "amount") if scored else ("amount",))
    assert await refused(client.vocabulary(stage.sign_in(PUSHER), PAYOUTS)) == "permission-missing"
    assert await refused(client.vocabulary(stage.sign_in(FIRST), "payments.none")) == "not-found"
