"""How payouts and disputes are scored: the rows of the sketch, what must hold for any item, and the whole sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg import Connection

from examples.payments import application
from examples.payments.items import DISPUTES, NOTES, PAYOUTS
from examples.payments.seeding import Seeding
from jobcontract.money import AMOUNT_MAX, EXPONENTS, Money, parse_amount, show
from jobservice import records
from jobservice.application import NewJob, NewWorkItem, Part
from jobservice.records import RecordSet
from jobservice.rules.items import Content, Payment
from jobservice.rules.scores import PARKED, Rule, Scored, score_item
from jobservice.store.database import Database
from jobservice.usecases.seeding import push_examples

pytestmark = pytest.mark.requirement("show-the-score-beside-each-item")

NOW = datetime(2026, 3, 10, 9, 0, tzinfo=UTC)
LINE = 70
"""Cells that a row of 80 columns has for all inputs together, after its indent."""
CURRENCIES = ("GBP", "EUR", "USD", "JPY", "KWD")
RULES = {PAYOUTS: ("payout.release-score", "invoice"), DISPUTES: ("dispute.urgency-score", "evidence")}


@cache
def payments() -> RecordSet:
    """The records of the example, checked against what it registers."""
    found, findings = records.check(application)
    assert findings == ()
    assert found is not None
    return found


def score_content(rule: Rule, money: Money, inputs: dict[str, str], created: datetime, now: datetime = NOW) -> Scored:
    """As the service scores an item of that content."""
    payment = Payment(
        minor=money.minor, currency=money.currency, payee_id="S-1", payee_name="Payee", account="XJ00DEMO1"
    )
    content = Content(title="T", payment=payment, inputs=inputs)
    return score_item(rule, application.rules[rule.id].function, content, created, now)


def scored(queue: str, money: Money, word: str, age: timedelta) -> Scored:
    """An item of that age whose only declared input is `word`."""
    identifier, name = RULES[queue]
    return score_content(payments().rules[identifier], money, {name: word}, NOW - age)


def told(found: Scored) -> str:
    """All inputs as a narrow row shows them."""
    return " · ".join(part.shown for part in found.parts)


def points(found: Scored) -> list[int]:
    """What each input gives, in their order."""
    return [part.points for part in found.parts]


amounts = st.builds(
    lambda minor, currency: Money(minor=minor, currency=currency),
    st.integers(-AMOUNT_MAX, AMOUNT_MAX),
    st.sampled_from(CURRENCIES),
)
ages = st.timedeltas(min_value=timedelta(days=-400), max_value=timedelta(days=40_000))
words = st.sampled_from(["on-file", "missing", "credit note"]) | st.text(max_size=40)
queues = st.sampled_from([PAYOUTS, DISPUTES])


@pytest.mark.parametrize(
    ("amount", "days", "invoice", "value", "parts", "line"),
    [
        ("90,126.13", 6, "missing", 92, [48, 24, 20], "GBP 90,126.13 · 6 days old · no invoice"),
        ("5,616.65", 12, "missing", 88, [36, 32, 20], "GBP 5,616.65 · 12 days old · no invoice"),
        ("-1,545.22", 9, "on-file", 36, [4, 32, 0], "credit note · 9 days old · invoice on file"),
    ],
)
def test_the_rows_of_the_sketch(amount: str, days: int, invoice: str, value: int, parts: list[int], line: str) -> None:
    found = scored(PAYOUTS, parse_amount(amount, "GBP"), invoice, timedelta(days=days, hours=5))
    assert (found.value, points(found), told(found)) == (value, parts, line)


def test_each_part_says_why_it_gives_so_many_points() -> None:
    found = scored(PAYOUTS, parse_amount("90,126.13", "GBP"), "missing", timedelta(days=6))
    assert found.parts == (
        Part(input="amount", shown="GBP 90,126.13", points=48, words="over 50,000 counts most"),
        Part(input="age", shown="6 days old", points=24, words="4 a day, at most 8 days"),
        Part(input="invoice", shown="no invoice", points=20, words="none on file"),
    )
    small = scored(PAYOUTS, parse_amount("250", "GBP"), "on-file", timedelta(days=1))
    assert [part.words for part in small.parts] == ["up to 1,000", "4 a day, at most 8 days", "nothing is missing"]
    between = scored(DISPUTES, parse_amount("2500", "KWD"), "x", timedelta())
    assert [part.words for part in between.parts][::2] == ["400 to 4,000", "there is something to decide by"]


def test_a_dispute_is_told_as_the_requirement_does() -> None:
    found = scored(DISPUTES, parse_amount("1,900.00", "EUR"), "missing", timedelta(days=6))
    assert (found.value, points(found)) == (82, [20, 42, 20])
    assert told(found) == "EUR 1,900.00 · 6 days old · evidence missing"


@pytest.mark.parametrize(
    ("amount", "given"),
    [
        ("0.01", 12),
        ("999.99", 23),
        ("1,000.00", 24),
        ("5,000.00", 36),
        ("49,999.99", 47),
        ("50,000.00", 48),
        ("50,000.01", 48),
        ("92,233,720,368,547,758.07", 48),
        ("-0.01", 4),
        ("-495,783.00", 4),
    ],
)
def test_an_amount_counts_evenly_between_its_thresholds(amount: str, given: int) -> None:
    assert points(scored(PAYOUTS, parse_amount(amount, "GBP"), "on-file", timedelta()))[0] == given


@pytest.mark.parametrize(
    ("age", "shown", "given"),
    [
        (timedelta(days=-3), "under 1 day old", 0),
        (timedelta(days=1, microseconds=-1), "under 1 day old", 0),
        (timedelta(days=1), "1 day old", 4),
        (timedelta(days=8), "8 days old", 32),
        (timedelta(days=1_200), "1,200 days old", 32),
    ],
)
def test_an_age_is_told_in_whole_days_and_counts_for_eight(age: timedelta, shown: str, given: int) -> None:
    part = scored(PAYOUTS, parse_amount("1", "GBP"), "on-file", age).parts[1]
    assert (part.shown, part.points) == (shown, given)


@pytest.mark.parametrize(
    ("queue", "word", "shown", "given"),
    [
        (PAYOUTS, "on-file", "invoice on file", 0),
        (PAYOUTS, "missing", "no invoice", 20),
        (PAYOUTS, "On-File", "no invoice", 20),
        (PAYOUTS, "", "no invoice", 20),
        (DISPUTES, "missing", "evidence missing", 20),
        (DISPUTES, "  ", "evidence missing", 20),
        (DISPUTES, "credit note", "credit note", 10),
        (DISPUTES, "letter\x1b[31m", "evidence on file", 0),
    ],
)
def test_a_word_that_is_not_known_never_puts_a_payout_further_down(
    queue: str, word: str, shown: str, given: int
) -> None:
    part = scored(queue, parse_amount("1", "GBP"), word, timedelta()).parts[2]
    assert (part.shown, part.points) == (shown, given)


@pytest.mark.requirement("MONEY-03")
def test_yen_are_not_compared_with_euros_as_numbers() -> None:
    def of(amount: str, currency: str) -> Scored:
        return scored(PAYOUTS, parse_amount(amount, currency), "missing", timedelta(days=3))

    yen, euros = of("150,000", "JPY"), of("18,400.00", "EUR")
    assert (points(yen)[0], points(euros)[0]) == (21, 38)
    assert (yen.value or 0) < (euros.value or 0)
    assert told(yen).startswith("JPY 150,000 · ")
    names = {frozenset(amounts) for rule in payments().rules.values() for amounts in rule.thresholds.values()}
    assert names == {frozenset({"small", "large", "largest"}), frozenset({"small", "large"})}


@pytest.mark.requirement("MONEY-03")
@pytest.mark.parametrize("queue", [PAYOUTS, DISPUTES])
@pytest.mark.parametrize("currency", sorted({"CHF", "BHD", "CLF", "ISK"}))
def test_a_currency_without_thresholds_is_parked_where_people_see_it(queue: str, currency: str) -> None:
    found = scored(queue, parse_amount("1,000,000", currency), "missing", timedelta(days=30))
    assert (found.value, found.rank, found.parts) == (None, PARKED, ())
    assert found.failure == f"{RULES[queue][0]} states no thresholds for {currency}"
    assert found.inputs["amount"] == f"{currency} {10 ** EXPONENTS[currency] * 1_000_000}"


@given(queues, amounts, words, ages)
def test_any_item_has_one_part_for_each_input_and_they_add_up(
    queue: str, money: Money, word: str, age: timedelta
) -> None:
    found = scored(queue, money, word, age)
    assert (found.failure, found.value) == (None, sum(points(found)))
    assert found.value is not None
    assert 0 <= found.value <= 100
    assert [part.input for part in found.parts] == ["amount", "age", RULES[queue][1]]
    assert len(told(found)) <= LINE
    assert all(part.shown.isprintable() and part.words.isprintable() and part.words for part in found.parts)
    assert found == scored(queue, money, word, age)


@pytest.mark.requirement("order-queue-items-by-score")
@given(queues, amounts, words, ages, ages)
def test_older_never_scores_less(queue: str, money: Money, word: str, one: timedelta, other: timedelta) -> None:
    younger, older = sorted((one, other))
    assert scored(queue, money, word, older).rank <= scored(queue, money, word, younger).rank


@pytest.mark.requirement("order-queue-items-by-score")
@given(queues, st.sampled_from(CURRENCIES), st.lists(st.integers(1, AMOUNT_MAX), min_size=2, max_size=2), words, ages)
def test_more_of_the_same_currency_never_scores_less(
    queue: str, currency: str, minors: list[int], word: str, age: timedelta
) -> None:
    less, more = (Money(minor=minor, currency=currency) for minor in sorted(minors))
    assert scored(queue, more, word, age).rank <= scored(queue, less, word, age).rank


@given(amounts, ages)
def test_a_credit_never_scores_more_than_the_smallest_payout(money: Money, age: timedelta) -> None:
    credit = Money(minor=-max(abs(money.minor), 1), currency=money.currency)
    smallest = Money(minor=1, currency=money.currency)
    assert scored(PAYOUTS, credit, "missing", age).rank > scored(PAYOUTS, smallest, "missing", age).rank


async def sample() -> list[tuple[str, str, NewWorkItem]]:
    """Tenant, queue and item of everything in the sample."""
    items: list[tuple[str, str, NewWorkItem]] = []

    async def push(tenant: str, queue: str, new: Sequence[NewWorkItem]) -> int:
        items.extend((tenant, queue, each) for each in new)
        return len(new)

    async def submit(tenant: str, jobs: Sequence[NewJob]) -> int:
        raise AssertionError(f"{tenant} has {len(jobs)} jobs")

    await Seeding(published=Path("nowhere"))(NOW, push, submit)
    return items


async def test_no_item_of_the_sample_is_parked_and_each_fits_one_line() -> None:
    currencies: Counter[str] = Counter()
    rows: list[tuple[int, datetime, str, str, Scored]] = []
    for tenant, queue, item in await sample():
        if queue == NOTES:
            continue
        assert item.payment is not None
        assert item.created is not None
        rule = payments().rules[RULES[queue][0]]
        inputs = {name: str(value) for name, value in item.inputs.items()}
        found = score_content(rule, item.payment.money, inputs, item.created)
        assert found.failure is None, show(item.payment.money)
        assert len(told(found)) <= LINE
        currencies[item.payment.money.currency] += queue == PAYOUTS
        rows.append((found.rank, item.created, item.key, f"{tenant} {queue}", found))
    assert {currency for currency, count in currencies.items() if count} == set(CURRENCIES)
    top = [found for *_, place, found in sorted(rows, key=lambda row: row[:3]) if place == f"leeds {PAYOUTS}"][:8]
    assert {found.parts[2].shown for found in top} == {"no invoice", "invoice on file"}


@pytest.mark.requirement("order-queue-items-by-score")
async def test_what_the_service_keeps_of_the_sample_is_what_the_rules_say(
    database: Database, superuser: Connection[Any]
) -> None:
    superuser.execute("insert into jobs.tenants (id, name) values ('york', 'York')")
    items = [(queue, item) for tenant, queue, item in await sample() if tenant == "york"]
    for name in (PAYOUTS, DISPUTES, NOTES):
        own = [item for queue, item in items if queue == name]
        await push_examples(database, payments(), application, "york", name, own, pusher="p.push")
    kept = superuser.execute(
        "select queue, score_rule, score_version, count(*), count(score), count(distinct rank) > 3"
        " from jobs.items group by 1, 2, 3 order by 1"
    ).fetchall()
    assert [tuple(row) for row in kept] == [
        (DISPUTES, "dispute.urgency-score", 1, 8, 8, True),
        (NOTES, None, None, 3, 0, False),
        (PAYOUTS, "payout.release-score", 3, 141, 141, True),
    ]
