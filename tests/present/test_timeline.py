"""The timeline in words: a stretch as it is typed, and Markdown in which no text of the service does anything."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobconsole.present.line_fields import Unfit
from jobconsole.present.schedules import At
from jobconsole.present.timeline import (
    Made,
    Stretch,
    escaped,
    markdown,
    next_kinds,
    read_stretch,
    typed_stretch,
    usual,
)
from jobcontract.operating import TimelineKind
from jobcontract.timeline import TimelineEntry
from tests.hostile import HOSTILE

pytestmark = pytest.mark.requirement("provide-operational-recovery-procedures")
ZONE = ZoneInfo("America/New_York")
AT = At(now=datetime(2026, 12, 2, 3, tzinfo=UTC), zone=ZONE)
MADE = Made(tenant="acme", person="o.lind", at=AT.now, zone=ZONE)


def entry(hours: float, kind: TimelineKind, subject: str, sentence: str) -> TimelineEntry:
    return TimelineEntry(at=AT.now - timedelta(hours=hours), kind=kind, subject=subject, person=None, sentence=sentence)


def test_the_report_has_title_stretch_maker_counts_and_a_table_a_day_in_two_zones() -> None:
    entries = [
        entry(4, TimelineKind.ALARM, "s.one", "Alarm late."),
        entry(2, TimelineKind.ACT, "s.one", "Olle Lind disabled it."),
        entry(1, TimelineKind.ACT, "s.one", "Olle Lind enabled it."),
    ]
    assert markdown(entries, usual(AT), MADE).splitlines() == [
        "# Timeline of acme",
        "",
        "From 2026-12-01 15:00:00Z until 2026-12-02 03:00:00Z "
        "(Tue 2026-12-01 10:00 EST until Tue 2026-12-01 22:00 EST).",
        "",
        "Made by o.lind at 2026-12-02 03:00:00Z. Times are in UTC and in America/New\\_York.",
        "",
        "3 entries: 2 act, 1 alarm.",
        "",
        "## Tuesday 2026-12-01 (UTC)",
        "",
        "| UTC | America/New\\_York | about | what | happened |",
        "|---|---|---|---|---|",
        "| 23:00:00 | Tue 18:00:00 | alarm | s.one | Alarm late. |",
        "",
        "## Wednesday 2026-12-02 (UTC)",
        "",
        "| UTC | America/New\\_York | about | what | happened |",
        "|---|---|---|---|---|",
        "| 01:00:00 | Tue 20:00:00 | act | s.one | Olle Lind disabled it. |",
        "| 02:00:00 | Tue 21:00:00 | act | s.one | Olle Lind enabled it. |",
    ]
    assert "0 entries: nothing." in markdown([], usual(AT), MADE)


def test_where_the_reader_has_utc_the_times_stand_once() -> None:
    told = markdown([entry(1, TimelineKind.ACT, "a", "b")], usual(AT), replace(MADE, zone=ZoneInfo("UTC"))).splitlines()
    assert [row for row in told if row.startswith("|")] == [
        "| UTC | about | what | happened |",
        "|---|---|---|---|",
        "| 02:00:00 | act | a | b |",
    ]
    assert any(row.endswith("Times are in UTC.") for row in told)
    assert next(row for row in told if row.startswith("From ")).count("until") == 1


@given(st.text(max_size=40) | st.sampled_from(HOSTILE))
@settings(max_examples=150)
def test_no_text_ends_its_cell_its_line_or_begins_anything(text: str) -> None:
    shown = escaped(text)
    assert "\n" not in shown
    assert "\r" not in shown
    assert not re.search(r"(?<!\\)(?:\\\\)*[`*_\[\]<>|~&@#]", shown)
    row = next(line for line in markdown([entry(1, TimelineKind.ACT, text, text)], usual(AT), MADE).split("\n")[11:])
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 6


@pytest.mark.parametrize("text", ["http://evil.example", "https://evil.example", "www.evil.example", "a@evil.example"])
def test_an_address_is_no_link(text: str) -> None:
    assert re.search(r"(?<!\\)://|www\.|(?<!\\)@", escaped(text)) is None


@given(st.lists(st.sampled_from(list(TimelineKind)), unique=True).map(tuple))
@settings(max_examples=40)
def test_a_stretch_that_was_typed_is_read_back_as_it_was(kinds: tuple[TimelineKind, ...]) -> None:
    stretch = Stretch(since=AT.now - timedelta(days=3), until=AT.now, kinds=kinds)
    assert read_stretch(typed_stretch(stretch, AT), AT) == stretch


@pytest.mark.parametrize(
    ("typed", "field"),
    [
        ({"from": ""}, "from"),
        ({"from": "-1h", "to": "-2h"}, "to"),
        ({"from": "-32d"}, "from"),
        ({"from": "-1h", "kinds": "acts"}, "kinds"),
    ],
)
def test_what_cannot_be_read_is_named(typed: dict[str, str], field: str) -> None:
    with pytest.raises(Unfit) as unfit:
        read_stretch(typed, AT)
    assert unfit.value.field == field


def test_the_kinds_go_round() -> None:
    seen: list[tuple[TimelineKind, ...]] = [()]
    while (following := next_kinds(seen[-1])) != ():
        seen.append(following)
    assert seen == [(), *((kind,) for kind in TimelineKind)]
