"""Schedules under faults: Workers whose clocks are wrong are killed, frozen, cut off, restarted, harmed by what they run,
and the server is stopped and killed. Nothing is lost, nothing completed twice, every effect accepted once.

Short here; `make faults` sets FAULTS_OCCURRENCES and has a server of its own to kill. The seed is in every failure, and
FAULTS_SEED repeats it. Then single faults, one by one.
"""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psycopg
import pytest

from jobservice.cluster import Cluster
from jobservice.embedded import NEWEST, server_user, wheel_programs
from jobservice.migrate import migrate
from jobservice.store.database import Database
from jobservice.usecases.service import Service
from tests.conftest import TENANTS, Server
from tests.fakes.line import Line
from tests.fakes.waiting import eventually
from tests.faults.schedule_jobs import SCENARIOS, Jobs, records
from tests.faults.schedule_judge import CURSOR_LOG, CURSOR_LOG_ENDS, Judge
from tests.faults.schedule_people import Operator
from tests.faults.schedule_worker import Order
from tests.faults.schedule_world import FROZEN, Chaos, Nursery, WorkerProcess, workers

pytestmark = pytest.mark.xdist_group("schedule-faults")  # the processes that fork Workers are started once
OCCURRENCES = int(os.environ.get("FAULTS_OCCURRENCES", "40"))
SEED = int(os.environ.get("FAULTS_SEED", str(random.SystemRandom().randrange(1_000_000))))
LONG = OCCURRENCES > 200
AT_MOST = 180.0 if LONG else 60.0
"""Seconds of faults; then this part of the occurrences must have ended."""
LEAST = 0.1 if LONG else 1.0
FAULTS = (
    *("kill", "freeze", "cut") * 4,
    *("end", "end", "swallow", "swallow", "stop-server", "kill-server"),
)
"""What happens, as often as it stands here."""
ACTS = ("replay completed", "confirm recovery", "disable", "enable", *(("replay dead-letter", "drain") if LONG else ()))
"""What a person has to have done, too."""
DRAIN_MOST = 330.0 if LONG else 120.0
"""Retries of one lock wait behind what was due before them: on a busy machine that is a minute for each."""
MORE_TENANTS = ("initech",)


@dataclass(frozen=True, kw_only=True)
class Ground:
    """A database to work on as `url` says, where people act as `people` says, to look into as `admin` says, and its server
    where that may be killed."""

    url: str
    people: str
    admin: str
    tenants: tuple[str, ...]
    server: Server | None = None

    def rows(self, query: str, *values: object) -> list[Any]:
        """Rows past the walls; on a new connection, as the server may have been killed since the last look."""
        with psycopg.connect(self.admin, autocommit=True) as connection:
            return connection.execute(query.encode(), values).fetchall()

    def one(self, query: str, *values: object) -> Any:
        """The one value of a query."""
        ((value,),) = self.rows(query, *values)
        return value

    def ended(self) -> int:
        """How many occurrences ended."""
        return int(self.one("select count(*) from jobs.occurrences where ended_at is not null"))


@pytest.fixture
def hard_server(run_folder: Path) -> Iterator[Server]:
    """A PostgreSQL that keeps what it committed when it is killed."""
    folder = run_folder / "hard"
    folder.mkdir(mode=0o711)
    folder.chmod(0o711)
    options = {"fsync": "off", "full_page_writes": "off", "max_connections": "200"}
    server = Server(
        cluster=Cluster(folder=folder, programs=wheel_programs(NEWEST), user=server_user(), options=options)
    )
    server.cluster.start()
    try:
        with server.superuser() as connection:
            connection.execute("create role jobs_owner login createrole")
        server.create_database("jobs")
        migrate(server.url("jobs_owner", "jobs"))
        yield server
    finally:
        server.cluster.stop()
        shutil.rmtree(folder)


