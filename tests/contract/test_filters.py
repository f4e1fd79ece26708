"""The filter language: what was read is written back, no character is passed over, and every refusal says where and
what to write instead."""

from __future__ import annotations

import json
import string

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jobcontract.filters import (
    CONDITIONS_MAX,
    FIELDS,
    NOT_GIVEN,
    WORD,
    Condition,
    Filter,
    FilterError,
    Operator,
    Sort,
    folded_words,
    parse,
    write,
)
from jobcontract.ids import FILTER_MAX
from jobcontract.money import EXPONENTS, Money, digits
from jobcontract.states import ItemState
from tests.architecture.tree import ROOT
from tests.hostile import HOSTILE

SHARED_NAMES = ROOT.parent / "shared" / "cases" / "tui-01-names.json"
IS = Operator.IS

SOME_TEXT = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=12
).filter(str.strip)
COMPARING = st.sampled_from([Operator.MORE, Operator.AT_LEAST, Operator.LESS, Operator.AT_MOST])
ANY = st.sampled_from(list(Operator))
AMOUNTS = st.builds(
    lambda minor, currency: digits(Money(minor=minor, currency=currency)),
    st.integers(-(10**12), 10**12),
    st.sampled_from(sorted(EXPONENTS)),
)
SCORES = st.integers(-(10**6), 10**6).map(str)
PEOPLE = st.sampled_from(["me", "free", "k.rao", "m.ito", "a-b-c1"])
NAMES = st.from_regex(r"[a-z][a-z0-9]*(_[a-z0-9]+)?", fullmatch=True).filter(lambda name: len(name) < 9)


def _one(
    field: str, operators: st.SearchStrategy[Operator], values: st.SearchStrategy[str]
) -> st.SearchStrategy[Condition]:
    return st.builds(
        lambda operator, value: Condition(field=field, operator=operator, values=(value,)), operators, values
    )


def _several(field: str, values: st.SearchStrategy[str]) -> st.SearchStrategy[Condition]:
    return st.lists(values, min_size=1, max_size=3).map(
        lambda given: Condition(field=field, operator=IS, values=tuple(given))
    )


CONDITIONS = st.one_of(
    _one(WORD, st.just(IS), SOME_TEXT),
    _one("amount", ANY, AMOUNTS),
    _one("age", COMPARING, st.from_regex(r"[1-9][0-9]{0,2}[mhdw]", fullmatch=True)),
    _one("score", ANY, SCORES),
    _one("score", st.just(IS), st.just(NOT_GIVEN)),
    _one("sort", st.just(IS), st.sampled_from([str(each) for each in Sort])),
    _several("currency", st.sampled_from(sorted(EXPONENTS))),
    _several("holder", PEOPLE),
    _several("state", st.sampled_from([str(each) for each in ItemState])),
    NAMES.flatmap(lambda name: _several(f"input.{name}", SOME_TEXT | st.just(NOT_GIVEN))),
    NAMES.flatmap(lambda name: _one(f"input.{name}", COMPARING, SOME_TEXT)),
)


def _once(condition: Condition) -> object:
    """Alike are two conditions that may not stand together; words and comparisons may."""
    said = condition.operator is IS and condition.field != WORD
    return (condition.field, IS) if said else id(condition)


FILTERS = st.lists(CONDITIONS, max_size=8, unique_by=_once).map(lambda each: Filter(conditions=tuple(each)))
TYPED = st.text(
    st.sampled_from([*FIELDS, "input.", "a", "EUR", "none", "3d", "1,000.50", "=", ":", ">", ">=", "<", ",", '"', " "])
    .map(str)
    .flatmap(lambda part: st.sampled_from(list(part) or [" "]))
    | st.characters(),
    max_size=40,
)
PARTS = st.lists(
    st.sampled_from(
        [
            *FIELDS,
            "input.a",
            "word",
            "EUR",
            "me",
            "none",
            "3d",
            "1,000.50",
            "80",
            ":",
            ">",
            ">=",
            "<=",
            ",",
            '"',
            '""',
            " ",
        ]
    ),
    max_size=14,
).map("".join)


@given(FILTERS)
def test_a_filter_that_was_written_is_read_back(filter_: Filter) -> None:
    text = write(filter_)
    if len(text) <= FILTER_MAX:
        assert parse(text) == filter_


def _read(text: str) -> Filter | FilterError:
    try:
        return parse(text)
    except FilterError as wrong:
        return wrong


@given(TYPED | PARTS | st.text(max_size=60))
@example('"')
@example('input.a:"none",none')
@example("input.a:\x1f")
def test_any_text_is_read_stably_or_refused_at_a_place_in_it(text: str) -> None:
    read = _read(text)
    if isinstance(read, FilterError):
        assert read.sentence
        assert 0 <= read.at < len(text)
        assert 1 <= read.length <= len(text) - read.at
        return
    canonical = write(read)
    assert parse(canonical) == read
    assert write(parse(canonical)) == canonical
    assert len(canonical) <= len(text)


