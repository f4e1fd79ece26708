"""What a filter means of an item: inclusive exact bounds, literals that stay literals, words that stay words."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobcontract.filter_names import QueueNames, judge_names
from jobcontract.filters import FilterError, parse
from jobcontract.money import AMOUNT_MAX
from jobcontract.states import InputType
from jobservice.rules.filters import JsonCondition, condition, no_colleague, pattern

INPUTS = {
    "invoice": InputType.TEXT,
    "days_late": InputType.INTEGER,
    "contested": InputType.BOOLEAN,
    "due": InputType.INSTANT,
    "owner": InputType.PERSON,
}


def wanted(text: str, *currencies: str) -> JsonCondition | None:
    """The condition of a filter in a queue whose items have those currencies."""
    filter_ = parse(text)
    currency = judge_names(filter_, QueueNames(money=True, inputs=INPUTS, currencies=currencies))
    return condition(filter_, currency=currency, inputs=INPUTS, person="m.ito")


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("amount>1000 currency:EUR", 100_001, None),
        ("amount>=1,000.00 currency:EUR", 100_000, None),
        ("amount<1000 currency:JPY", None, 999),
        ("amount<=1000 currency:KWD", None, 1_000_000),
        ("amount:0.01 currency:GBP", 1, 1),
        ("amount>−5 amount<5 amount<=2 currency:JPY", -4, 2),  # the console shows this minus
        ("amount>5 amount<3 currency:JPY", 6, 2),
        (f"amount>{AMOUNT_MAX} currency:JPY", AMOUNT_MAX, -AMOUNT_MAX),
        (f"amount<-{AMOUNT_MAX} currency:JPY", None, -AMOUNT_MAX - 1),
    ],
)
def test_bounds_of_amounts_are_inclusive_and_exact_in_minor_units(
    text: str, least: int | None, most: int | None
) -> None:
    found = wanted(text)
    assert found is not None
    assert (found.get("amount_least"), found.get("amount_most")) == (least, most)
    assert found["currencies"] == text[-3:]


@pytest.mark.requirement("MONEY-03")
def test_amounts_are_compared_and_sorted_within_one_currency_only() -> None:
    assert wanted("amount>5", "EUR") == {"currencies": "EUR", "amount_least": 501}
    assert wanted("sort:amount", "EUR") == {"currencies": "EUR"}
    assert wanted("amount>5 currency:JPY", "EUR", "GBP") == {"currencies": "JPY", "amount_least": 6}
    assert wanted("sort:amount currency:JPY,JPY") == {"currencies": "JPY"}
    assert wanted("currency:EUR,GBP") == {"currencies": "EUR,GBP"}
    assert wanted("sort:score", "EUR", "GBP") is None
    for text, currencies, place, sentence, choices in (
        (
            "x amount>5",
            ("EUR", "JPY"),
            (2, 8),
            "Amounts are compared within one currency, and several wait here (EUR, JPY). Add one: currency:EUR",
            ("EUR", "JPY"),
        ),
        (
            "sort:amount",
            ("EUR", "JPY"),
            (0, 11),
            "Amounts are sorted within one currency, and several wait here (EUR, JPY). Add one: currency:EUR",
            ("EUR", "JPY"),
        ),
        (
            "currency:EUR,JPY amount>5",
            ("EUR",),
            (17, 8),
            "Amounts are compared within one currency. Name one of EUR, JPY alone: currency:EUR",
            ("EUR", "JPY"),
        ),
        (
            "amount>5",
            (),
            (0, 8),
            "No item with an amount waits here that could tell the currency. Add it, like currency:EUR",
            (),
        ),
    ):
        with pytest.raises(FilterError) as caught:
            wanted(text, *currencies)
        wrong = caught.value
        assert (wrong.sentence, (wrong.at, wrong.length), wrong.choices) == (sentence, place, choices)


@pytest.mark.parametrize(
    ("text", "place", "sentence"),
    [
        ("amount>1.000 currency:EUR", "1.000", "'1.000' may be 1,000 or 1.00: write it so."),
        ("amount>-12.000 currency:JPY", "-12.000", "'-12.000' may be -12,000 or −12: write it so."),
        ("amount>1.5 currency:JPY", "1.5", "JPY has 0 decimals; '1.5' has more and is not rounded."),
        (
            "amount>99999999999999999999 currency:JPY",
            "99999999999999999999",
            "The amount is larger than can be kept.",
        ),
        (
            "input.invoce:x",
            "input.invoce",
            "This queue has no 'input.invoce'. There is input.invoice, input.days_late, input.contested, input.due, "
            "input.owner. Did you mean input.invoice?",
        ),
        ("input.invoice>x", ">", "input.invoice does not compare: it takes a colon, input.invoice:…"),
        ("input.days_late>x", "x", "input.days_late takes a whole number, or none; not 'x'."),
        ("input.days_late:1,x", "x", "input.days_late takes a whole number, or none; not 'x'."),
        ("input.contested:maybe", "maybe", "input.contested takes yes, no or none; not 'maybe'."),
        ("input.due<soon", "soon", "input.due takes a day like 2026-03-01, or none; not 'soon'."),
        ("input.due<2026-02-30", "2026-02-30", "input.due takes a day like 2026-03-01, or none; not '2026-02-30'."),
        ('input.owner:"K R"', '"K R"', "input.owner takes me, a person's id like k.rao, or none; not 'K R'."),
    ],
)
def test_names_and_values_are_judged_by_what_the_queue_declares(text: str, place: str, sentence: str) -> None:
    with pytest.raises(FilterError) as caught:
        wanted(text)
    wrong = caught.value
    assert wrong.sentence == sentence
    assert text[wrong.at : wrong.at + wrong.length] == place


def test_a_queue_without_money_has_no_amounts_to_compare() -> None:
    with pytest.raises(FilterError, match=r"The items of this queue carry no amount\. Take this out\."):
        judge_names(parse("amount>5"), QueueNames(money=False))
    with pytest.raises(FilterError, match=r"Its items have no inputs\."):
        judge_names(parse("input.a:5"), QueueNames(money=False))


def test_ages_count_in_microseconds_so_that_more_is_more() -> None:
    three_days = timedelta(days=3) // timedelta(microseconds=1)
    assert wanted("age>3d") == {"age_least": three_days + 1}
    assert wanted("age>=72h age<2w") == {"age_least": three_days, "age_most": three_days * 14 // 3 - 1}


def test_scores_holders_states_and_words() -> None:
    assert wanted("score>=80 score<100") == {"score_least": 80, "score_most": 99}
    assert wanted("score:none") == {"scored": "false"}
    assert wanted("score>2147483647") == {"score_least": 2**31 - 1, "score_most": -(2**31 - 1)}
    assert wanted("holder:me,k.rao,free") == {"holders": "m.ito,k.rao", "free": "true"}
    assert wanted("holder:free") == {"free": "true"}
    assert wanted("state:open,evidence-asked") == {"states": "open,evidence-asked"}
    assert wanted('Acme "B  50%" a_b') == {"words": "% acme%\x1f% b 50\\%%\x1f% a\\_b%"}
    assert wanted("") is None


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_a_pattern_finds_its_own_words_and_leaves_nothing_special(text: str) -> None:
    made = pattern(text)
    assert made.startswith("% ")
    assert made.endswith("%")
    literal = made[2:-1]
    assert "\x1f" not in literal
    plain = literal.replace("\\\\", "").replace("\\%", "").replace("\\_", "")
    assert not set(plain) & set("\\%_")


def test_inputs_are_one_jsonpath_of_json_literals() -> None:
    assert wanted("input.days_late>=5 input.contested:yes") == {
        "inputs": '($."days_late" >= 5) && ($."contested" == true)'
    }
    assert wanted("input.owner:me,K.rao") == {"inputs": '($."owner" == "m.ito" || $."owner" == "k.rao")'}
    assert wanted("input.invoice:none") == {
        "inputs": '(!exists($."invoice") || $."invoice" == null || $."invoice" == "none")'
    }
    assert wanted('input.invoice:"none"') == {"inputs": '($."invoice" == "none")'}
    assert wanted("input.due:2026-03-01,none") == {
        "inputs": '($."due" starts with "2026-03-01T" || !exists($."due") || $."due" == null)'
    }
    assert wanted("input.due>2026-03-01 input.due<=2026-12-31") == {
        "inputs": '($."due" >= "2026-03-02") && ($."due" < "2027-01-01")'
    }
    found = wanted('input.invoice:"a"" || $.x == ""b"')
    assert found == {"inputs": f'($."invoice" == {json.dumps("""a" || $.x == "b""")})'}


def test_an_unknown_colleague_is_told_with_the_nearest_one() -> None:
    people = {"k.rao": "Kiran Rao", "m.ito": "Mika Ito"}
    assert no_colleague("kiran", people) == "No colleague has the id 'kiran'. Did you mean k.rao?"
    assert no_colleague("m.itoo", people) == "No colleague has the id 'm.itoo'. Did you mean m.ito?"
    assert no_colleague("zz", people) == "No colleague has the id 'zz'. Write me, free, or the id of a colleague."
