"""Rows of a recovery as they are written: before it is confirmed why each ended, afterwards how its own turn went."""

from __future__ import annotations

import pytest

from jobconsole.present.recovery_rows import rows_cells
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
