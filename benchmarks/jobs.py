"""Owns the jobs that are measured: a use case that does nothing, a selection of as many items as wanted, schedules as
values for a Runner in this process, and as records for a Worker process of its own.

`python -m jobservice worker` with `benchmarks.jobs:application` reads the records that `write_records` put into the folder
that `RECORDS` names. Its use case writes when it began, on the monotonic clock that all processes of a machine share.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from examples.payments import application as example
from jobcontract.interfaces import interface_of
from jobcontract.operating import Procedure
from jobcontract.states import Moves, ScheduleType
from jobservice.application import Application, JobCall, JobItem, Outcome, Selecting, SelectionFunction, done
from jobservice.records import RecordSet
from jobservice.rules.rhythms import Every
from jobservice.rules.schedules import Backoff, Itself, JobUseCase, Registered, Schedule, Selection

RECORDS, BEGINNINGS = "BENCHMARK_RECORDS", "BENCHMARK_BEGINNINGS"
"""Variables of a Worker process: the folder of its records, the file that its use case writes to."""
USE_CASE, SELECTION = "benchmark.nothing", "benchmark.numbers"
BATCH_SIZE = 500
OF_MONEY = ("answers-*", "armed-*", "limits-*", "singles-*", "occurrences-keep-frequent.yaml")
"""Settings of the example that nothing here reads."""
ANCHOR = datetime(2026, 1, 1, tzinfo=UTC)

NOTHING = f"""kind: use-case
id: {USE_CASE}
title: Do nothing
moves: nothing
batch: true
audit: {{target: occurrence, reason: {{mode: none, reason: it is measured}}}}
"""
JOB = """kind: job
id: {identifier}
title: Nothing, number {number}
type: scheduled
schedule: {{every: PT1H, anchor: {anchor:%Y-%m-%dT%H:%M:%SZ}}}
misfire: {{policy: once}}
misfireAfter: PT10M
selection: {{mode: itself}}
runs: benchmark.nothing
path: {path}
bound: PT1M
attempts: 3
backoff: {{first: PT1S, most: PT10S}}
tenants: {{mode: all}}
retention: occurrences.keep
"""

RUNBOOK = """kind: runbook
id: {identifier}.{procedure}
schedule: {identifier}
procedure: {procedure}
title: Nothing to {procedure}
interface: {{route: {interface.route.name}}}
command: "{interface.command}"
may: {interface.route.permission}
steps: [Nothing is to be done.]
claimed: It ends.
"""
INTERFACES = {
    Procedure.INSPECT: interface_of("schedule"),
    Procedure.REPLAY: interface_of("replay-occurrence"),
    Procedure.DISABLE: interface_of("disable-schedule"),
}


def schedule(identifier: str, *, selection: Selection | None = None, batch: bool = False) -> Schedule:
    """A schedule that runs the use case that does nothing; without a selection it is its own item."""
    own = selection or Itself()
    return Schedule(
        id=identifier,
        title="Nothing",
        type=ScheduleType.SCHEDULED,
        rhythm=Every(seconds=3_600, anchor=ANCHOR),
        reason=None,
        misfire=None,
        selection=own,
        batch_size=1 if isinstance(own, Itself) else BATCH_SIZE,
        runs=USE_CASE,
        batch_path=batch,
        cursor=None,
        lock=identifier,
        bound_seconds=600.0,
        attempts=3,
        backoff=Backoff(first_seconds=1.0, most_seconds=10.0),
        tenants=None,
        retention="occurrences.keep",
        retention_seconds=90 * 86_400.0,
        guard=None,
        runs_where=None,
    )


def records_with(found: RecordSet, *schedules: Schedule) -> RecordSet:
    """These records with other schedules, that all run the one use case."""
    use_case = JobUseCase(id=USE_CASE, title="Do nothing", moves=Moves.NOTHING, batch=True)
    return replace(found, schedules={each.id: each for each in schedules}, job_use_cases={USE_CASE: use_case}, bulk={})


def numbers(count: int) -> SelectionFunction:
    """A selection of so many items."""

    async def selection(_selecting: Selecting, after: str | None, limit: int) -> Sequence[JobItem]:
        start = 0 if after is None else int(after) + 1
        return [JobItem(key=f"{n:09}", label=f"Item {n}") for n in range(start, min(start + limit, count))]

    return selection


async def nothing(call: JobCall, item: JobItem) -> Outcome:  # noqa: ARG001  # every use case takes both
    """The use case that does nothing."""
    return done("Nothing to do.")


def application_over(items: int) -> Application:
    """An application for a Runner in this process: the selection has so many items."""
    made = Application("benchmark", Path(__file__).parent)
    made.use_cases[USE_CASE] = nothing
    made.selections[SELECTION] = numbers(items)
    return made


def over_items(identifier: str, *, batch: bool = False) -> Schedule:
    """A schedule over the selection."""
    return schedule(identifier, selection=Registered(id=SELECTION), batch=batch)


def write_records(folder: Path, identifiers: Iterable[str], *, anchor: datetime, path: str) -> None:
    """Records of schedules that are due at `anchor` and each hour from there; the folder has no others after that."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(example.records / "settings", folder / "settings", ignore=shutil.ignore_patterns(*OF_MONEY))
    (folder / "nothing.yaml").write_text(NOTHING, "utf-8")
    for number, identifier in enumerate(identifiers):
        text = JOB.format(identifier=identifier, number=number, anchor=anchor, path=path)
        (folder / f"{identifier}.yaml").write_text(text, "utf-8")
        for procedure, interface in INTERFACES.items():
            runbook = RUNBOOK.format(identifier=identifier, procedure=procedure, interface=interface)
            (folder / f"{identifier}.{procedure}.yaml").write_text(runbook, "utf-8")


def _process_application() -> Application:
    """What a Worker process runs."""
    made = Application("benchmark", Path(os.environ.get(RECORDS, tempfile.gettempdir())))
    name = os.environ.get(BEGINNINGS)
    file = None if name is None else os.open(name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    async def stamped(call: JobCall, item: JobItem) -> Outcome:  # noqa: ARG001  # every use case takes both
        began = time.monotonic()
        if file is not None:
            os.write(file, f"{call.tenant} {call.schedule} {began!r}\n".encode())
        return done("Nothing to do.")

    made.use_cases[USE_CASE] = stamped
    return made


application = _process_application()
