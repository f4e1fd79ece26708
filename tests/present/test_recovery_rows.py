"""Rows of a recovery as they are written: before it is confirmed why each ended, afterwards how its own turn went."""

from __future__ import annotations

import pytest

from jobconsole.present.recovery_rows import rows_cells, undone_words
from jobcontract.occurrences import ItemCounts
from jobcontract.operating import RecoveryTarget
from jobcontract.recoveries import RecoveryRow
from jobcontract.states import DeadCause, Moves, OccurrenceState, Turn

ERROR = "2 items failed: the mail server refused the address."


def row(turn: Turn, sentence: str | None = None) -> RecoveryRow:
    return RecoveryRow(
        number=1,
        key="0197",
        target=RecoveryTarget.OCCURRENCE,
        name="statements.nightly@2026-10-26T01:30:00Z",
        schedule="statements.nightly",
        moves=Moves.NOTHING,
        scheduled_at=None,
        state=OccurrenceState.DEAD_LETTER,
        cause=DeadCause.FAILED,
        error=ERROR,
        items=None,
        row_version=1,
        turn=turn,
        sentence=sentence,
        started_at=None,
        ended_at=None,
    )


@pytest.mark.parametrize(
    ("turn", "sentence", "confirmed", "told"),
    [
        (Turn.NOT_STARTED, None, False, ERROR),
        (Turn.NOT_STARTED, None, True, ""),
        (Turn.RUNNING, None, True, ""),
        (Turn.DONE, "Completed.", True, "Completed."),
    ],
)
def test_the_error_of_before_is_no_outcome_of_this_turn(
    turn: Turn, sentence: str | None, confirmed: bool, told: str
) -> None:
    assert rows_cells(row(turn, sentence), confirmed=confirmed)["told"].text == told


@pytest.mark.parametrize(
    ("failed", "all_selected", "told"),
    [
        ((2, 1), (True, True), "3 items not done"),
        ((0, 0), (True, False), "not all items were selected"),
        ((2, 0), (True, False), "2 items not done, not all were selected"),
    ],
)
def test_what_was_not_selected_is_not_counted_as_nothing(
    failed: tuple[int, ...], all_selected: tuple[bool, ...], told: str
) -> None:
    counts = [
        ItemCounts(done=4, refused=0, failed=number, unfinished=0, selected_all=whole)
        for number, whole in zip(failed, all_selected, strict=True)
    ]
    rows = [row(Turn.NOT_STARTED).model_copy(update={"items": each}) for each in counts]
    assert undone_words([*rows, row(Turn.NOT_STARTED)]) == told
