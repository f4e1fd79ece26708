"""Tests of the full explanation of a place: bars, neighbours side by side, what overtakes, the rule, the times."""

from __future__ import annotations

from datetime import timedelta

import pytest

from jobconsole.present.columns import Line, plain, width_of
from jobconsole.present.explain import ahead_words, bar, explain_lines, place_text
from jobconsole.present.text import line
from jobcontract.items import Explanation
from jobcontract.scores import ItemCount
from jobcontract.states import ItemState
from tests.hostile import HOSTILE, harmless
from tests.present.samples import NOW, amount, item, seen
from tests.present.scored import RULE, explanation, parked, part, score, scored

FIRST = scored("a", (48, 24, 20))
SECOND = scored("b", (36, 32, 20), days=8, minor=561665)
THIRD = scored("c", (0, 36, 0), days=9, minor=-154522)


def told(found: Explanation, width: int = 78) -> list[str]:
    return texts(explain_lines(found, seen(), width))


def texts(lines: list[Line]) -> list[str]:
    return [plain(each).rstrip() for each in lines]


@pytest.mark.requirement("show-the-score-beside-each-item")
def test_the_parts_stand_with_their_bars_and_add_up() -> None:
    lines = told(explanation(FIRST, below=SECOND))
    assert lines[0] == "92, first: nothing stands before it"
    assert lines[2:6] == [
        "amount   GBP 9,012,613  ████████████  +48   as its rule says",
        "age      6 days old     ██████        +24   as its rule says",
        "invoice  no invoice     █████         +20   as its rule says",
        "score                                  92",
    ]


@pytest.mark.requirement("order-queue-items-by-score")
def test_the_items_above_and_below_stand_beside_it() -> None:
    lines = told(explanation(SECOND, FIRST, THIRD, ahead=1))
    assert lines[0] == "88, 2nd: 1 item stands before it"
    at = next(at for at, each in enumerate(lines) if each.startswith("points"))
    assert [each.split() for each in lines[at : at + 5]] == [
        ["points", "above", "this", "next", "to", "above", "to", "next"],
        ["amount", "+48", "+36", "0", "−12", "+36"],
        ["age", "+24", "+32", "+36", "+8", "−4"],
        ["invoice", "+20", "+20", "0", "0", "+20"],
        ["score", "92", "88", "36", "−4", "+52"],
    ]
    assert len({len(each) for each in lines[at : at + 5]}) == 1  # numbers end in one column
    who = [each for each in lines if each.startswith(("above    ", "this     ", "next     "))]
    assert [each.split()[1] for each in who] == ["92", "88", "36"]
    assert "GBP 90,126.13" in who[0]
    assert "−GBP 1,545.22" in who[2]
    assert "9 days old · invoice on file" in who[2]


@pytest.mark.requirement("order-queue-items-by-score")
def test_a_fresh_pair_of_eyes_can_say_what_would_make_the_second_overtake_the_first() -> None:
    assert (
        "→ With 4 points more the next overtakes this one, for example by amount as this one has it: “GBP 9,012,613” "
        "gives 12 points more."
    ) in told(explanation(FIRST, below=SECOND))
    lines = told(explanation(SECOND, FIRST, THIRD, ahead=1))
    assert any(
        each.startswith("→ With 4 points more it overtakes the one above, for example by amount") for each in lines
    )
    assert (
        "→ With 52 points more the next overtakes this one; no single input as this one has it would be enough."
        in lines
    )


@pytest.mark.requirement("order-queue-items-by-score")
def test_between_equal_scores_the_younger_needs_one_point_more() -> None:
    older, younger = scored("b", (10, 0, 0), days=8), scored("a", (10, 0, 0), days=6)
    assert any("With 1 point more the next overtakes" in each for each in told(explanation(older, below=younger)))


@pytest.mark.requirement("MONEY-03")
def test_amounts_of_two_currencies_are_not_compared_and_it_says_so() -> None:
    yen = scored("y", (36, 0, 0), minor=7_600_000, currency="JPY")
    lines = told(explanation(FIRST, below=yen))
    assert "GBP and JPY are not compared: each amount counts by the thresholds of its own currency." in lines
    assert not any("are not compared" in each for each in told(explanation(FIRST, below=SECOND)))


