"""Rule records: what they build, and that each thing wrong with one is said at its line, in words that say what to do."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobcontract.money import Money
from jobcontract.states import RuleInputType
from jobservice import records
from jobservice.records.folder import RecordFile
from jobservice.records.reading import read_records
from jobservice.records.rules import INPUTS_MOST
from jobservice.rules.scores import RuleInput
from tests.records.applications import GOOD
from tests.records.folders import drop_job

pytestmark = pytest.mark.requirement("order-queue-items-by-score")

TEXT = (GOOD / "rules" / "urgency.yaml").read_text()
LINES = TEXT.splitlines()
AMOUNT, AGE, INVOICE = LINES[6:9]
POUNDS, YEN, REFRESH = LINES[10:13]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the good set that a test may break."""
    return shutil.copytree(GOOD, tmp_path / "records")


def findings(folder: Path, text: str) -> list[str]:
    """What the check says with `text` as the rule record: `line: code: sentence`."""
    (folder / "rules" / "urgency.yaml").write_text(text)
    return [str(each).removeprefix(f"{folder}/rules/urgency.yaml:") for each in records.load(folder)[1]]


def test_a_rule_is_built_as_it_is_written() -> None:
    found, wrong = records.load(GOOD)
    assert wrong == ()
    assert found is not None
    rule = found.rules["shop.urgency"]
    assert (rule.id, rule.title, rule.version, rule.refresh_seconds) == ("shop.urgency", "Urgency", 2, 300)
    assert rule.formula == "Ten points over the threshold of the currency, one a day, five without an invoice."
    assert rule.inputs == (
        RuleInput(name="amount", type=RuleInputType.MONEY, title="Amount", source="amount"),
        RuleInput(name="age", type=RuleInputType.AGE, title="Age", source="created", unit="days"),
        RuleInput(name="invoice", type=RuleInputType.TEXT, title="Invoice", source="input.invoice"),
    )
    assert rule.thresholds == {
        "GBP": {"large": Money(minor=100_000, currency="GBP")},
        "JPY": {"large": Money(minor=200_000, currency="JPY")},
    }
    assert (rule.timed, found.queues["shop.payouts"].score, found.queues["shop.talk"].score) == (True, rule.id, None)


def test_a_formula_may_stand_on_several_lines_and_is_one_sentence_for_people(folder: Path) -> None:
    text = TEXT.replace(LINES[4], "formula: >-\n  Ten points,\n  and one a day.")
    assert findings(folder, text) == []
    found, _ = records.load(folder)
    assert found is not None
    assert found.rules["shop.urgency"].formula == "Ten points, and one a day."


@pytest.mark.parametrize("refresh", ["PT10S", "PT5M", "P1D"])
@pytest.mark.parametrize("unit", ["days", "hours"])
def test_an_age_is_told_in_days_or_hours_and_counted_anew_within_a_day(folder: Path, unit: str, refresh: str) -> None:
    assert findings(folder, TEXT.replace("unit: days", f"unit: {unit}").replace("PT5M", refresh)) == []


def test_a_rule_without_amounts_and_ages_needs_neither_thresholds_nor_refresh(folder: Path) -> None:
    drop_job(folder, "rescore")  # a job for scores that are due needs a refresh
    plain = [*LINES[:6], INVOICE]
    assert findings(folder, "\n".join(plain)) == []
    found, _ = records.load(folder)
    assert found is not None
    rule = found.rules["shop.urgency"]
    assert (rule.thresholds, rule.refresh_seconds, rule.timed) == ({}, None, False)
    assert findings(folder, "\n".join([*LINES[:7], INVOICE])) == []


def test_an_integer_may_say_what_it_counts(folder: Path) -> None:
    queue = folder / "queues" / "payouts.yaml"
    line = "    invoice: {type: text, title: Invoice, required: true, most: 40}"
    queue.write_text(queue.read_text().replace(line, f"{line}\n    tries: {{type: integer, title: T, required: true}}"))
    tries = "  tries: {type: integer, title: Tries, unit: tries, source: input.tries}"
    assert findings(folder, TEXT.replace(INVOICE, f"{INVOICE}\n{tries}")) == []
    assert findings(folder, TEXT.replace(INVOICE, f"{INVOICE}\n{tries.replace('unit: tries, ', '')}")) == []


