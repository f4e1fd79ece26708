"""What could be typed next in a filter: from the vocabulary, at the cursor, and always readable once taken."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobconsole.present.completions import offers_of
from jobcontract.filters import parse
from jobcontract.queues import FilterField, Vocabulary


def _field(name: str, kind: str, *values: str) -> FilterField:
    return FilterField(name=name, type=kind, title=f"The {name}", values=values)


INVOICES = ("missing", "on file", 'say "x"', "a,b", "None", "none")
VOCABULARY = Vocabulary(
    queue="q",
    fields=(
        _field("amount", "amount"),
        _field("currency", "word", "EUR", "GBP"),
        _field("holder", "person", "me", "free", "k.rao"),
        _field("age", "age", "1d", "3d"),
        _field("score", "score", "none"),
        _field("input.invoice", "text", *INVOICES),
        _field("input.late", "integer", "5", "none"),
    ),
    currencies=("EUR", "GBP"),
    as_of=datetime(2026, 3, 2, tzinfo=UTC),
)


def taken(marked: str) -> list[str]:
    """The filters that each offer makes of `marked`, whose cursor is the bar."""
    cursor = marked.index("|")
    text = marked.replace("|", "")
    return [offer.taken(text)[0] for offer in offers_of(text, cursor, VOCABULARY)]


@pytest.mark.parametrize(
    ("marked", "filters"),
    [
        ("|", ["amount>", "currency:", "holder:", "age>", "score>=", "input.invoice:", "input.late:"]),
        ("a|", ["amount>", "age>"]),
        ("x A|", ["x amount>", "x age>"]),
        ("inv|", ["input.invoice:"]),
        ("am|>5", ["amount>5"]),
        ("amount|", ["amount>", "amount:", "amount>=", "amount<", "amount<="]),
        ("age|", ["age>", "age>=", "age<", "age<="]),
        ("holder|", ["holder:"]),
        ("currency:|", ["currency:EUR", "currency:GBP"]),
        ("currency:e|", ["currency:EUR"]),
        ("currency:EUR,|", ["currency:EUR,GBP"]),
        ("currency:EUR|", []),
        ("holder:me,f| word", ["holder:me,free word"]),
        ("holder:f|oo,me", ["holder:free,me"]),
        ("age>|", ["age>1d", "age>3d"]),
        ("score>=|", []),
        ("score:|", ["score:none"]),
        ("input.invoice:o|", ['input.invoice:"on file"']),
        ('input.invoice:"on f|', ['input.invoice:"on file"']),
        ("input.invoice:s|", ['input.invoice:"say ""x"""']),
        ('input.invoice:"on file",a|', ['input.invoice:"on file","a,b"']),
        ("input.invoice:n|", ['input.invoice:"None"', "input.invoice:none"]),
        ("input.late>|", ["input.late>5"]),
        ("amount>1|", []),
        ("nothing:|", []),
        ('"a|', []),
        ('"two cur|', []),
        ("word|", []),
    ],
)
def test_offers_at_the_cursor(marked: str, filters: list[str]) -> None:
    assert taken(marked) == filters


def test_offers_carry_the_titles_of_fields_and_what_operators_mean() -> None:
    assert [offer.title for offer in offers_of("ho", 2, VOCABULARY)] == ["The holder"]
    assert [offer.title for offer in offers_of("score", 5, VOCABULARY)] == [
        "at least",
        "is",
        "more than",
        "less than",
        "at most",
    ]


@given(st.sampled_from(VOCABULARY.fields), st.data())
def test_a_value_that_was_taken_is_read_as_that_value(field: FilterField, data: st.DataObject) -> None:
    if not field.values:
        return
    value = re.split(r'[\s",]', data.draw(st.sampled_from(field.values)))[0]
    typed = f"{field.name}{'>' if field.type == 'age' else ':'}{value[: data.draw(st.integers(0, len(value)))]}"
    for offer in offers_of(typed, len(typed), VOCABULARY):
        read = parse(offer.taken(typed)[0]).conditions[0].values
        assert read[0] in (*field.values, "")


@given(st.text(st.sampled_from('ac:,<>" input.voe'), max_size=20), st.integers(0, 20))
def test_wherever_the_cursor_stands_offers_are_in_the_text(text: str, cursor: int) -> None:
    at = min(cursor, len(text))
    for offer in offers_of(text, at, VOCABULARY):
        assert 0 <= offer.start <= at <= offer.end <= len(text)
        assert text[: offer.start] == "" or text[offer.start - 1] in ' ,:<>="'
