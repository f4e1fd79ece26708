"""How occurrences are written: exactly four states, who holds one under which fence, refused late writes, items' outcomes."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from jobconsole.present.attempts import (
    ENDINGS,
    OUTCOMES,
    attempt_cells,
    attempt_lines,
    cancel_words,
    holder_lines,
    item_cells,
    item_lines,
    refused_cells,
    refused_lines,
    run_lists,
)
from jobconsole.present.columns import Tone, plain
from jobconsole.present.occurrences import (
    CAUSES,
    FILTERS,
    STATES,
    empty_words,
    occurrence_lines,
    occurrences_cells,
    occurrences_title,
)
from jobcontract.occurrences import ItemCounts
from jobcontract.session import Person
from jobcontract.states import AttemptEnding, ClockChange, DeadCause, OccurrenceOrigin, OccurrenceState, OutcomeKind
from tests.present.scheduled import AT, ITEMS, LATE, LEASE, NOW, RUNNING, attempt, occurrence

STATE = pytest.mark.requirement("persist-occurrence-state")
ITEM = pytest.mark.requirement("run-one-command-per-item-in-selection")
CANCEL = pytest.mark.requirement("observe-job-cancellation")
SCHEDULED = occurrence().scheduled_at
UNSELECTED = ItemCounts(done=0, refused=0, failed=0, unfinished=0, selected_all=False)
NONE = ItemCounts(done=0, refused=0, failed=0, unfinished=0, selected_all=False)


@STATE
def test_every_state_cause_ending_and_outcome_has_its_own_words() -> None:
    assert set(STATES) == set(OccurrenceState)
    assert set(CAUSES) == set(DeadCause)
    assert set(ENDINGS) == set(AttemptEnding)
    assert set(OUTCOMES) == {None, *OutcomeKind}
    for told in (STATES, ENDINGS, OUTCOMES):
        words = [word for word, _ in told.values()]
        assert len(set(words)) == len(words)
    assert [states for _, states in FILTERS if len(states) == 1] == [(each,) for _, (each, *_) in FILTERS[1:]]
    assert {each for _, states in FILTERS for each in states} == set(OccurrenceState)


@STATE
@pytest.mark.parametrize(
    ("more", "state", "what"),
    [
        ({}, "✗ dead letter", "2 of 120 items failed: the mail server refused the address."),
        ({"error": None}, "✗ dead letter", "its attempts are used up"),
        (RUNNING, "◆ processing", "on a7 since 40 s ago"),
        ({**RUNNING, "cancel_asked_at": NOW}, "◆ processing", "cancelling …"),
        (
            {"state": OccurrenceState.SCHEDULED, "attempts": 1, "due_at": NOW + timedelta(seconds=30)},
            "○ scheduled",
            "next attempt in 30 s",
        ),
        (
            {"state": OccurrenceState.COMPLETED, "origin": OccurrenceOrigin.MADE_UP},
            "✓ completed",
            "took 3 min · made up for missed ones",
        ),
        (
            {"state": OccurrenceState.SCHEDULED, "attempts": 0, "due_at": NOW - timedelta(seconds=45)},
            "○ scheduled",
            "not started, due since 45 s",
        ),
        ({"state": OccurrenceState.SCHEDULED, "attempts": 0, "due_at": NOW - timedelta(seconds=4)}, "○ scheduled", ""),
        (
            {"state": OccurrenceState.COMPLETED, "scheduled_at": SCHEDULED - timedelta(seconds=37)},
            "✓ completed",
            "took 3 min · started 38 s late",
        ),
    ],
)
def test_a_row_says_the_state_and_what_is_to_know_of_it(more: dict[str, Any], state: str, what: str) -> None:
    cells = occurrences_cells(occurrence(**more), AT)
    assert (cells["state"].text, cells["what"].text) == (state, what)
    assert cells["scheduled"].text.startswith("2026-10-24 00:")


@ITEM
def test_the_items_of_a_row_are_counted_by_outcome_what_failed_first() -> None:
    assert occurrences_cells(occurrence(), AT)["items"].text == "2 of 120 failed"
    running = ItemCounts(done=40, refused=1, failed=0, unfinished=79, selected_all=False)
    assert occurrences_cells(occurrence(items=running), AT)["items"].text == "41 of 120"
    done = ItemCounts(done=117, refused=3, failed=0, unfinished=0, selected_all=True)
    assert occurrences_cells(occurrence(items=done), AT)["items"].text == "117 done, 3 refused"
    assert occurrences_cells(occurrence(items=NONE), AT)["items"].text == "–"


@STATE
def test_where_a_dead_letter_stands_cause_and_error_first() -> None:
    shown = [plain(line) for line in occurrence_lines(occurrence(clock=ClockChange.FIRST), AT)]
    assert shown == [
        "cause     its attempts are used up",
        "error     2 of 120 items failed: the mail server refused the address.",
        "scheduled 2026-10-24 00:30Z = Sat 01:30 in Europe/London, the first of two · 21 h 30 min ago",
        "ran       Sat 2026-10-24 01:30 BST (00:30:01Z) · took 3 min · 3 of 3 attempts",
        "items     ✗ 2 failed · ✓ 117 done · – 1 refused",
    ]


@STATE
@pytest.mark.requirement("store-execution-leases")
def test_who_holds_a_running_one_under_which_fence_and_until_when() -> None:
    shown = [plain(line) for line in occurrence_lines(occurrence(**RUNNING), AT)]
    lease = "lease     Worker 3f2c19aa on a7 · fence 5 · taken 40 s ago · renewed 3 times · expires in 0:21"
    assert shown[0] == lease
    assert shown[-1] == "items     ✗ 1 failed · ✓ 40 done · 79 without an outcome · more to select"
    late = LEASE.model_copy(update={"expires_at": NOW - timedelta(seconds=4), "host": "", "renewals": 0})
    first = plain(occurrence_lines(occurrence(**{**RUNNING, "lease": late}), AT)[0])
    assert first.endswith("on a host not known any more · fence 5 · taken 40 s ago · not renewed yet · ran out 4 s ago")


@STATE
def test_what_waits_past_its_time_says_since_when_and_what_just_began_is_not_called_unstarted() -> None:
    waits: dict[str, Any] = {
        "state": OccurrenceState.SCHEDULED,
        "attempts": 0,
        "started_at": None,
        "ended_at": None,
        "error": None,
    }
    late = occurrence(**waits, due_at=NOW - timedelta(seconds=45), items=UNSELECTED)
    lines = occurrence_lines(late, AT)
    assert plain(lines[0]) == "waits     due since 45 s (2026-10-24 21:59:15Z)"
    assert lines[0][-1].tone is Tone.WARN
    assert plain(lines[-1]) == "items     selected once it starts"
    begun = occurrence(**{**RUNNING, "started_at": None})
    shown = [plain(line) for line in occurrence_lines(begun, AT)]
    assert any(each.startswith("ran       taken 40 s ago · ") for each in shown)


@CANCEL
def test_who_asked_to_cancel_and_why_and_what_it_will_do() -> None:
    asked = occurrence(
        **RUNNING,
        cancel_asked_at=NOW - timedelta(seconds=4),
        cancelled_by=Person(id="o.lind", name="Olle Lind"),
        cancel_reason="bank down",
    )
    assert plain(occurrence_lines(asked, AT)[0]) == "cancelling asked for by o.lind 4 s ago: bank down"
    gone = asked.model_copy(
        update={"state": OccurrenceState.DEAD_LETTER, "lease": None, "cause": "cancelled", "items": NONE}
    )
    shown = [plain(line) for line in occurrence_lines(gone, AT)]
    assert shown[:2] == ["cause     cancelled", "cancelled asked for by o.lind 4 s ago: bank down"]
    assert shown[-1] == "items     none was selected"
    assert "its Worker stops it within a second" in cancel_words(occurrence(**RUNNING))[0]
    waiting = occurrence(state=OccurrenceState.SCHEDULED, attempts=0, items=NONE)
    assert cancel_words(waiting)[0] == "It has not started: it is never started."
    assert cancel_words(waiting.model_copy(update={"attempts": 1}))[0].startswith("It waits for its next attempt")


@pytest.mark.requirement("prevent-duplicate-completion", "LEASE-01")
def test_a_late_write_that_was_refused_has_its_own_line_with_who_and_when() -> None:
    cells = refused_cells(LATE)
    assert [cells[name].text for name in ("ending", "fence", "worker", "host", "taken")] == [
        "! late, refused",
        "2",
        "77e0c1d1",
        "b2",
        "21:40Z",
    ]
    first, second = (plain(line) for line in refused_lines(LATE, AT))
    assert "Worker 77e0c1d1-1111-7000-8000-000000000001 on b2 · fence 2 · Sat 2026-10-24 22:40 BST (21:40:00Z)" in first
    assert second == "It wanted to write that 120 items are done. It changed nothing: the lease was not its any more."


def test_an_attempt_tells_fence_renewals_and_how_it_ended() -> None:
    lost = attempt(1, AttemptEnding.LOST, error="Worker was lost.", started_at=None)
    assert attempt_cells(lost)["ending"].text == "✗ Worker lost"
    assert attempt_cells(lost)["lasted"].text == "45 s"
    assert attempt_cells(attempt(1, AttemptEnding.COMPLETED, ended_at=lost.taken_at))["lasted"].text == "under 1 s"
    first, second = (plain(line) for line in attempt_lines(lost, AT))
    assert "fence 2" in first
    assert "never started" in first
    assert "renewed once" in first
    assert second == "Worker was lost."
    assert "holds it until 22:00:21Z" in plain(holder_lines(LEASE, AT)[0])


@ITEM
def test_an_item_tells_its_outcome_its_sentence_and_when_it_is_tried_again() -> None:
    failed = item_cells(ITEMS[0], AT)
    assert (failed["outcome"].text, failed["key"].text, failed["attempts"].text) == ("✗ failed", "c-4407", "3")
    assert failed["sentence"].text == "The mail server refused the address."
    waits = ITEMS[1].model_copy(update={"try_at": NOW + timedelta(seconds=90), "sentence": "Busy."})
    assert item_cells(waits, AT)["outcome"].text == "· no outcome"
    assert item_cells(waits, AT)["sentence"].text == "again in 1 min · Busy."
    assert plain(item_lines(ITEMS[0], AT)[0]).startswith("✗ failed · c-4407 · Customer 7 · 3 attempts")


def test_headings_say_which_list_and_state_is_shown() -> None:
    title = [plain(line) for line in occurrences_title("statements.nightly", 3, 1, more=True, key="v")]
    assert title == [
        "Occurrences of statements.nightly · 1 row, more follow",
        "all  scheduled  processing  [dead letters]  completed  v",
    ]
    assert "No occurrence of s is a dead letter." in empty_words("s", 3, "v")
    assert plain(run_lists(3, 1, 3, occurrence(), "items")) == (
        "3 attempts, 1 late write  [120 items]  tab  what failed first"
    )
    assert plain(run_lists(0, 0, 0, occurrence(), "attempts")).endswith("those that went well are not listed")
