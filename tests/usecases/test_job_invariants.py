"""INV-01 to INV-12: random interleavings of people, Workers, crashes and reconciliations; and each refused by the database
itself, whoever writes past the code.
"""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.usecases.job_desk_stage import JobStage, job_stage
from tests.usecases.job_world import Move, World

_names = itertools.count(1)
WHAT = (
    *("work",) * 5,
    *(
        "submit",
        "submit",
        "take-up",
        "take-up",
        "begin",
        "begin",
        "begin",
        "report",
        "report",
        "report",
        "retry",
        "retry",
    ),
    *("progress", "sent", "hand-back", "cancel", "cancelled", "resolve", "reconcile"),
)
MOVES = st.tuples(
    st.sampled_from(WHAT),
    st.integers(0, 5),
    st.integers(0, 13),
    st.sampled_from((False, False, False, False, False, True)),
)
ROUNDS = st.lists(st.lists(MOVES, min_size=1, max_size=3), min_size=4, max_size=16)
STARTS: list[list[Move]] = [[("submit", 1, 0, False), ("submit", 1, 0, False), ("submit", 1, 1, False)]]


@pytest.fixture
def stage(database: Any, worker_database: Any, people: Any) -> JobStage:
    return job_stage(database, worker_database, people)


async def driven(stage: JobStage, rounds: list[list[Move]]) -> None:
    world = World(stage=stage, name=f"w{next(_names)}")
    for moves in [*STARTS, *rounds]:
        await world.round(moves)


@pytest.mark.requirement(
    *("INV-01", "INV-02", "INV-03", "INV-04", "INV-05", "INV-06", "INV-07", "INV-08", "INV-10", "INV-11")
)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rounds=ROUNDS)
async def test_every_invariant_holds_after_every_round(stage: JobStage, rounds: list[list[Move]]) -> None:
    await driven(stage, rounds)


@pytest.mark.long
@settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck))
@given(rounds=st.lists(st.lists(MOVES, min_size=1, max_size=5), min_size=10, max_size=40))
async def test_every_invariant_holds_after_many_rounds(stage: JobStage, rounds: list[list[Move]]) -> None:
    await driven(stage, rounds)