NO_AGE = "\n".join(line for line in LINES if line not in (AGE, REFRESH))
NO_MONEY = "\n".join(line for line in LINES if line != AMOUNT)
MANY = "\n".join(f"  name_{number}: {{type: money, title: T, source: amount}}" for number in range(INPUTS_MOST + 1))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            TEXT.replace("version: 2", "version: 0"),
            "4: field-invalid: `version` is a whole number from 1 to 1,000,000.",
        ),
        (TEXT.replace("version: 2\n", ""), "1: field-missing: `version` is missing."),
        (
            TEXT.replace(LINES[4], "formula: ''"),
            "5: field-invalid: `formula` is text of 1 to 500 characters on one line.",
        ),
        (
            TEXT.replace(LINES[4], f"formula: {'x' * 501}"),
            "5: field-invalid: `formula` is text of 1 to 500 characters on one line.",
        ),
        (
            "\n".join([*LINES[:5], "inputs: {}"]),
            f"6: field-invalid: `inputs`: a rule has 1 to {INPUTS_MOST} inputs, which all fit into one line of a row.",
        ),
        (
            "\n".join([*LINES[:6], MANY]),
            f"6: field-invalid: `inputs`: a rule has 1 to {INPUTS_MOST} inputs, which all fit into one line of a row.",
        ),
        (
            TEXT.replace("  age:", "  Age:"),
            "8: field-invalid: 'Age' cannot name an input: small letters, digits, single underscores.",
        ),
        (
            TEXT.replace("type: age", "type: aged"),
            "8: field-invalid: `inputs.age.type`: 'aged' is not known. Did you mean `age`?",
        ),
        (TEXT.replace(", source: created", ""), "8: field-missing: `inputs.age.source` is missing."),
        (
            TEXT.replace("source: created", "source: amount"),
            "8: field-invalid: `inputs.age.source`: 'amount' gives no input of type age; its source is `created`.",
        ),
        (
            TEXT.replace("source: amount", "source: input.invoice"),
            "7: field-invalid: `inputs.amount.source`: 'input.invoice' gives no input of type money; its source is"
            " `amount`.",
        ),
        (
            TEXT.replace("source: input.invoice", "source: invoice"),
            "9: field-invalid: `inputs.invoice.source`: 'invoice' gives no input of type text; its source is"
            " `input.NAME`, an input that the items of its queue declare.",
        ),
        (
            TEXT.replace("source: input.invoice", "source: input."),
            "9: field-invalid: `inputs.invoice.source`: 'input.' gives no input of type text; its source is"
            " `input.NAME`, an input that the items of its queue declare.",
        ),
        (TEXT.replace("unit: days, ", ""), "8: field-missing: `inputs.age.unit` is missing; say days, hours."),
        (
            TEXT.replace("unit: days", "unit: weeks"),
            "8: field-invalid: `inputs.age.unit`: 'weeks' is not known. It is one of days, hours.",
        ),
        (
            TEXT.replace("type: money", "type: money, unit: GBP"),
            "7: field-invalid: `inputs.amount.unit`: leave it out for type money; an amount has its currency.",
        ),
        (
            TEXT.replace("type: text", "type: text, unit: words"),
            "9: field-invalid: `inputs.invoice.unit`: leave it out for type text; only an age or an integer has one.",
        ),
        (
            TEXT.replace("type: text", "type: text, colour: red"),
            "9: field-unknown: `inputs.invoice.colour` is not a field here. Known here: type, title, source, unit.",
        ),
        (
            TEXT.replace("refresh: PT5M\n", ""),
            "1: field-missing: `refresh` is missing; an age changes with time: say how often, such as PT5M.",
        ),
        (TEXT.replace("PT5M", "PT9S"), "13: field-invalid: `refresh`: PT9S is not from PT10S to P1D."),
        (TEXT.replace("PT5M", "P1DT1S"), "13: field-invalid: `refresh`: P1DT1S is not from PT10S to P1D."),
        (
            TEXT.replace("PT5M", "5m"),
            "13: field-invalid: `refresh`: '5m' is not a duration such as PT1H, PT90S or P7D.",
        ),
        (
            f"{NO_AGE}\n{REFRESH}",
            "12: field-invalid: `refresh`: no input of this rule is an age, so time changes no score; leave it out.",
        ),
        (
            NO_MONEY,
            "9: field-invalid: `thresholds`: no input of this rule is of type money, so nothing is compared;"
            " leave them out.",
        ),
        (
            TEXT.replace(f"\n{POUNDS}\n{YEN}", " {}"),
            "10: field-invalid: `thresholds`: name a currency at least, or leave the field out.",
        ),
        (
            TEXT.replace("  GBP:", "  GPB:"),
            "11: field-invalid: `thresholds`: 'GPB' is not a currency of ISO 4217. It is three capital letters, such as EUR.",
        ),
        (
            TEXT.replace("  JPY:", "  jpy:"),
            "12: field-invalid: `thresholds`: 'jpy' is not a currency of ISO 4217. Did you mean `JPY`?",
        ),
        (TEXT.replace(YEN, "  JPY: {}"), "12: field-invalid: `thresholds.JPY` names no amount."),
        (
            TEXT.replace('"200,000"', '"200,000.50"'),
            "12: field-invalid: `thresholds.JPY.large`: JPY has 0 decimals; '200,000.50' has more and is not rounded.",
        ),
        (
            TEXT.replace('"1,000.00"', '"1.000,00"'),
            "11: field-invalid: `thresholds.GBP.large`: '1.000,00' is not an amount like 1,234.50.",
        ),
        (
            TEXT.replace('"1,000.00"', "1000.00"),
            "11: field-invalid: `thresholds.GBP.large` is not text; put it between quotes.",
        ),
        (
            TEXT.replace('JPY: {large: "200,000"}', 'JPY: {lage: "200,000", small: "1"}'),
            "12: field-invalid: `thresholds.JPY` has no large and has lage, small besides, unlike GBP;"
            " every currency has the same names.",
        ),
    ],
)
def test_what_is_wrong_is_said_at_its_line_and_nothing_else_is(folder: Path, text: str, found: str) -> None:
    assert findings(folder, text) == [found]


