"""Owns measuring what background jobs take of the server to be read: every filter's first page and a later one, counts, one
job, finding, with ten million jobs and with a hundred thousand. The jobs themselves: `job_rows.py`.
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks.figures import Figure, p95, percentile
from benchmarks.ground import TENANT, Ground
from benchmarks.job_rows import PERSON, ready
from jobcontract.job_states import JobView
from jobcontract.states import Role
from jobservice.bootstrap.dev import API
from jobservice.store.database import Database
from jobservice.store.first_plans import plan_jobs
from jobservice.store.patience import PatientConnection
from jobservice.usecases.actor import Actor
from jobservice.usecases.finding import find
from jobservice.usecases.job_listing import Asked, count_jobs, list_jobs
from jobservice.usecases.job_reading import read_job
from jobservice.usecases.service import Service

PART = "jobs"
MUCH, LITTLE = "jobs_much", "jobs_little"
ROWS, FEW = 10_000_000, 100_000
LIMIT_MS, RATIO = 50.0, 2.0
ROUNDS, CALLS = 5, 20
LATER = 5
"""Pages before the later page."""
FILTERS: Mapping[str, str] = {
    "unresolved failures, as the screen opens": "is:unresolved",
    "all": "",
    "status:failed": "status:failed",
    "status:running": "status:running",
    "status:succeeded,failed": "status:succeeded,failed",
    "a common kind": "kind:k.2",
    "a rare kind": "kind:k.rare",
    "a kind's cancelled": "kind:k.2 status:cancelled",
    "error": 'error:"account closed"',
    "error of many": "error:failure",
    "of one person": "requester:p.7",
    "of one person, who seldom asks": "requester:p.rare",
    "of nobody": "requester:none",
    "of a large customer": "scope:C-large",
    "of a small customer": "scope:C-4711",
    "older than 30 days": "age>30d",
    "30 days, a kind, failed": "age>30d kind:k.2 status:failed",
    "retried": "is:retried",
    "cancelling": "is:cancelling",
    "one by its identity": "identity-{middle}",
    "one by its failure reference": "f-1",
    "person and rare kind": "requester:p.7 kind:k.rare",
    "person, customer and status": "requester:p.7 scope:C-large status:cancelled",
    "large customer's unresolved": "scope:C-large is:unresolved",
    "never together": "requester:none scope:C-large kind:k.2 status:cancelled is:unresolved",
    "never together, none of them rare": "requester:p.7 kind:k.2 age<20d scope:C-large",
    "error of a person": 'error:"account closed" requester:p.7',
}


@dataclass(slots=True)
class _Side:
    """One of the two databases."""

    service: Service
    rows: int
    found: dict[str, list[float]] = field(default_factory=dict)
    first: dict[str, float] = field(default_factory=dict)
    held: dict[str, int] = field(default_factory=dict)


Call = Callable[[_Side], Awaitable[int]]


async def measure(ground: Ground) -> AsyncIterator[Figure]:
    """Every filter, count, job and find."""
    rows = int(os.environ.get("BENCHMARK_JOBS", ROWS))
    for database, many in ((MUCH, rows), (LITTLE, FEW)):
        await ready(ground, database, many)
    async with ground.service(MUCH, most=4) as much, ground.service(LITTLE, most=4) as little:
        sides = (_Side(service=little, rows=FEW), _Side(service=much, rows=rows))
        calls = _calls()
        await _round(calls, sides, first=True)
        as_long = _as_long(calls, *sides)
        await _round(as_long, sides, first=True)
        calls |= as_long
        for _ in range(ROUNDS):
            await _round(calls, sides)
        for figure in _figures(calls, *sides):
            yield figure
    for name, plans in (("planned as it is made", plan_jobs), ("as the server gives it", None)):
        yield await _opening(ground, name, plans)


async def _round(calls: Mapping[str, Call], sides: tuple[_Side, _Side], *, first: bool = False) -> None:
    """Each call on both sides in turn. The first round warms caches and prepares statements."""
    for name, call in calls.items():
        for side in sides:
            took, held = await _timed(call, side, 5 if first else CALLS)
            side.held[name] = held
            if first:
                side.first[name] = took[0]
            else:
                side.found.setdefault(name, []).append(p95(took))


async def _opening(ground: Ground, name: str, plans: Callable[[PatientConnection], Awaitable[None]] | None) -> Figure:
    """What opening the list of jobs takes on a connection that nobody had yet."""
    took = []
    for _ in range(ROUNDS * 2):
        database = await Database.open(ground.url(API, MUCH), name="benchmark", most=1, ready=plans)
        try:
            async with database.transaction(TENANT):
                pass  # the connection is there
            service = ground.service_over(database)
            took += (await _timed(_Page(text="", view=JobView.UNRESOLVED), _Side(service=service, rows=ROWS), 1))[0]
        finally:
            await database.close()
    what = f"the list as it opens, on a new connection, {name}"
    return Figure(part=PART, what=what, unit="ms", rounds=tuple(took), at_most=LIMIT_MS)


def _figures(calls: Mapping[str, Call], few: _Side, many: _Side) -> list[Figure]:
    figures = [
        Figure(
            part=PART,
            what=f"{name}, {many.rows:,} jobs: p95 of {CALLS}",
            unit="ms",
            rounds=tuple(many.found[name]),
            # A count goes up to its bound, and has nothing to go up to where there is little: it has the limit alone.
            peer=None if name.startswith("counts") else f"{few.rows:,} jobs",
            peer_rounds=() if name.startswith("counts") else tuple(few.found[name]),
            at_most=LIMIT_MS if name.startswith("counts") else RATIO,
            note=f"{many.held[name]} rows beside {few.held[name]}; the very first call {many.first[name]:.0f} ms",
        )
        for name in calls
    ]
    slowest = max(calls, key=lambda name: percentile(many.found[name], 50))
    figures.append(
        Figure(
            part=PART,
            what=f"the slowest of them, {slowest}: p95",
            unit="ms",
            rounds=tuple(many.found[slowest]),
            at_most=LIMIT_MS,
        )
    )
    return figures


async def _timed(call: Call, side: _Side, number: int) -> tuple[list[float], int]:
    took, held = [], 0
    for _ in range(number):
        began = time.perf_counter()
        held = await call(side)
        took.append((time.perf_counter() - began) * 1_000)
    return took, held


def _actor(**more: Any) -> Actor:
    return Actor(person=PERSON, tenant=TENANT, role=Role.OPERATOR, reference="benchmark", **more)


SUPPORT: Mapping[str, Any] = {"customers": tuple(f"C-{number}" for number in range(20))}
"""The reach of a person of support."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    """A page of a filter: the first, or the one behind so many. `reach`: what of the tenant its reader sees."""

    text: str
    view: JobView = JobView.ALL
    pages: int = 0
    most: int = 100
    reach: Mapping[str, Any] = field(default_factory=dict)
    marks: dict[int, Any] = field(default_factory=dict)

    async def __call__(self, side: _Side) -> int:
        """Read it; how many rows it has."""
        asked = Asked(view=self.view, filter=self.text.format(middle=side.rows // 2), limit=self.most)
        if side.rows not in self.marks:
            mark = None
            for _ in range(self.pages):
                mark = (await list_jobs(side.service, _actor(**self.reach), asked, mark)).last
            self.marks[side.rows] = mark
        return len((await list_jobs(side.service, _actor(**self.reach), asked, self.marks[side.rows])).jobs)


def _as_long(calls: Mapping[str, Call], few: _Side, many: _Side) -> dict[str, Call]:
    """The pages that are longer where there is more, once more, and as long as where there is little: rows cost what they
    cost, however many there are that are not on the page."""
    return {
        f"{name}, {few.held[name]} rows a page": replace(call, most=few.held[name])
        for name, call in calls.items()
        if isinstance(call, _Page) and 0 < few.held[name] < many.held[name]
    }


def _counted(text: str, *, view: JobView = JobView.ALL, **reach: Any) -> Call:
    async def call(side: _Side) -> int:
        return (await count_jobs(side.service, _actor(**reach), Asked(view=view, filter=text))).listed.count

    return call


def _sought(text: str) -> Call:
    async def call(side: _Side) -> int:
        return len((await find(side.service, _actor(), text.format(middle=side.rows // 2))).found)

    return call


async def _one(side: _Side) -> int:
    job = (await list_jobs(side.service, _actor(), Asked(view=JobView.ALL, limit=1))).jobs[0].id
    return len((await read_job(side.service, _actor(), job)).job.events)


def _calls() -> dict[str, Call]:
    """What is measured, by name; each says how many rows it had."""
    return {
        **{name: _Page(text=text) for name, text in FILTERS.items()},
        "a later page of a kind": _Page(text="kind:k.2", pages=LATER),
        "unresolved failures of 20 customers, for support": _Page(text="", view=JobView.UNRESOLVED, reach=SUPPORT),
        "counts as the screen opens": _counted("", view=JobView.UNRESOLVED),
        "counts of all": _counted(""),
        "counts of a kind": _counted("kind:k.2"),
        "counts of a combination": _counted("requester:p.7 scope:C-large status:cancelled"),
        "counts for support": _counted("", view=JobView.UNRESOLVED, **SUPPORT),
        "the latest job, and all of it": _one,
        "find a submission identity": _sought("identity-{middle}"),
        "find a person": _sought("p.7"),
        "find nothing": _sought("no-such-thing"),
    }
