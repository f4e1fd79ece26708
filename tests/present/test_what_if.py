"""Tests of what a person may type as a supposition, and of how before and after are written."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobconsole.present.amounts import amount_text
from jobconsole.present.columns import plain
from jobconsole.present.text import line
from jobconsole.present.what_if import LEAD, Unreadable, own_value, read_age, read_input, read_money, supposed_lines
from jobcontract.items import Explanation, Placement, Supposed
from jobcontract.money import EXPONENTS, Money
from jobcontract.scores import ItemCount, RuleInput
from jobcontract.states import RuleInputType
from tests.hostile import HOSTILE, harmless
from tests.present.samples import NOW, amount, item
from tests.present.scored import RULE, explanation, parked, part, score, scored

LONDON = ZoneInfo("Europe/London")


def declared(kind: RuleInputType, source: str = "input.x") -> RuleInput:
    return RuleInput(name="x", type=kind, title="X", unit=None, source=source)


@pytest.mark.parametrize(
    ("text", "money"),
    [
        ("GBP 1,000.00", Money(minor=100_000, currency="GBP")),
        ("1000", Money(minor=100_000, currency="GBP")),
        ("−GBP 20.00", Money(minor=-2_000, currency="GBP")),
        ("-20", Money(minor=-2_000, currency="GBP")),
        ("GBP -20", Money(minor=-2_000, currency="GBP")),
        ("eur 5", Money(minor=500, currency="EUR")),
        ("5.5 KWD", Money(minor=5_500, currency="KWD")),
        ("  JPY1,234 ", Money(minor=1_234, currency="JPY")),
    ],
)
def test_amounts_as_people_type_them(text: str, money: Money) -> None:
    assert read_money(text, "GBP") == money


@pytest.mark.requirement("MONEY-01")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("much", "much is no amount; type one like GBP 1,000.00 or −20.00."),
        ("1.000,00", "is not an amount like 1,234.50"),
        ("GBP 1.005", "GBP has 2 decimals; '1.005' has more and is not rounded."),
        ("JPY 10.5", "JPY has 0 decimals"),
        ("GBP 1.000", "'1.000' may be 1,000 or 1.00: write it so"),
        ("GBP 5 EUR", "is no amount"),
        ("--5", "is no amount"),
        ("XYZ 5", "'XYZ' is not a currency of ISO 4217"),
        ("9" * 30, "larger than can be kept"),
    ],
)
def test_amounts_that_cannot_be_taken_are_refused_in_a_sentence(text: str, words: str) -> None:
    with pytest.raises(Unreadable) as refused:
        read_money(text, "GBP")
    assert words in str(refused.value)
    assert str(refused.value).endswith(".")


def test_without_an_amount_of_its_own_the_currency_has_to_be_said() -> None:
    with pytest.raises(Unreadable, match="Say the currency too"):
        read_money("5", None)


@given(st.integers(-(2**63) + 1, 2**63 - 1), st.sampled_from(sorted(EXPONENTS)))
def test_what_a_field_is_filled_with_can_be_read_again(minor: int, currency: str) -> None:
    assert read_money(amount_text(amount(minor, currency)), "XXX") == Money(minor=minor, currency=currency)


@pytest.mark.parametrize(
    ("text", "ago"),
    [
        ("9d", timedelta(days=9)),
        ("9 days", timedelta(days=9)),
        ("1 day old", timedelta(days=1)),
        ("36h", timedelta(hours=36)),
        ("5 minutes", timedelta(minutes=5)),
        ("5m", timedelta(minutes=5)),
        ("2 weeks", timedelta(days=14)),
        ("0 s", timedelta(0)),
    ],
)
def test_ages_as_people_type_them(text: str, ago: timedelta) -> None:
    created = read_age(text, LONDON, NOW)
    assert timedelta(0) <= NOW - created - ago <= LEAD  # never younger than typed


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("2026-02-20", datetime(2026, 2, 20, tzinfo=UTC)),
        ("2025-07-01 14:30", datetime(2025, 7, 1, 13, 30, tzinfo=UTC)),
        ("2025-07-01 14:30Z", datetime(2025, 7, 1, 14, 30, tzinfo=UTC)),
        ("2025-07-01T14:30:15+02:00", datetime(2025, 7, 1, 12, 30, 15, tzinfo=UTC)),
    ],
)
def test_an_age_may_be_a_date(text: str, instant: datetime) -> None:
    assert read_age(text, LONDON, NOW) == instant


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("old", "old is no age; type one like 9d, 36h or 2026-02-20."),
        ("-3d", "is no age"),
        ("2026-02-31", "There is no 2026-02-31 in the calendar"),
        ("2027-01-01", "is still to come"),
        ("999999 weeks", "older than 200 years"),
    ],
)
def test_ages_that_cannot_be_taken_are_refused_in_a_sentence(text: str, words: str) -> None:
    with pytest.raises(Unreadable, match=words):
        read_age(text, LONDON, NOW)


def test_inputs_are_read_as_their_types() -> None:
    assert read_input(declared(RuleInputType.TEXT), " on file ") == "on file"
    assert read_input(declared(RuleInputType.INTEGER), "−12") == -12
    assert read_input(declared(RuleInputType.BOOLEAN), "Yes") is True
    assert read_input(declared(RuleInputType.BOOLEAN), "no") is False
    for kind, text in (
        (RuleInputType.INTEGER, "1.5"),
        (RuleInputType.INTEGER, "9" * 19 + "9"),
        (RuleInputType.BOOLEAN, "perhaps"),
        (RuleInputType.TEXT, "x" * 201),
        (RuleInputType.TEXT, "nul \x00"),
    ):
        with pytest.raises(Unreadable):
            read_input(declared(kind), text)


def test_fields_are_filled_with_what_the_item_has() -> None:
    one = item(inputs={"x": True, "n": 3, "gone": None})
    assert own_value(declared(RuleInputType.MONEY, "amount"), one, NOW) == "GBP 90,126.13"
    assert own_value(declared(RuleInputType.AGE, "created"), one, NOW) == "6 days"
    assert own_value(declared(RuleInputType.BOOLEAN), one, NOW) == "yes"
    assert own_value(declared(RuleInputType.INTEGER, "input.n"), one, NOW) == "3"
    assert own_value(declared(RuleInputType.TEXT, "input.gone"), one, NOW) == ""


BEFORE = scored("b", (36, 32, 20), days=8, minor=561665)
ABOVE = scored("a", (48, 24, 20))
AFTER = score(part("amount", "GBP 60,000.00", 48), part("age", "8 days old", 32), part("invoice", "no invoice", 20))


def supposed(ahead: int, **changes: object) -> Supposed:
    placement = Placement(ahead=ItemCount(count=ahead, exact=True), above=None, below=ABOVE)
    return Supposed(score=AFTER, placement=placement, as_of=NOW).model_copy(update=changes)


def told(found: Explanation, answer: Supposed, width: int = 76) -> list[str]:
    return [plain(each).rstrip() for each in supposed_lines(found, answer, width)]


@pytest.mark.requirement("order-queue-items-by-score")
def test_before_and_after_stand_side_by_side_with_their_difference() -> None:
    lines = told(explanation(BEFORE, ABOVE, ahead=1), supposed(0))
    assert [each.split() for each in lines[1:5]] == [
        ["amount", "GBP", "561,665", "+36", "GBP", "60,000.00", "+48", "+12"],
        ["age", "8", "days", "old", "+32", "8", "days", "old", "+32", "0"],
        ["invoice", "no", "invoice", "+20", "no", "invoice", "+20", "0"],
        ["score", "88", "100", "+12"],
    ]
    assert "place    from 2nd to 1st" in lines
    assert "behind   nothing: it would be first" in lines
    assert "before   92   GBP 90,126.13  …4471  Aspire Care Ltd" in lines
    assert len({len(each) for each in lines[1:5]}) == 1  # numbers end in one column


def test_a_value_that_no_rule_knows_says_how_it_counts_though_no_point_changes() -> None:
    own = score(part("invoice", "no invoice", 20, "none on file"))
    mistyped = score(part("invoice", "no invoice", 20, "neither on-file nor missing: counts as none"))
    one = item(score=own)
    assert "why      invoice: neither on-file nor missing: counts as none" in told(
        explanation(one), supposed(0, score=mistyped)
    )
    assert not any(each.startswith("why") for each in told(explanation(one), supposed(0, score=own)))


def test_a_place_that_does_not_change_and_an_item_that_does_not_wait() -> None:
    assert "place    stays 1st" in told(explanation(BEFORE), supposed(0))
    aside = Explanation(item=BEFORE, rule=RULE, placement=None, as_of=NOW)
    assert "place    it does not wait now; it would be 1st" in told(aside, supposed(0))


def test_a_supposition_that_cannot_be_scored_and_an_item_that_could_not() -> None:
    failed = supposed(0, score=score(failure="no thresholds for XAU"))
    assert "▲ could not be scored: no thresholds for XAU" in told(explanation(BEFORE), failed)
    assert any(each.split() == ["score", "–", "100"] for each in told(explanation(parked("p")), supposed(0)))


def test_another_version_of_the_rule_is_said() -> None:
    lines = told(explanation(scored("b", (1, 2, 3), version=2)), supposed(0))
    assert "it was scored by v2; this is v3 of payout.release-score" in lines


@pytest.mark.parametrize("width", [30, 40, 60, 76, 130])
def test_amounts_are_whole_at_every_width(width: int) -> None:
    large = score(part("amount", "GBP 92,233,720,368,547,758.07", 48), part("age", "1 day old", 4))
    lines = told(explanation(BEFORE), supposed(0, score=large), width)
    assert any("GBP 92,233,720,368,547,758.07" in each for each in lines)
    assert any("GBP 561,665" in each for each in lines)
    assert any("+48" in each for each in lines)


@pytest.mark.requirement("TUI-01")
@pytest.mark.parametrize("text", [text for text in HOSTILE if text])
def test_whatever_the_service_answers_is_data(text: str) -> None:
    found = score(part("amount", text, 3, text))
    other = item(title=text, payee=None, amount=None, score=found)
    for answer in (supposed(1, score=found), supposed(1, score=score(failure=text))):
        placed = answer.model_copy(
            update={"placement": Placement(ahead=ItemCount(count=1, exact=True), above=other, below=other)}
        )
        lines = [plain(each) for each in supposed_lines(explanation(other), placed, 76)]
        assert all(harmless(each) for each in lines)
        assert sum(line(text)[:12].rstrip() in each for each in lines) >= 3