def test_a_comma_outside_quotes_is_named_where_it_stands(folder: Path) -> None:
    said = findings(folder, TEXT.replace('"1,000.00"', "1,000.00"))
    assert said[0] == "11: field-invalid: '000.00' cannot name a threshold: small letters, digits, single underscores."
    assert all(line.startswith("11: ") for line in said)


@pytest.mark.parametrize("word", ["none", "no", "~", "", "null"])
def test_a_queue_without_a_rule_has_to_give_its_reason(folder: Path, word: str) -> None:
    queue = folder / "queues" / "payouts.yaml"
    queue.write_text(queue.read_text().replace("score: shop.urgency", f"score: {word}"))
    assert [str(each).removeprefix(f"{queue}:") for each in records.load(folder)[1]] == [
        "9: field-invalid: `score`: name a rule, or say {mode: none, reason: why} to put the oldest item first."
    ]


@pytest.mark.parametrize(
    ("score", "said"),
    [
        ("{mode: none}", "9: field-missing: `score.reason` is missing."),
        ("{mode: age, reason: x}", "9: field-invalid: `score.mode`: 'age' is not known. It is one of none."),
        ("[shop.urgency]", "9: field-invalid: `score` is a single value."),
    ],
)
def test_any_other_form_of_score_is_refused(folder: Path, score: str, said: str) -> None:
    queue = folder / "queues" / "payouts.yaml"
    queue.write_text(queue.read_text().replace("score: shop.urgency", f"score: {score}"))
    assert [str(each).removeprefix(f"{queue}:") for each in records.load(folder)[1]] == [said]


def test_a_rule_that_cannot_be_read_is_not_also_said_to_be_unknown(folder: Path) -> None:
    assert len(findings(folder, TEXT.replace("version: 2", "version: two"))) == 1


SCRAPS = st.sampled_from(
    ["", "~", "none", "[]", "{}", "{a: b}", "PT5M", "2", "-1", "1e9", "amount", "created", "input.x", "'\x85'", "age"]
) | st.text(st.sampled_from("abAB01 .,:{}[]'\"#&*!-\u202e\U0001f4a9"), max_size=12)


@given(st.lists(st.tuples(st.integers(2, len(LINES) - 1), SCRAPS), min_size=1, max_size=3))
def test_whatever_stands_in_a_rule_record_it_is_a_rule_or_a_finding_at_one_of_its_lines(
    scraps: list[tuple[int, str]],
) -> None:
    lines = list(LINES)
    for at, scrap in scraps:
        lines[at] = f"{lines[at].partition(':')[0]}: {scrap}"
    content = "\n".join(lines).encode()
    (written, *_), found = _read(content)
    assert (written is None) == bool(found)
    assert all(1 <= each.line <= len(lines) + 1 and each.sentence.endswith((".", "?")) for each in found)


def _read(content: bytes) -> tuple[list[object | None], tuple[records.Finding, ...]]:
    written, found = read_records((RecordFile(path="r.yaml", shown="r.yaml", content=content),))
    return [each.content for each in written] or [None], found
