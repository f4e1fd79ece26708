"""Filters on the real database: PostgreSQL matches what plain Python matches, whatever was typed, and names are judged
by the queue, the tenant and the reach."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from itertools import pairwise, product
from typing import Any
from uuid import UUID

import psycopg
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from psycopg.rows import scalar_row
from psycopg.types.json import Jsonb

from jobconsole.client.fake_filters import matches
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.filter_names import QueueNames, judge_names
from jobcontract.filters import NOT_GIVEN, WORD, Condition, Filter, Operator, parse, write
from jobcontract.items import Amount, Item, Payee
from jobcontract.money import exponent
from jobcontract.scores import Score
from jobcontract.session import Person
from jobcontract.states import InputType, ItemState
from jobservice.rules.filters import condition
from jobservice.rules.items import Content, Payment, searched_words
from jobservice.usecases.filtering import Wanted, read_filter
from tests.hostile import HOSTILE
from tests.usecases.desk import NOTES, PAYOUTS, Desk, payout, refused_with

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
INPUTS = {
    "invoice": InputType.TEXT,
    "late": InputType.INTEGER,
    "contested": InputType.BOOLEAN,
    "due": InputType.INSTANT,
    "owner": InputType.PERSON,
}
PEOPLE = ("m.ito", "k.rao")
NASTY = (
    "missing", "none", "None", '"', "\\", '\\"', "$", '$."x"', '" || true', "') == 1", "/* c */", "@", "%", "_", "a%",
    "a_b", "a\\b", "Straße", "STRASSE", "🇬🇧", "\x07", "x\u2028y", "\x7f", "a,b", "a b", "null", "true", "5", "x" * 60,
)  # fmt: skip
TEXTS = (
    st.sampled_from(["none", "missing"])
    | st.sampled_from(NASTY)
    | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=6).filter(
        str.strip
    )
)
NUMBERS = st.integers(-3, 3) | st.sampled_from([2**62, -(2**62)])
DAYS = st.sampled_from(["2026-02-28", "2026-03-01", "2026-03-02", "9999-12-31", "0001-01-01"])
INSTANTS = st.sampled_from(
    ["2026-03-01T00:00:00Z", "2026-03-01T23:59:59.500000Z", "2026-02-28T12:00:00Z", "2026-03-02T00:00:00Z"]
)
VALUES: Mapping[str, st.SearchStrategy[Any]] = {
    "invoice": TEXTS,
    "late": NUMBERS,
    "contested": st.booleans(),
    "due": INSTANTS,
    "owner": st.sampled_from(PEOPLE),
}
AGES = st.sampled_from([timedelta(days=3), timedelta(hours=1), timedelta(weeks=2), timedelta(days=1)])
TICKS = st.sampled_from([timedelta(0), timedelta(microseconds=1), -timedelta(microseconds=1)])


@st.composite
def _items(draw: st.DrawFn) -> Item:
    currency = draw(st.sampled_from(["EUR", "JPY", "KWD"]))
    minor = draw(st.sampled_from([1, 5, 500, 501, 5_000, -5, -500]))
    held = draw(st.sampled_from([None, *PEOPLE]))
    score = draw(st.sampled_from([None, 79, 80, 81]))
    paid = draw(st.booleans())
    return Item(
        id=str(UUID(int=1)),
        queue="q",
        key=draw(TEXTS),
        title=draw(TEXTS),
        created=NOW - draw(AGES) + draw(TICKS),
        state=draw(st.sampled_from([ItemState.OPEN, ItemState.EVIDENCE_ASKED, ItemState.SET_ASIDE])),
        set_aside_until=None,
        amount=Amount(minor=minor, currency=currency, exponent=exponent(currency)) if paid else None,
        payee=Payee(id="s-1", name=draw(TEXTS), account_last4="4411") if paid else None,
        inputs=draw(st.fixed_dictionaries({}, optional=VALUES)),
        score=Score(value=score, rule="r", version=1, parts=(), scored_at=NOW, failure=None),
        money_version=1,
        holder=None if held is None else Person(id=held, name=held),
        expires_at=None,
        fence=0,
    )


def _row(item: Item) -> dict[str, object]:
    """The item as a row of jobs.items; one that nobody holds has a claim that lapsed at this very instant."""
    aside = item.state is ItemState.SET_ASIDE
    payment = None
    if item.amount is not None and item.payee is not None:
        payment = Payment(
            minor=item.amount.minor,
            currency=item.amount.currency,
            payee_id=item.payee.id,
            payee_name=item.payee.name,
            account=f"ACCT{item.payee.account_last4}",
        )
    return {
        "amount_minor": None if payment is None else payment.minor,
        "currency": None if payment is None else payment.currency,
        "created": item.created.isoformat(),
        "state": "open" if aside else item.state.value,
        "set_aside_until": (NOW + timedelta(seconds=1)).isoformat() if aside else NOW.isoformat(),
        "holder": item.holder.id if item.holder else "k.rao",
        "expires_at": (NOW + timedelta(seconds=1) if item.holder else NOW).isoformat(),
        "score": item.score.value if item.score else None,
        "inputs": dict(item.inputs),
        "words": searched_words(Content(title=item.title, payment=payment, inputs={}), item.key or ""),
    }


COMPARING = st.sampled_from([Operator.MORE, Operator.AT_LEAST, Operator.LESS, Operator.AT_MOST])
ANY = COMPARING | st.just(Operator.IS)


WORDS = TEXTS | st.sampled_from(
    [*(part for each in NASTY for part in (each[:1], each[:2], each[1:], each.upper()) if part.strip()), "44", "s-"]
)


def _one(field: str, operators: Any, values: Any) -> st.SearchStrategy[Condition]:
    return st.builds(lambda how, value: Condition(field=field, operator=how, values=(value,)), operators, values)


def _any(field: str, values: Any) -> st.SearchStrategy[Condition]:
    return st.lists(values, min_size=1, max_size=2).map(
        lambda given: Condition(field=field, operator=Operator.IS, values=tuple(given))
    )


WHOLE = NUMBERS.map(str)
CONDITIONS = st.tuples(
    _one(WORD, st.just(Operator.IS), WORDS),
    _any("input.invoice", TEXTS | st.just(NOT_GIVEN)),
    _any("input.late", WHOLE | st.just(NOT_GIVEN)),
    _one("input.late", COMPARING, WHOLE),
    _any("input.contested", st.sampled_from(["yes", "no", NOT_GIVEN])),
    _any("input.due", DAYS | st.just(NOT_GIVEN)),
    _one("input.due", COMPARING, DAYS),
    _any("input.owner", st.sampled_from(["me", *PEOPLE, NOT_GIVEN])),
    _one("amount", ANY, st.sampled_from(["5", "-5", "0", "5,000"])),
    _one("age", COMPARING, st.sampled_from(["3d", "1h", "2w", "24h", "60m"])),
    _one("score", ANY, st.sampled_from(["79", "80", "81"])),
    _one("score", st.just(Operator.IS), st.just(NOT_GIVEN)),
    _any("holder", st.sampled_from(["me", "free", "k.rao"])),
    _any("state", st.sampled_from([str(each) for each in ItemState])),
    _any("currency", st.sampled_from(["EUR", "JPY", "KWD"])),
)
FILTERS = CONDITIONS.map(
    lambda each: (
        *((one,) for one in each),
        *((one, other) for one, other in pairwise(each) if one.field != other.field),
    )
)
"""One condition of every kind, and each with its neighbour."""
COMPARE = """
select jobs.matches(jsonb_populate_record(null::jobs.items, r.row), nullif(f.filter, 'null'), %(now)s) is true
from jsonb_array_elements(%(rows)s) with ordinality as r (row, number)
cross join jsonb_array_elements(%(filters)s) with ordinality as f (filter, number)
order by r.number, f.number
"""


def _comparable(filter_: Filter) -> Filter:
    """The filter, without its currencies where amounts are compared and more than one is named."""
    named = filter_.of("currency")
    if filter_.of("amount") and named and len(set(named[0].values)) > 1:
        return Filter(conditions=filter_.of("amount"))
    return filter_


@pytest.mark.requirement("MONEY-03", "TUI-01")
def test_postgresql_matches_what_plain_python_matches(superuser: psycopg.Connection[Any]) -> None:
    seen: Counter[tuple[bool, str]] = Counter()
    cursor = superuser.cursor(row_factory=scalar_row)
    names = QueueNames(money=True, inputs=INPUTS, currencies=("EUR",))

    @settings(  # a failure tells item and filter: making them smaller would take minutes
        max_examples=25,
        deadline=None,
        phases=[Phase.explicit, Phase.reuse, Phase.generate],
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(drawn=FILTERS, items=st.lists(_items(), min_size=4, max_size=4))
    def compare(drawn: tuple[tuple[Condition, ...], ...], items: list[Item]) -> None:
        read = [_comparable(parse(write(Filter(conditions=each)))) for each in drawn]
        currencies = [judge_names(each, names) for each in read]
        both = list(zip(read, currencies, strict=True))
        wanted = [condition(each, currency=currency, inputs=INPUTS, person="m.ito") for each, currency in both]
        rows = [_row(item) for item in items]
        cursor.execute(COMPARE, {"rows": Jsonb(rows), "filters": Jsonb(wanted), "now": NOW})
        for (item, (each, currency)), found in zip(product(items, both), cursor.fetchall(), strict=True):
            expected = matches(item, each, "m.ito", NOW, currency=currency, inputs=INPUTS)
            assert found is expected, (item, write(each))
            seen.update((expected, one.field) for one in each.conditions)

    compare()
    assert len({field for _, field in seen}) == 12
    for answer in (True, False):
        assert sum(seen[answer, field] for _, field in seen) > 100, "both answers are worth comparing"


async def _read(desk: Desk, text: str, *, queue_id: str = PAYOUTS, **more: Any) -> Wanted:
    actor = desk.actor("m.ito", **more)
    async with desk.service.database.transaction("acme") as transaction:
        return await read_filter(transaction, desk.service, actor, desk.service.queue(queue_id), text)


async def test_names_are_judged_by_the_queue_and_by_who_is_in_the_tenant(desk: Desk) -> None:
    assert await _read(desk, " ") == Wanted()
    read = await _read(desk, "holder:me,free,k.rao input.invoice:missing age>3d")
    assert read.condition == {
        "age_least": 259_200_000_001,
        "holders": "m.ito,k.rao",
        "free": "true",
        "inputs": '($."invoice" == "missing")',
    }
    for text, at, length, sentence in (
        ("x holder:me,k.roa", 12, 5, "No colleague has the id 'k.roa'. Did you mean k.rao?"),
        ("holder:g.push", 7, 6, "No colleague has the id 'g.push'."),
        (
            "input.invoic:x",
            0,
            12,
            "This queue has no 'input.invoic'. There is input.invoice. Did you mean input.invoice?",
        ),
        ("amount:", 6, 1, "A value is missing after : (such as 1000)."),
        ("x" * 501, 500, 1, "The filter has 501 characters; at most 500 are allowed."),
    ):
        refusal = await refused_with(ErrorCode.FILTER_INVALID, _read(desk, text))
        assert refusal.detail.startswith(sentence)
        assert (refusal.extra["at"], refusal.extra["length"]) == (at, length)
    refusal = await refused_with(ErrorCode.FILTER_INVALID, _read(desk, "amount>5", queue_id=NOTES))
    assert refusal.detail == "The items of this queue carry no amount. Take this out."


@pytest.mark.requirement("MONEY-03")
async def test_amounts_take_the_only_currency_of_the_queue_within_reach_or_ask_for_one(desk: Desk) -> None:
    refusal = await refused_with(ErrorCode.FILTER_INVALID, _read(desk, "amount>5"))
    assert "No item with an amount waits here" in refusal.detail
    await desk.push(new=payout("G", 5, "GBP", customer="north"))
    assert await _read(desk, "amount>5 sort:amount") == Wanted(
        condition={"currencies": "GBP", "amount_least": 501}, currency="GBP"
    )
    await desk.push(new=payout("J", 150_000, "JPY", customer="south"))
    for text in ("sort:amount", "amount<5"):
        refusal = await refused_with(ErrorCode.FILTER_INVALID, _read(desk, text))
        assert refusal.extra == {"at": 0, "length": len(text), "choices": ["GBP", "JPY"]}
        assert "several wait here (GBP, JPY)" in refusal.detail
    assert (await _read(desk, "sort:amount", customers=("south",))).currency == "JPY"
    assert (await _read(desk, "sort:amount currency:GBP")).currency == "GBP"
    assert await _read(desk, "amount>5 currency:JPY") == Wanted(condition={"currencies": "JPY", "amount_least": 6})
    await refused_with(ErrorCode.FILTER_INVALID, _read(desk, "currency:GBP,JPY sort:amount"))


async def _refused(desk: Desk, text: str) -> Refusal | None:
    try:
        await _read(desk, text)
    except Refusal as refusal:
        return refusal
    return None


@pytest.mark.requirement("TUI-01")
async def test_whatever_is_typed_is_read_or_refused_in_a_sentence(desk: Desk) -> None:
    for typed in HOSTILE:
        for text in (typed, f'"{typed}"', f"input.invoice:{typed}", f"holder:{typed}"):
            refusal = await _refused(desk, text)
            assert refusal is None or (refusal.kind is ErrorCode.FILTER_INVALID and refusal.detail)
