"""The twins of scores: why an item stands where it stands, and what-if, read by the rules of the screen."""

from __future__ import annotations

import pytest

from jobconsole.client.fake import FakeService
from tests.cli.twins import Typed
from tests.hostile import CONTROLS, harmless


def first(fake: FakeService) -> str:
    """The id of the payout with the largest amount."""
    return next(key for key, row in fake.queues.items.items() if row.title == "Aspire Care Ltd")


@pytest.mark.requirement("order-queue-items-by-score", "show-the-score-beside-each-item")
def test_explain_says_parts_place_neighbours_and_what_would_overtake(typed: Typed) -> None:
    result = typed("queues", "explain", first(typed.fake))
    assert result.exit_code == 0, result.output
    text = result.stdout
    assert "place    first: nothing stands before it" in text
    assert "score    80" in text
    rows = [row.split() for row in text.splitlines()]
    assert ["amount", "GBP", "90,126.13", "+48", "huge", "in", "GBP"] in rows
    assert ["age", "9", "days", "old", "+32", "4", "a", "day,", "at", "most", "8", "days"] in rows
    assert "above the next by 32: amount +24, age +8, invoice 0" in text
    assert "With 33 points more the next overtakes this one" in text
    assert "payout.release-score v3 (Release score)" in text
    assert ["GBP", "huge", "50,000.00"] in rows
    assert ["JPY", "huge", "7,500,000"] in rows


@pytest.mark.requirement("order-queue-items-by-score")
def test_what_if_says_before_and_after_and_that_nothing_was_saved(typed: Typed) -> None:
    item = first(typed.fake)
    inputs = dict(typed.fake.queues.items[item].inputs)
    result = typed("queues", "what-if", item, "--amount", "GBP 1.00", "--age", "2d", "--input", "invoice=none")
    assert result.exit_code == 0, result.output
    rows = [row.split() for row in result.stdout.splitlines()]
    assert ["amount", "GBP", "90,126.13", "+48", "GBP", "1.00", "0", "−48"] in rows
    assert ["invoice", "invoice", "on", "file", "0", "no", "invoice", "+20", "+20"] in rows
    assert ["score", "80", "28", "−52"] in rows
    assert ["place", "from", "1st", "to", "2nd"] in rows
    assert "Nothing is saved: this only asks." in result.stdout
    assert typed.fake.queues.items[item].inputs == inputs
    assert not typed.fake.audit


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "say what is to be supposed"),
        (("--amount", "GBP 1.005"), "--amount: GBP has 2 decimals"),
        (("--amount", "much"), "--amount: much is no amount; type one like GBP 1,000.00"),
        (("--age", "old"), "--age: old is no age; type one like 9d"),
        (("--input", "invoice"), "write NAME=VALUE"),
        (("--input", "invoice="), "--input invoice: say a value"),
        (("--input", "colour=red"), "--input colour: payout.release-score takes no such input; there is: invoice."),
    ],
)
def test_what_cannot_be_read_names_its_option_and_is_wrong_usage(
    typed: Typed, words: tuple[str, ...], said: str
) -> None:
    result = typed("queues", "what-if", first(typed.fake), *words)
    assert result.exit_code == 2
    assert said in result.stderr
    assert not [request for request in typed.fake.requests if request.method == "POST"]


@pytest.mark.requirement("order-unscored-queues-by-age")
def test_a_queue_without_a_rule_is_explained_by_age_and_has_no_what_if(typed: Typed) -> None:
    bare = typed.fake.queues.queue("payments.payouts").model_copy(update={"id": "payments.plain", "score": None})
    typed.fake.queues.queues = (bare,)
    for row in typed.fake.queues.items.values():
        row.queue = bare
    result = typed("queues", "explain", first(typed.fake))
    assert result.exit_code == 0, result.output
    assert "no rule: the oldest is first" in result.stdout
    assert "3 days older than the next" in result.stdout
    refused = typed("queues", "what-if", first(typed.fake), "--age", "2d")
    assert refused.exit_code == 2
    assert "payments.plain has no rule" in refused.stderr


def test_json_is_the_answer_of_the_service(typed: Typed) -> None:
    item = first(typed.fake)
    assert typed.json("queues", "explain", item)["placement"]["ahead"] == {"count": 0, "exact": True}
    supposed = typed.json("queues", "what-if", item, "--input", "invoice=none")
    assert supposed["score"]["value"] == 100


def test_what_could_not_be_scored_says_why(typed: Typed) -> None:
    key = typed.fake.queues.add("payments.payouts", "Gold Ltd", minor=100, currency="CHF")
    text = typed("queues", "explain", key).stdout
    assert "payout.release-score states no thresholds for CHF" in text
    assert "stands first until it can be scored" in text


@pytest.mark.requirement("TUI-01")
def test_names_of_the_service_steer_no_terminal(typed: Typed) -> None:
    for number, row in enumerate(typed.fake.queues.items.values()):
        row.title = CONTROLS[number]
        row.payee = None
    result = typed("queues", "explain", first_of(typed.fake))
    assert result.exit_code == 0, result.output
    assert all(harmless(row) for row in result.stdout.splitlines())


def first_of(fake: FakeService) -> str:
    return next(iter(fake.queues.items))
