"""A figure is judged as it says: the middle of the rounds or the worst, the ratio round by round or the value."""

from __future__ import annotations

import pytest

from benchmarks.figures import Figure, Spread, p95, percentile


def figure(**members: object) -> Figure:
    given: dict[str, object] = {"part": "page", "what": "a page", "unit": "ms", "rounds": (2.0, 9.0, 3.0), **members}
    return Figure(**given)  # type: ignore[arg-type]  # members by name


@pytest.mark.parametrize(("hundredth", "expected"), [(0, 1.0), (50, 10.0), (95, 19.0), (96, 20.0), (100, 20.0)])
def test_a_percentile_is_one_of_the_values(hundredth: float, expected: float) -> None:
    assert percentile([float(number) for number in range(20, 0, -1)], hundredth) == expected


def test_without_values_there_is_no_percentile() -> None:
    with pytest.raises(ValueError, match="no values"):
        p95([])


def test_a_spread_has_middle_least_and_most() -> None:
    assert Spread.of((2.0, 9.0, 3.0)) == Spread(middle=3.0, least=2.0, most=9.0)


def test_without_a_limit_nothing_is_met_or_missed() -> None:
    assert figure().met is None


def test_what_was_not_measured_is_neither_met_nor_missed() -> None:
    nothing = figure(rounds=(), said="not run", at_most=3)
    assert (nothing.value, nothing.compared, nothing.met) == (None, None, None)


def test_a_value_is_judged_by_its_middle_round() -> None:
    assert figure(at_most=3).met is True
    assert figure(at_most=2.9).met is False
    assert figure(at_least=3).met is True
    assert figure(at_least=3.1).met is False


def test_or_by_its_worst_round() -> None:
    assert figure(at_most=8.9, worst=True).met is False
    assert figure(at_most=9, worst=True).met is True
    assert figure(at_least=2.1, worst=True).met is False


def test_a_ratio_is_taken_round_by_round() -> None:
    beside = figure(peer="peer", peer_rounds=(1.0, 3.0, 3.0), at_most=2)
    assert beside.compared == Spread(middle=2.0, least=1.0, most=3.0)
    assert beside.met is True
    assert figure(peer="peer", peer_rounds=(1.0, 3.0, 3.0), at_most=1.9).met is False


def test_how_much_more_is_a_difference() -> None:
    more = figure(peer="peer", peer_rounds=(1.0, 3.0, 1.0), above=True, at_most=2)
    assert more.compared == Spread(middle=2.0, least=1.0, most=6.0)
    assert more.met is True


def test_rounds_without_their_pair_are_an_error() -> None:
    with pytest.raises(ValueError, match="shorter"):
        _ = figure(peer="peer", peer_rounds=(1.0,)).compared