@given(PARTS | TYPED)
def test_no_character_is_passed_over(text: str) -> None:
    read = _read(text)
    if isinstance(read, FilterError):
        return
    covered = {at for each in read.conditions for at in range(each.at, each.at + each.length)}
    assert {at for at, sign in enumerate(text) if not sign.isspace()} <= covered
    for each in read.conditions:
        assert len(each.places) == len(each.values)
        written = sum(length for _, length in each.places) + len(each.values) - 1
        assert written + (len(each.field) + len(each.operator) if each.field else 0) == each.length


def _shared_names() -> list[str]:
    if not SHARED_NAMES.is_file():
        pytest.skip("../shared/cases is not here: the eight names of case TUI-01 cannot be read")
    names: list[str] = json.loads(SHARED_NAMES.read_text("utf-8"))
    return names


@pytest.mark.requirement("TUI-01")
def test_names_with_square_brackets_are_looked_for_letter_by_letter() -> None:
    for name in _shared_names():
        assert [each.values[0] for each in parse(name).conditions] == name.split()
        assert [each.field for each in parse(name).conditions] == [WORD] * len(name.split())
        quoted = parse(f'"{name}"').conditions
        assert [each.values for each in quoted] == [(name,)]


@pytest.mark.requirement("TUI-01")
@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_text_is_judged_in_a_sentence_or_looked_for(text: str) -> None:
    for typed in (text, f'"{text}"', f"input.invoice:{text}", f'input.invoice:"{text}', f"holder:{text}", f"{text}>1"):
        read = _read(typed)
        assert isinstance(read, Filter) or not set(read.sentence) & {"\x00", "\ud800", "\x1b"}


SAID = Filter(
    conditions=(
        Condition(field="amount", operator=Operator.MORE, values=("1000",)),
        Condition(field="currency", operator=IS, values=("EUR", "GBP")),
        Condition(field="holder", operator=IS, values=("me", "free", "k.rao")),
        Condition(field="age", operator=Operator.MORE, values=("3d",)),
        Condition(field="score", operator=Operator.AT_LEAST, values=("80",)),
        Condition(field="input.invoice", operator=IS, values=("missing",)),
        Condition(field=WORD, operator=IS, values=("word",)),
    )
)


def test_the_language_as_it_was_asked_for() -> None:
    text = "amount>1000 currency:EUR,GBP holder:me,free,k.rao age>3d score>=80 input.invoice:missing word"
    assert parse(text) == SAID
    assert write(SAID) == text
    assert (
        parse("  AMOUNT>1000\tcurrency:eur,Gbp holder:ME,free,K.RAO age>3D score>=80 input.invoice:missing word ")
        == SAID
    )
    assert parse("") == parse(" \n") == Filter()
    assert parse("sort:amount").sort is Sort.AMOUNT
    assert Filter().sort is Sort.SCORE


def test_quotes_keep_blanks_commas_operators_and_quotes_as_they_are() -> None:
    assert parse('"Acme ""B"" Ltd" x').conditions[0].values == ('Acme "B" Ltd',)
    assert parse('input.note:"a,b c",d,"none",none').conditions[0].values == ("a,b c", "d", "none", NOT_GIVEN)
    assert parse(r'"back\" x').conditions[0].values == ("back\\",)
    assert parse('"amount>1" "http://x"').conditions == tuple(
        Condition(field=WORD, operator=IS, values=(each,)) for each in ("amount>1", "http://x")
    )


def test_a_comma_groups_the_thousands_of_an_amount() -> None:
    assert parse("amount:1,000.50").conditions[0].values == ("1,000.50",)
    assert parse("amount<−1,000").conditions[0].values == ("−1,000",)  # the console shows this minus


