"""Tests of how a score and its neighbours are put into words, and of the detail beside the list."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobconsole.present.columns import Line, plain, width_of
from jobconsole.present.scores import (
    Standing,
    above_line,
    below_line,
    beside_lines,
    compare,
    needed,
    ordinal,
    pane_lines,
    part_lines,
    signed,
    why_title,
)
from jobconsole.present.text import line
from jobcontract.items import Item
from jobcontract.money import EXPONENTS
from tests.hostile import HOSTILE, harmless
from tests.present.samples import ME, NOW, held, item, seen
from tests.present.scored import parked, part, score, scored

FIRST = scored("a", (48, 24, 20))
SECOND = scored("b", (36, 32, 20), days=8, minor=561665)
points = st.integers(-100, 100)
triples = st.tuples(points, points, points)


def texts(lines: list[Line] | tuple[Line, ...]) -> list[str]:
    return [plain(told) for told in lines]


@pytest.mark.requirement("show-the-score-beside-each-item")
def test_the_sketch_is_what_a_person_meets() -> None:
    standing = Standing(place=1, below=SECOND)
    told = texts(pane_lines(FIRST, None, standing, seen(), width=78, room=6))
    assert told[:4] == [
        "amount   GBP 9,012,613  +48   as its rule says",
        "age      6 days old     +24   as its rule says",
        "invoice  no invoice     +20   as its rule says",
        "above the next by 4: amount +12, age −8, invoice 0",
    ]
    assert plain(why_title(FIRST, standing, seen())) == "92, why first · payout.release-score v3 · scored 12 s ago"


@pytest.mark.parametrize(
    ("place", "words"),
    [(1, "why first"), (2, "why 2nd"), (3, "why 3rd"), (11, "why 11th"), (112, "why 112th"), (None, "why here")],
)
def test_the_title_says_the_place_where_it_is_known(place: int | None, words: str) -> None:
    assert plain(why_title(FIRST, Standing(place=place), seen())).startswith(f"92, {words} ·")


def test_another_sort_or_view_gives_no_place() -> None:
    assert "why here" in plain(why_title(FIRST, Standing(place=1, by_score=False), seen()))
    assert "why first of what matches" in plain(why_title(FIRST, Standing(place=1, filtered=True), seen()))
    elsewhere = Standing(place=1, waits=False, below=SECOND)
    assert "why" not in plain(why_title(FIRST, elsewhere, seen()))
    assert not any("next" in told for told in texts(pane_lines(FIRST, None, elsewhere, seen(), width=78, room=6)))


def test_ordinals() -> None:
    assert [ordinal(place) for place in (1, 2, 3, 4, 11, 12, 13, 21, 101, 111, 1204)] == [
        *("1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "101st", "111th", "1,204th")
    ]


@pytest.mark.requirement("order-queue-items-by-score")
@pytest.mark.parametrize(
    ("told", "words"),
    [
        (below_line(FIRST, SECOND), "above the next by 4: amount +12, age −8, invoice 0"),
        (above_line(SECOND, FIRST), "below the one above by 4: amount −12, age +8, invoice 0"),
        (
            below_line(scored("a", (20, 12, 0), days=8), scored("b", (12, 20, 0))),
            "same score as the next: 2 days older; amount +8, age −8",
        ),
        (
            above_line(scored("b", (12, 0, 0)), scored("a", (12, 0, 0), days=8)),
            "same score as the one above: 2 days younger",
        ),
        (
            below_line(scored("a", (1, 2, 3)), scored("b", (1, 2, 3))),
            "same score as the next: as old, lower id",
        ),
        (
            above_line(scored("b", (1, 2, 3)), scored("a", (1, 2, 3))),
            "same score as the one above: as old, higher id",
        ),
        (
            below_line(scored("a", (48, 0, 0)), scored("b", (12, 0, 0), minor=150000, currency="JPY")),
            "above the next by 36: amount +36, age 0, invoice 0 · GBP and JPY are not compared",
        ),
        (
            below_line(scored("a", (1, 0, 0)), scored("b", (5, 0, 0))),
            "the next has 4 points more: what is on screen is not the newest order",
        ),
        (above_line(FIRST, parked("p")), "the one above could not be scored: that comes before every score"),
        (below_line(parked("p"), FIRST), "the next has a score"),
        (
            below_line(parked("p"), parked("q", created=NOW - timedelta(days=1))),
            "the next has no score either: 5 days older",
        ),
        (
            below_line(FIRST, scored("b", (1, 2, 3), version=2)),
            "the next has 6 by payout.release-score v2: its parts are not compared with those of v3",
        ),
        (below_line(FIRST, item(id="n")), "the next is not scored yet"),
    ],
)
def test_why_one_stands_above_the_other(told: Line, words: str) -> None:
    assert plain(told) == words


@pytest.mark.requirement("MONEY-03")
@given(triples, triples, st.sampled_from(sorted(EXPONENTS)), st.sampled_from(sorted(EXPONENTS)))
def test_differences_add_up_and_amounts_of_two_currencies_are_never_subtracted(
    mine: tuple[int, int, int], theirs: tuple[int, int, int], currency: str, other: str
) -> None:
    one, two = scored("a", mine, currency=currency, minor=777_777), scored("b", theirs, currency=other, minor=333_333)
    comparison = compare(one, two)
    assert comparison is not None
    assert sum(points for _, points in comparison.parts) == comparison.points == sum(mine) - sum(theirs)
    told = plain(below_line(one, two))
    assert "444" not in told  # the difference of the two amounts, were it taken
    if comparison.points >= 0:
        assert ("are not compared" in told) == (currency != other)


@pytest.mark.requirement("order-queue-items-by-score")
@given(triples, triples, st.integers(0, 3), st.integers(0, 3))
def test_so_many_points_more_overtake_and_one_less_does_not(
    mine: tuple[int, int, int], theirs: tuple[int, int, int], days: int, other_days: int
) -> None:
    above, lower = scored("a", theirs, days=other_days), scored("b", mine, days=days)
    more = needed(lower, above)
    assert more is not None

    def before(points: int) -> bool:
        return (-sum(mine) - points, lower.created, lower.id) < (-sum(theirs), above.created, above.id)

    assert before(more)
    assert more == 0 or not before(more - 1)


def test_what_could_not_be_scored_says_why_and_where_it_stands() -> None:
    told = texts(pane_lines(parked("p"), None, Standing(place=1, below=FIRST), seen(), width=78, room=6))
    assert told[0] == "▲ could not be scored: payout.release-score states no thresholds for XAU"
    assert told[1] == "  stands first until it can be scored"
    assert "could not be scored, why first" in plain(why_title(parked("p"), Standing(place=1), seen()))


@pytest.mark.requirement("order-unscored-queues-by-age")
def test_a_queue_without_a_rule_says_that_the_oldest_is_first() -> None:
    one, two = item(id="a"), item(id="b", created=NOW - timedelta(days=4))
    told = texts(pane_lines(one, None, Standing(place=1, below=two, scored=False), seen(), width=78, room=6))
    assert "order    no rule: the oldest is first · 2 days older than the next" in told
    assert plain(why_title(one, Standing(scored=False), seen())).startswith("GBP 90,126.13")


@pytest.mark.parametrize("count", range(1, 9))
@pytest.mark.parametrize("width", [33, 40, 78])
def test_who_holds_it_is_in_sight_however_many_parts_there_are(count: int, width: int) -> None:
    parts = [part(f"input{number}", f"value {number}", number) for number in range(count)]
    one = held(ME, 2467, score=score(*parts))
    told = texts(pane_lines(one, None, Standing(place=2, above=FIRST, below=SECOND), seen(), width=width, room=6))
    assert any(text.startswith("holder   ◆ you") for text in told[:6])


def test_with_three_inputs_six_lines_hold_the_parts_both_neighbours_and_the_holder() -> None:
    standing = Standing(place=2, above=scored("z", (60, 24, 20)), below=SECOND)
    told = texts(pane_lines(FIRST, None, standing, seen(), width=78, room=6))[:6]
    assert [text.split()[0] for text in told] == ["amount", "age", "invoice", "above", "below", "holder"]


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.text(min_size=1, max_size=60), points, st.text(max_size=120)), min_size=1, max_size=6),
    st.integers(24, 160),
)
def test_values_and_points_are_never_cut(parts: list[tuple[str, int, str]], width: int) -> None:
    found = score(*(part(f"in{number}", *each) for number, each in enumerate(parts)))
    told = texts(part_lines(found, width))
    for shown, each, _ in parts:
        assert any(line(shown) in text for text in told)
        assert any(signed(each) in text.split() or text.endswith(signed(each)) for text in told)


@pytest.mark.requirement("TUI-01")
@pytest.mark.parametrize("text", [text for text in HOSTILE if text])
def test_what_a_rule_says_is_data(text: str) -> None:
    found = score(part("amount", text, 3, text), part(text[:30], "x", 4, text)).model_copy(update={"rule": text})
    one: Item = item(score=found)
    failed = item(score=score(failure=text))
    standing = Standing(place=1, below=one.model_copy(update={"id": "b"}), above=failed)
    for width in (33, 78):
        for which in (one, failed):
            lines = [*pane_lines(which, None, standing, seen(), width=width, room=6)]
            lines += [*beside_lines(which, None, standing, seen(), width=width), why_title(which, standing, seen())]
            assert all(harmless(told) for told in texts(lines))
    assert any(
        line(text)[:12].rstrip() in told for told in texts(pane_lines(one, None, standing, seen(), width=78, room=6))
    )


def test_beside_a_wide_list_the_reason_stands_under_what_the_item_is() -> None:
    told = texts(list(beside_lines(FIRST, None, Standing(place=1, below=SECOND), seen(), width=33)))
    assert told[0] == "GBP 90,126.13  …4471  Aspire Care Ltd"
    assert told[2] == "92, why first"
    assert told[3] == "amount   GBP 9,012,613        +48"
    assert "rule     payout.release-score v3" in told
    assert "scored   12 s ago" in told
    assert [text for text in told if text.startswith("holder")] == ["holder   ○ free"]
    assert all(width_of(text) <= 33 for text in told[3:9])