def test_the_rule_is_there_in_words_with_its_thresholds_those_of_the_item_first() -> None:
    lines = told(explanation(FIRST))
    at = lines.index("rule     Release score · payout.release-score v3")
    assert lines[at + 1] == f"         {RULE.formula}"
    assert lines[at + 2] == "compares large GBP 50,000.00"
    assert lines[at + 3] == "scored   Mon 2026-03-02 08:59:48 GMT, 12 s ago"
    assert lines[at + 4] == "again    every 10 min, and when an input changes · next in 9 min"
    assert lines[at + 5] == "others   large JPY 7,500,000"


def test_a_score_that_is_due_and_one_that_time_does_not_change() -> None:
    late = FIRST.score
    assert late is not None
    old = FIRST.model_copy(update={"score": late.model_copy(update={"scored_at": NOW - timedelta(minutes=11)})})
    assert any(each.endswith("due now") for each in told(explanation(old)))
    still = explanation(FIRST).model_copy(update={"rule": RULE.model_copy(update={"refresh_seconds": None})})
    assert "again    when an input changes: time alone changes nothing" in told(still)


def test_a_score_of_an_older_version_says_so() -> None:
    assert any("by v2" in each for each in told(explanation(scored("a", (1, 2, 3), version=2))))


def test_what_could_not_be_scored_what_has_no_rule_and_what_does_not_wait() -> None:
    lines = told(explanation(parked("p"), below=FIRST))
    assert "▲ could not be scored: payout.release-score states no thresholds for XAU" in lines
    assert "  stands first until it can be scored" in lines
    assert "the next has a score" in lines
    one, two = item(id="a"), item(id="b", created=NOW - timedelta(days=4))
    ruleless = explanation(one, below=two).model_copy(update={"rule": None})
    assert "This queue has no rule: the oldest item is first." in told(ruleless)
    assert "It is 2 days older than the next." in told(ruleless)
    closed = item(state=ItemState.REJECTED)
    gone = Explanation(item=closed, rule=RULE, placement=None, as_of=NOW)
    assert told(gone)[0] == "It does not wait now (set aside or closed), so it has no place in the order."


def test_counts_beyond_ten_thousand_are_about() -> None:
    assert place_text(ItemCount(count=0, exact=True)) == "1st"
    assert place_text(ItemCount(count=10_000, exact=False)) == "past the 10,000th"
    assert (
        ahead_words(ItemCount(count=10_000, exact=False)) == "past the 10,000th: 10,000 or more items stand before it"
    )


def test_bars_are_as_long_as_their_points() -> None:
    assert bar(48, 48) == "█" * 12
    assert bar(-24, 48) == "█" * 6
    assert bar(1, 1_000) == "▏"
    assert bar(0, 48) == ""
    assert all(width_of(bar(points, 48)) <= 12 for points in range(49))


@pytest.mark.parametrize("width", [38, 60, 78, 138])
def test_amounts_are_whole_at_every_width(width: int) -> None:
    large = scored("b", (1, 0, 0), minor=9_223_372_036_854_775_807)
    shown = [" ".join(told(explanation(large, FIRST, large.model_copy(update={"id": "c"}), ahead=1), width))]
    assert shown[0].count("GBP 92,233,720,368,547,758.07") == 2
    assert "GBP 90,126.13" in shown[0]


@pytest.mark.requirement("TUI-01")
@pytest.mark.parametrize("text", [text for text in HOSTILE if text])
def test_whatever_a_rule_or_an_item_is_called_is_data(text: str) -> None:
    rule = RULE.model_copy(
        update={
            "id": text,
            "title": text,
            "formula": text,
            "thresholds": tuple(each.model_copy(update={"name": text}) for each in RULE.thresholds),
        }
    )
    one = item(id="a", title=text, score=score(part(text[:20], text, 3, text)), amount=amount(5))
    other = one.model_copy(update={"id": "b", "score": score(failure=text)})
    found = explanation(one, other, other, ahead=1).model_copy(update={"rule": rule})
    for width in (38, 78, 138):
        lines = [plain(each) for each in explain_lines(found, seen(), width)]
        assert all(harmless(each) for each in lines)
        assert sum(line(text)[:12].rstrip() in each for each in lines) >= 4