REFUSED = [
    (
        "amout>5",
        "amout",
        "There is no field amout. Did you mean amount? Fields: amount, currency, holder, age, score, "
        'state, sort, input.NAME. As text: "amout>5"',
    ),
    (
        "see http://x",
        "http",
        "There is no field http. Fields: amount, currency, holder, age, score, state, sort, "
        'input.NAME. As text: "http://x"',
    ),
    ("payee:acme", "payee", "Words are looked for in payee, title, key and last four without a field: acme"),
    ("amount=5", "=", "Write : instead of =: amount:…"),
    ("amount=>5", "=>", "Write >= instead of =>: amount>=…"),
    ("state!=open", "!=", "There is no !=. Name what state is, with commas between the values: state:…,…"),
    ("amount>", ">", "A value is missing after > (such as 1000)."),
    ("input.invoice: x", ":", "A value is missing after :."),
    ("currency:EUR,", ",", "A value is missing after the comma (such as EUR,GBP)."),
    ("amount:>5", ":", "Leave out the colon: amount>5"),
    ("input.a::x", ":x"[0], 'A value is expected here, not :. To look for the text itself: input.a:":x"'),
    (">5", ">", 'A field belongs before >, as in amount>1000. To look for the text itself: ">5"'),
    ('"acme', '"acme', 'This quote is not closed. Add " where the text ends.'),
    ('input.a:"x', '"x', 'This quote is not closed. Add " where the text ends.'),
    ('5" pipe', '"', 'A quote begins a word or a value. To look for the text itself: "5"""'),
    ('input.a:5"', '"', 'A quote begins a value. To look for the text itself: input.a:"5"""'),
    ('"a"b', "b", "Leave a blank after the closing quote."),
    ('""', '""', "There is no word between the quotes."),
    ('input.a:" "', '" "', "There is nothing between the quotes."),
    ("state>open", ">", "state does not compare: it takes a colon, state:open"),
    ("age:3d", ":", "An age is compared: age>3d is older, age<3d is younger."),
    ("age>3", "3", "Add the unit, m, h, d or w: age>3d is in days."),
    ("age>3y", "3y", "'3y' is not an age like 30m, 12h, 3d or 2w."),
    ("age>6000w", "6000w", "Nothing is older than 100 years here. Write a shorter age."),
    ("amount>EUR5", "EUR5", "Say the currency apart: amount>5 currency:EUR"),
    ("amount<=1,000.50eur", "1,000.50eur", "Say the currency apart: amount<=1,000.50 currency:EUR"),
    ("amount:100..200", "100..200", "Write a range as two conditions: amount>=100 amount<=200"),
    ("amount>1,00", "1,00", "'1,00' is not one amount like 1,234.50 (the comma groups thousands)."),
    ("currency:EUX", "EUX", "'EUX' is not a currency of ISO 4217, like EUR or GBP."),
    ("currency:EUR currency:GBP", "currency:GBP", "currency is said twice. For any of several: currency:EUR,GBP"),
    ("score:1 score:2", "score:2", "score is said twice. Take one of them out."),
    ("score>high", "high", "'high' is not a score: write a whole number like 80."),
    (
        "score:high",
        "high",
        "'high' is not a score: write a whole number like 80, or none (score:none) for items without one.",
    ),
    ("score>99999999999", "99999999999", "'99999999999' is not a score: write a whole number like 80."),
    ("score:80,90", ",90", "score: takes one value."),
    ("holder:none", "none", "For items that nobody holds write holder:free"),
    ("holder:Kiran!", "Kiran!", "'Kiran!' cannot be a person's id. Write me, free, or an id like k.rao."),
    (
        "state:opened",
        "opened",
        "state takes open, set-aside, evidence-asked, rejected, resolved, released; not 'opened'. Did you mean open?",
    ),
    ("sort:age", "age", "sort takes score, amount; not 'age'."),
    ("input.a>none", "none", "What was not given does not compare. Write input.a:none"),
    ("nul \x00", "\x00", "The character U+0000 cannot be part of any item. Take it out."),
]


@pytest.mark.parametrize(("text", "place", "sentence"), REFUSED, ids=[text for text, _, _ in REFUSED])
def test_a_refusal_points_at_the_place_and_says_what_to_write(text: str, place: str, sentence: str) -> None:
    with pytest.raises(FilterError) as caught:
        parse(text)
    wrong = caught.value
    assert wrong.sentence == sentence
    assert text[wrong.at : wrong.at + wrong.length] == place


def test_a_filter_is_bounded_in_characters_and_conditions() -> None:
    assert len(parse("x" * FILTER_MAX).conditions) == 1
    with pytest.raises(FilterError) as long:
        parse("x" * (FILTER_MAX + 3))
    assert (long.value.at, long.value.length) == (FILTER_MAX, 3)
    assert str(long.value) == "The filter has 503 characters; at most 500 are allowed."
    words = list(string.ascii_lowercase)
    assert len(parse(" ".join(words[:CONDITIONS_MAX])).conditions) == CONDITIONS_MAX
    with pytest.raises(FilterError, match="At most 20 conditions are allowed") as many:
        parse(" ".join(words))
    assert (many.value.at, many.value.length) == (40, 11)


def test_words_are_compared_without_capitals_and_in_one_form_of_unicode() -> None:
    assert folded_words("  Straße CAFÉ cafe\u0301 ＡＢＣ\u3000x ") == (
        "strasse",
        "café",
        "café",
        "abc",
        "x",
    )  # wide letters on purpose
    assert folded_words(" \x1f ") == ()
