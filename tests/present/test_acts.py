"""What an operator reads before an act: which items run again, what is made up for, who drained a Worker; the command that
does the same, quoted for a shell."""

from __future__ import annotations

import shlex
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobconsole.present.acts import discard_lines, enable_lines, replay_lines
from jobconsole.present.attempts import replay_text, replayed_lines
from jobconsole.present.columns import plain
from jobconsole.present.equivalent import UNSAID, equivalent, typed_instant
from jobcontract.acts import Enabling, MadeUp
from jobcontract.occurrences import ItemCounts, Replay
from jobcontract.session import Person
from jobcontract.states import DeadCause, OccurrenceState, SkipPolicy
from tests.present.scheduled import AT, NOW, occurrence, schedule

REPLAY = Replay(
    replay=2,
    at=NOW,
    person=Person(id="o.lind", name="Olle Lind"),
    reason="bank is back",
    recovery="pine-7",
    state_before=OccurrenceState.DEAD_LETTER,
    cause_before=DeadCause.FAILED,
    ended_before=NOW - timedelta(hours=1),
    attempts_before=1,
    not_done=1,
)


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=40))
@settings(max_examples=60)
def test_a_shell_reads_the_command_as_it_was_typed(reason: str) -> None:
    told = equivalent(["occurrences", "replay", "a.b@2026-10-26T01:30:00Z"], {"reason": reason, "until": None})
    words = shlex.split(told)
    assert words[:5] == ["jobconsole", "occurrences", "replay", "a.b@2026-10-26T01:30:00Z", "--reason"]
    assert words[5:] == [reason if reason.strip() else UNSAID]


def test_where_it_is_run_goes_along_and_instants_have_no_zone_of_their_own() -> None:
    options = {"reason": "x", "until": typed_instant(NOW.replace(microsecond=7))}
    told = equivalent(["schedules", "disable", "a.b"], options, where={"profile": "prod", "tenant": "york"})
    assert told.endswith("--reason x --until 2026-10-24T22:00:00Z --profile prod --tenant york")


@pytest.mark.requirement("audit-manual-replay")
@pytest.mark.parametrize(
    ("counts", "says"),
    [
        ((117, 1, 2, 0, True), "3 items run again; 117 done stay done."),
        ((0, 0, 0, 1, True), "1 item runs again; 0 done stay done."),
        ((40, 0, 0, 0, True), "All 40 items are done and stay done: it runs again and finds nothing to do."),
        ((0, 0, 0, 0, False), "Its items are selected where the selection stopped; what is done stays done."),
    ],
)
def test_a_replay_says_which_items_run_again(counts: tuple[int, int, int, int, bool], says: str) -> None:
    done, refused, failed, unfinished, whole = counts
    items = ItemCounts(done=done, refused=refused, failed=failed, unfinished=unfinished, selected_all=whole)
    assert says in [plain(line) for line in replay_lines(occurrence(items=items), AT)]


@pytest.mark.requirement("audit-manual-replay")
def test_a_replay_in_the_timeline_names_who_when_why_its_recovery_and_how_it_had_ended() -> None:
    assert replay_text(REPLAY) == 'replayed by o.lind 22:00Z in pine-7: "bank is back"'
    first, why, before = (plain(line) for line in replayed_lines(REPLAY, AT))
    assert first == "↻ replay 2 · Olle Lind (o.lind) · Sat 2026-10-24 23:00 BST (22:00:00Z) · in recovery pine-7"
    assert why == '"bank is back"'
    assert before.startswith("Before: ✗ dead letter, its attempts are used up, Sat 2026-10-24 22:00 BST")
    assert before.endswith("after 1 attempt; 1 item ran again.")


def test_enabling_lists_what_it_makes_up_for_and_counts_what_does_not_fit() -> None:
    runs = tuple(
        MadeUp(first_at=NOW - timedelta(days=day), last_at=NOW - timedelta(days=day), count=1, policy=None, words="")
        for day in range(6, 0, -1)
    )
    skips = MadeUp(
        first_at=NOW - timedelta(days=9),
        last_at=NOW - timedelta(days=7),
        count=3,
        policy=SkipPolicy.MISFIRE_EACH_INTERVAL,
        words="older than the newest that run",
    )
    enabling = Enabling(
        schedule="a", disabled=True, since=NOW, words="Makes up for 6.", runs=runs, skips=(skips,), next=None, now=NOW
    )
    told = [plain(line) for line in enable_lines(enabling, schedule(), AT)]
    assert "Makes up for 6." in told
    assert told.index("makes up  2026-10-18 22:00Z") + 4 == told.index("          and 2 more")
    assert "skips     3 from 2026-10-15 22:00Z to 2026-10-17 22:00Z · older than the newest that run" in told


def test_discarding_says_what_stays_undone() -> None:
    assert "2 items of it stay undone." in [plain(line) for line in discard_lines(occurrence(), AT)]
