"""Given inputs against declared ones: everything wrong is named at once, and nothing is bent into shape."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobcontract.states import InputType
from jobservice.rules.inputs import check_inputs, instant
from jobservice.rules.queues import DeclaredInput


def declared(kind: InputType, *, required: bool = True, most: int | None = None) -> DeclaredInput:
    return DeclaredInput(name="x", type=kind, title="X", required=required, most=most)


@pytest.mark.parametrize(
    ("kind", "value", "kept"),
    [
        (InputType.TEXT, " as given ", " as given "),
        (InputType.INTEGER, 0, 0),
        (InputType.BOOLEAN, False, False),
        (InputType.PERSON, "m.ito", "m.ito"),
        (InputType.INSTANT, "2026-03-01T10:00:00+01:00", "2026-03-01T09:00:00Z"),
    ],
)
def test_what_fits_is_kept(kind: InputType, value: Any, kept: Any) -> None:
    checked = check_inputs((declared(kind),), {"x": value})
    assert (checked.faults, checked.kept) == ((), {"x": kept})


def test_an_instant_is_taken_as_utc_and_a_person_is_named() -> None:
    checked = check_inputs((declared(InputType.INSTANT),), {"x": "2026-03-01T10:00:00+01:00"})
    assert checked.taken == {"x": datetime(2026, 3, 1, 9, tzinfo=UTC)}
    assert check_inputs((declared(InputType.PERSON),), {"x": "m.ito"}).persons == ("m.ito",)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (InputType.TEXT, 1),
        (InputType.TEXT, "a\x00"),
        (InputType.TEXT, "\ud800"),
        (InputType.TEXT, "toolong"),
        (InputType.INTEGER, True),
        (InputType.INTEGER, "1"),
        (InputType.INTEGER, 2**63),
        (InputType.BOOLEAN, 1),
        (InputType.BOOLEAN, "yes"),
        (InputType.PERSON, "Mina Ito"),
        (InputType.INSTANT, "2026-03-01"),
        (InputType.INSTANT, "2026-03-01T10:00:00"),
        (InputType.INSTANT, "9999-12-31T23:59:59-12:00"),
        (InputType.INSTANT, "soon"),
    ],
)
def test_what_does_not_fit_is_named_and_not_kept(kind: InputType, value: Any) -> None:
    checked = check_inputs((declared(kind, most=5 if kind is InputType.TEXT else None),), {"x": value})
    assert len(checked.faults) == 1
    assert checked.faults[0].startswith("`x`")
    assert checked.kept == {}


@pytest.mark.parametrize("given_inputs", [{}, {"x": ""}, {"x": "  "}, {"x": None}])
def test_nothing_given_is_refused_only_where_it_is_required(given_inputs: dict[str, Any]) -> None:
    assert check_inputs((declared(InputType.TEXT),), given_inputs).faults == ("`x` (X) is required.",)
    optional = check_inputs((declared(InputType.TEXT, required=False),), given_inputs)
    assert (optional.faults, optional.kept, optional.taken) == ((), {}, {"x": None})


def test_an_unknown_name_is_refused_and_the_known_ones_are_told() -> None:
    (fault,) = check_inputs((declared(InputType.TEXT, required=False),), {"y": "1"}).faults
    assert "`y`" in fault
    assert "there is x" in fault


VALUES = st.none() | st.booleans() | st.integers() | st.text() | st.floats() | st.lists(st.integers())


@given(st.sampled_from(InputType), VALUES)
def test_a_value_is_kept_or_named_never_both_never_bent(kind: InputType, value: Any) -> None:
    checked = check_inputs((declared(kind),), {"x": value})
    assert bool(checked.faults) != bool(checked.kept)
    if checked.kept and kind is not InputType.INSTANT:
        assert checked.kept["x"] is value or checked.kept["x"] == value
        assert type(checked.kept["x"]) is type(value)


@given(st.datetimes(min_value=datetime(1901, 1, 1), max_value=datetime(2199, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001  # hypothesis adds the zone
def test_an_instant_survives_being_kept(moment: datetime) -> None:
    assert instant(moment.isoformat()) == moment
