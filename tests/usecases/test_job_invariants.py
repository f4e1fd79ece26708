"""INV-01 to INV-12: random interleavings of people, Workers, crashes and reconciliations; and each refused by the database
itself, whoever writes past the code.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jobcontract import jobs as wire
from jobcontract.job_states import JobStatus, JobView
from jobcontract.jobs import CancelJob, ResolveJob, RetryJob, RevealJob, SubmitJob
from jobcontract.wire import Wire
from jobservice.usecases import job_acts, job_orders
from jobservice.usecases.job_listing import Asked, list_jobs
from jobservice.usecases.job_reading import list_events, read_job
from tests.usecases.desk import once
from tests.usecases.job_desk_stage import SINGLE, SYNC, JobStage, job_stage
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
    "INV-01", "INV-02", "INV-03", "INV-04", "INV-05", "INV-06", "INV-07", "INV-08", "INV-10", "INV-11"
)
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rounds=ROUNDS)
async def test_every_invariant_holds_after_every_round(stage: JobStage, rounds: list[list[Move]]) -> None:
    await driven(stage, rounds)


@pytest.mark.long
@settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck))
@given(rounds=st.lists(st.lists(MOVES, min_size=1, max_size=5), min_size=10, max_size=40))
async def test_every_invariant_holds_after_many_rounds(stage: JobStage, rounds: list[list[Move]]) -> None:
    await driven(stage, rounds)


HIDDEN = {"execution_handle", "handle", "row_version", "version", "fence", "holder"}


@pytest.mark.requirement("INV-12")
def test_no_wire_model_of_jobs_has_a_member_for_the_handle_or_the_row_version() -> None:
    models = [each for each in vars(wire).values() if isinstance(each, type) and issubclass(each, Wire)]
    assert len(models) > 20
    for model in models:
        assert not HIDDEN & set(model.model_fields), model
        assert model is Wire or model.model_config["extra"] in ("forbid", "ignore"), model


def names_in(value: Any) -> Iterator[str]:
    """Every name of a member in an answer, however deep."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from names_in(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from names_in(inner)


@pytest.mark.requirement("INV-12")
async def test_no_answer_about_a_job_has_the_handle_or_the_row_version(stage: JobStage) -> None:
    service, actor = stage.service, stage.people.actor("o.lind")
    failed = await stage.submit(SYNC, inputs={"pages": 3})
    await stage.carried(failed.id, JobStatus.FAILED)
    running = await stage.submit(SINGLE)
    await stage.carried(running.id, JobStatus.RUNNING)
    order = SubmitJob(kind=SINGLE, submission_identity="W-1")
    reveals, resolves = RevealJob(reason="Look"), ResolveJob(reason="By hand", ticket="OPS-1")
    answered = [
        await job_orders.submit(service, actor, order, once()),
        await job_acts.retry(service, actor, failed.id, RetryJob(reason="Again"), once()),
        await job_acts.resolve(service, actor, failed.id, resolves, once()),
        await job_acts.reveal(service, actor, failed.id, reveals, once()),
        await job_acts.cancel(service, actor, running.id, CancelJob(reason="No"), once()),
    ]
    bodies = [json.loads(json.dumps(each.body)) for each in answered]
    page = await list_jobs(service, actor, Asked(view=JobView.ALL))
    bodies += [each.model_dump(mode="json") for each in page.jobs]
    for job in (failed.id, running.id):
        bodies.append((await read_job(service, actor, job)).job.model_dump(mode="json"))
        page_of = await list_events(service, actor, job, before=None, limit=50)
        bodies += [each.model_dump(mode="json") for each in page_of.events]
    handles = stage.people.connection.execute("select execution_handle from jobs.jobs").fetchall()
    assert len(handles) == 4
    for body in bodies:
        assert not HIDDEN & set(names_in(body)), body
        assert all(handle not in json.dumps(body) for (handle,) in handles)
