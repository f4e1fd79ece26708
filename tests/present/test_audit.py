"""The audit trail in words: a filter as it is typed and read back, before and after with what changed first."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobconsole.present.audit import (
    ALL,
    AuditFilter,
    audit_columns,
    audit_entry_lines,
    audit_title,
    entry_lines,
    filter_words,
    read_filter,
    side_lines,
    sides,
    typed_filter,
)
from jobconsole.present.columns import plain
from jobconsole.present.line_fields import Unfit
from jobconsole.present.schedules import At
from jobcontract.audit import AuditDetail, AuditEntry
from jobcontract.session import Person

AT = At(now=datetime(2026, 12, 1, 9, tzinfo=UTC), zone=ZoneInfo("Europe/London"))
WORDS = st.none() | st.text("abc.-@", min_size=1, max_size=8)


def detail(before: dict[str, object] | None, after: dict[str, object] | None) -> AuditDetail:
    """An entry of these sides."""
    entry = AuditEntry(id=7, at=AT.now, person=None, action="a", subject="s", outcome="done", detail={"reason": "why"})
    raw = {"entry": entry, "before": before, "after": after, "reference": None, "seal": None, "now": AT.now}
    return AuditDetail.model_validate(raw)


@given(
    st.builds(
        AuditFilter,
        since=st.none() | st.just(AT.now - timedelta(hours=3)),
        until=st.none() | st.just(AT.now),
        person=WORDS,
        action=WORDS,
        subject=WORDS,
        outcome=st.none() | st.sampled_from(["done", "refused"]),
        schedule=WORDS,
    )
)
@settings(max_examples=60)
@pytest.mark.requirement("MONEY-33")
def test_a_filter_that_was_typed_is_read_back_as_it_was(asked: AuditFilter) -> None:
    assert read_filter(typed_filter(asked, AT), AT) == asked
    assert (filter_words(asked, AT) == "") is (asked == ALL)


@pytest.mark.parametrize(
    ("typed", "field"),
    [({"since": "soonish"}, "since"), ({"since": "-1h", "until": "-2h"}, "until"), ({"outcome": "good"}, "outcome")],
)
def test_what_cannot_be_read_is_named(typed: dict[str, str], field: str) -> None:
    with pytest.raises(Unfit) as unfit:
        read_filter(typed, AT)
    assert unfit.value.field == field


@pytest.mark.requirement("MONEY-31")
def test_what_changed_stands_first_and_is_marked_on_both_sides() -> None:
    found = detail({"same": 1, "state": "open", "gone": "x"}, {"same": 1, "state": "closed", "new": [2]})
    assert sides(found) == [
        ("state", "open", "closed", True),
        ("gone", "x", "–", True),
        ("new", "–", "[2]", True),
        ("same", "1", "1", False),
    ]
    assert [plain(line)[0] for line in side_lines(found, after=True)[1:]] == ["≠", "≠", "≠", " "]
    assert audit_entry_lines(found, AT)[-1].split() == ["same", "1", "1"]


def test_a_side_that_was_not_kept_says_so() -> None:
    made = detail(None, {"state": "open"})
    assert plain(side_lines(made, after=False)[1]) == "was not there before"
    assert sides(made) == [("state", "–", "open", False)]
    assert len(audit_entry_lines(detail(None, None), AT)) == 5


def test_every_heading_of_the_trail_that_is_never_cut_has_room_for_its_own_words() -> None:
    assert [each.id for each in audit_columns() if each.uncut and each.least < len(each.label)] == []


def test_who_is_called_by_an_id_alone_is_named_once() -> None:
    job = Person(id="job:workspace.activate", name="job:workspace.activate")
    entry = detail(None, None).entry.model_copy(update={"person": job})
    assert plain(entry_lines(entry, AT)[0]) == "7 · job:workspace.activate · a · ✓ done"


def test_a_trail_that_may_not_be_read_is_not_said_to_be_empty() -> None:
    told = [plain(audit_title(rows, more=False, asked=ALL, at=AT, width=80)) for rows in (1, 0)]
    assert told == ["Audit trail · 1 entry", "Audit trail"]