@pytest.fixture
def ground(request: pytest.FixtureRequest) -> Iterator[Ground]:
    """The run's own database in the short form, a server of its own in the long one; with a log of every cursor."""
    if LONG:
        server = request.getfixturevalue("hard_server")
        names = (*TENANTS, *MORE_TENANTS)
        with server.superuser("jobs") as connection:
            connection.cursor().executemany(
                "insert into jobs.tenants (id, name) values (%s, %s)", [(each, each) for each in names]
            )
            connection.execute(CURSOR_LOG)
        url, people, admin = (server.url(role, "jobs") for role in ("jobs_worker", "jobs_api", "postgres"))
        yield Ground(url=url, people=people, admin=admin, tenants=names, server=server)
        return
    connection = request.getfixturevalue("superuser")
    request.getfixturevalue("people")
    url = request.getfixturevalue("database_url")
    connection.execute(CURSOR_LOG)
    yield Ground(url=url("jobs_worker"), people=url("jobs_api"), admin=url("postgres"), tenants=tuple(TENANTS))
    connection.execute(CURSOR_LOG_ENDS)


@pytest.mark.timeout(AT_MOST + DRAIN_MOST + 120)
@pytest.mark.requirement(
    "prevent-duplicate-completion",
    "tolerate-duplicate-execution",
    "generate-monotonic-fencing-values",
    "restrict-completion-by-fencing-value",
    "treat-unavailable-schedule-stores-as-outages",
    "exclude-machine-local-time",
)
async def test_whatever_happens_every_instant_is_accounted_for_once(
    forks: tuple[Nursery, ...], ground: Ground, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = "chaos" if LONG else "mild"
    order = Order(
        url=ground.url,
        folder=str(tmp_path),
        scenario=scenario,
        lease=3.0,  # a busy machine renews late
        seed=SEED,
        freezes_before_settling=0.004 if LONG else 0.2,
        freezes_once=not LONG,
    )
    async with AsyncExitStack() as stack:
        line = await stack.enter_async_context(Line(ground.url))
        team = [WorkerProcess(nursery=each, order=order) for each in forks]
        team[0].order = replace(order, url=line.url)
        stack.enter_context(workers(*team))
        world = Chaos(
            workers=team,
            chance=random.Random(SEED),  # noqa: S311  # it picks moments, no secret
            lease=order.lease,
            line=line,
            server=ground.server,
        )
        for each in team:
            await asyncio.to_thread(each.start)
        wrong_clocks(team)
        schedules = len(ground.tenants) * len(SCENARIOS[scenario])
        await eventually(lambda: ground.one("select count(*) from jobs.schedules") == schedules, what="all are planned")
        planned = ground.one("select jobs.now()")
        operator = await stack.enter_async_context(operating(ground, scenario, tmp_path))
        seconds = await faults(world, ground, operator)
        until = ground.one("select jobs.now()")
        await world.calm(anew=LONG)
        await drained(world, ground, until)
    with psycopg.connect(ground.admin, autocommit=True) as connection:
        judge = Judge(
            connection=connection,
            schedules={each.id: each for each in SCENARIOS[scenario]},
            tenants=ground.tenants,
            seed=SEED,
            folder=tmp_path,
            began=planned,
            until=until,
            off=operator.off,
            drained=operator.drained,
        )
        verdict = judge.verdict()
    happened = ", ".join(f"{times} {what}" for what, times in sorted((world.happened + operator.acted).items()))
    if LONG:
        with capsys.disabled():
            print(  # noqa: T201  # the report is what the suite is run for
                f"\nSchedules under faults, seed {SEED}, {seconds:.0f} s: {happened}\n{verdict.report()}"
            )
    assert verdict.wrong == [], f"FAULTS_SEED={SEED}, after {happened}:\n" + "\n".join(verdict.wrong)
    idle = [each for each in ACTS if not operator.acted[each]]
    assert not idle, f"FAULTS_SEED={SEED}: nobody did {idle} ({happened})"
    stale = verdict.figures.get("stale writes refused: completion", 0)
    assert stale > 0, f"FAULTS_SEED={SEED}: no completion came too late, so nothing was tested ({happened})"


@asynccontextmanager
async def operating(ground: Ground, scenario: str, folder: Path) -> AsyncIterator[Operator]:
    """An operator with the records of the Workers and a database of the API."""
    schedules = SCENARIOS[scenario]
    database = await Database.open(ground.people, name="faults people", most=4, wait_seconds=2.0)
    service = Service(
        database=database,
        records=records(schedules),
        application=Jobs(folder=folder, seed=SEED, slow_seconds=0.0).application(schedules),
        deployment="faults",
    )
    chance = random.Random(SEED)  # noqa: S311  # it picks acts, no secret
    operator = Operator(service=service, rows=ground.rows, tenants=ground.tenants, chance=chance)
    with psycopg.connect(ground.admin, autocommit=True) as connection:
        operator.hired(connection)
    try:
        yield operator
    finally:
        await database.close()


async def faults(world: Chaos, ground: Ground, operator: Operator) -> float:
    """Let things happen until enough occurrences ended, while a person acts; how long that took, seconds."""
    start, over = time.monotonic(), asyncio.Event()
    async with asyncio.TaskGroup() as group:
        group.create_task(operator.work(over) if LONG else acts_once(operator, ground))
        try:
            await hurt(world, ground, start)
        finally:
            over.set()
    return time.monotonic() - start


async def acts_once(operator: Operator, ground: Ground) -> None:
    """What a person does in the short form: each act once, as soon as something ended."""
    await eventually(lambda: ground.ended() > 8, what="something ended")
    await operator.replay_one("completed")
    await operator.replay_stretch(again=False)
    await operator.switch(0.5)


async def hurt(world: Chaos, ground: Ground, start: float) -> None:
    """Have things happen until enough occurrences ended."""
    due = start + 1.5
    while not enough(world, ground) and time.monotonic() < start + AT_MOST:
        await world.tend()
        if time.monotonic() >= due and (LONG or not world.happened["kill"]):
            await world.happen(world.chance.choice(FAULTS) if LONG else "kill")
            due = time.monotonic() + world.chance.uniform(1.0, 4.0)
        await asyncio.sleep(0.1)
    # A busy machine does less in that time: what it did is judged.
    assert ground.ended() >= OCCURRENCES * LEAST, (
        f"FAULTS_SEED={SEED}: {ground.ended()} of {OCCURRENCES} ended in {AT_MOST:g} s, after {world.happened}"
    )


async def drained(world: Chaos, ground: Ground, until: Any) -> None:
    """Wait until all up to that instant ended, and all that was missed is decided. What runs still harms its Worker."""
    open_ = "select tenant, schedule, scheduled_at, state, attempts, error from jobs.occurrences where ended_at is null"
    late = "select tenant, schedule, planned_until from jobs.schedules where planned_until < %s"
    going = "select name, state, why, 0, 0 from jobs.recoveries where state <> 'dropped' and over_at is null"
    end = time.monotonic() + DRAIN_MOST
    while (
        (left := ground.rows(f"{open_} and scheduled_at <= %s", until))
        or (left := ground.rows(late, until))
        or (left := ground.rows(going))
    ):
        assert time.monotonic() < end, f"FAULTS_SEED={SEED}: not drained after {DRAIN_MOST:g} s: {left[:10]}"
        await world.tend()
        await asyncio.sleep(0.1)


def enough(world: Chaos, ground: Ground) -> bool:
    """Whether so many ended, and somebody was killed and somebody frozen as it was about to complete a run."""
    thawed = not any(each.thaw_at for each in world.workers)  # its lease was over before
    return thawed and min(world.happened["kill"], world.happened[FROZEN]) > 0 and ground.ended() >= OCCURRENCES


def wrong_clocks(team: list[WorkerProcess]) -> None:
    """Every Worker is ready, and believes in a time that is hours or years wrong."""
    for each in team:
        said = each.ready()
        for clock in ("time", "now"):
            off = said[clock] - said["heard"]
            assert abs(off - each.nursery.shift) < 30, f"{clock} of {each.nursery.name} is {off:g} s off"
    assert min(abs(each.nursery.shift) for each in team) > 3_600
