"""Top and bottom line at every width, and the link in words."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from jobconsole.commands.catalogue import BY_ID, commands_of
from jobconsole.commands.keymap import default_keymap
from jobconsole.present.frame import Frame, fit, key_line, top_line
from jobconsole.present.link import Link, LinkState, age, words
from tests.hostile import HOSTILE, harmless

SINCE = datetime(2026, 7, 1, 11, 4, 31, tzinfo=UTC)
STALE = Link(state=LinkState.STALE, since=SINCE, retry=104.0)
LIVE = Link(state=LinkState.LIVE, heard=99.0)
FRAME = Frame(
    profile="prod",
    production=True,
    read_only=True,
    tenant="acme",
    person="m.ito",
    role="finance",
    zone=ZoneInfo("Europe/London"),
)


def test_the_link_is_said_with_its_age_and_next_try_in_the_profiles_zone() -> None:
    assert words(LIVE, 100.0, UTC) == "live · 1 s"
    assert words(STALE, 100.0, FRAME.zone) == "stale since 12:04:31 · trying again in 4 s"
    assert words(STALE, 200.0, UTC) == "stale since 11:04:31 · trying again"
    assert words(STALE, 103.6, UTC) == "stale since 11:04:31 · trying again"
    assert words(STALE, 103.4, UTC) == "stale since 11:04:31 · trying again in 1 s"
    assert words(STALE, 100.0, UTC, short=True) == "stale since 11:04:31"


@pytest.mark.parametrize(
    ("seconds", "said"), [(-3, "0 s"), (59.9, "59 s"), (60, "1 min"), (7_300, "2 h"), (200_000, "2 d")]
)
def test_an_age_is_said_in_its_largest_unit(seconds: float, said: str) -> None:
    assert age(seconds) == said


def test_a_paused_link_is_connected_and_a_stale_one_is_not() -> None:
    assert [s for s in LinkState if Link(state=s).connected] == [LinkState.LIVE, LinkState.PAUSED]


@given(st.integers(40, 200), st.sampled_from(HOSTILE), st.sampled_from([LIVE, STALE]))
def test_the_top_line_fits_and_never_cuts_marks_or_link(width: int, text: str, link: Link) -> None:
    frame = Frame(profile=text, production=True, read_only=True, tenant=text, person=text, role=text)
    said = top_line(frame, link, 100.0, width).plain
    assert harmless(said)
    assert cell_len(said) <= width
    assert "PROD" in said
    assert "READ-ONLY" in said
    assert words(link, 100.0, UTC, short=True) in said


def test_the_whole_top_line_at_80_columns() -> None:
    said = top_line(FRAME, LIVE, 100.0, 80).plain
    assert said == "  PRODUCTION   READ-ONLY  prod  acme · m.ito (finance)".ljust(67) + "● live · 1 s"


@given(st.integers(10, 140))
def test_the_key_line_fits_and_keeps_help(width: int) -> None:
    hints = [(command, True) for command in sorted(commands_of("queues"), key=lambda c: c.rank) if command.hint]
    said = key_line(hints, default_keymap(), width).plain
    assert cell_len(said) <= width
    assert said.endswith("? help")
    assert said.count(" · ") <= 6


def test_a_command_without_a_key_is_not_hinted_at() -> None:
    hints = [(BY_ID["screen.back"], True), (BY_ID["help.show"], True)]
    assert key_line(hints, {**default_keymap(), "screen.back": ()}, 80).plain == " ? help"


@given(st.sampled_from(HOSTILE), st.integers(0, 40))
def test_fitting_counts_cells_and_never_overflows(text: str, room: int) -> None:
    assert cell_len(fit(text, room)) <= room
