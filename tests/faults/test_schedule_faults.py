"""Single faults of schedules, one by one, with Workers that are processes of their own: killed by what they run, killed
between effect and completion, frozen in the middle of a transaction, started again at once, blocked."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.conftest import People
from tests.fakes.waiting import eventually
from tests.faults.schedule_jobs import SHORT_BOUND, THINGS
from tests.faults.schedule_worker import Order
from tests.faults.schedule_world import Nursery, WorkerProcess, begun
from tests.occurrence_rows import OccurrenceRows

pytestmark = pytest.mark.xdist_group("schedule-faults")  # the processes that fork Workers are started once


BOUND_AND = SHORT_BOUND + 1.5
"""Seconds after which a loop that is blocked past a run's bound is seen to be."""


@dataclass(slots=True, kw_only=True)
class Scene:
    """Occurrences put by hand, and Workers with short leases that run them."""

    rows: OccurrenceRows
    order: Order
    nurseries: tuple[Nursery, ...]
    started: list[WorkerProcess] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        """Where beginnings are written."""
        return Path(self.order.folder)

    def worker(self, number: int = 0, **changes: Any) -> WorkerProcess:
        """A Worker of that nursery, started."""
        worker = WorkerProcess(nursery=self.nurseries[number], order=replace(self.order, **changes))
        self.started.append(worker)
        worker.start()
        return worker

    def starts(self, schedule: str) -> int:
        """How often a use case of it began."""
        return sum(each["schedule"] == schedule for each in begun(self.folder))

    def effects(self, schedule: str) -> Counter[str]:
        """Accepted effects, by the key of their items."""
        found = self.rows.all("select business_key from jobs.items where business_key like %s", f"acme {schedule}@%")
        return Counter(row["business_key"].split(" ")[2] for row in found)

    def endings(self, occurrence: UUID) -> list[tuple[int, str]]:
        """Fence and ending of its attempts."""
        return [(each["fence"], each["ending"]) for each in self.rows.attempts(occurrence)]

    async def until(self, what: str, true: Callable[[], bool], seconds: float = 60.0) -> None:
        """Wait until it is so."""
        try:
            await eventually(true, what=what, seconds=seconds)
        except AssertionError as late:
            log = self.folder / "workers.log"
            told = log.read_text().splitlines()[-15:] if log.exists() else []
            raise AssertionError("\n".join((str(late), *told))) from None

    async def ends(self, *occurrences: UUID, seconds: float = 60.0) -> None:
        """Wait until they ended."""

        def all_ended() -> bool:
            return all(self.rows.one(each)["ended_at"] for each in occurrences)

        await self.until("all end", all_ended, seconds)

    def go(self) -> None:
        """Let held runs go on."""
        (self.folder / "go").touch()


@contextmanager
def cleaned(scene: Scene) -> Iterator[Scene]:
    """Whatever Workers are left are killed."""
    try:
        yield scene
    finally:
        for worker in scene.started:
            worker.kill()


@pytest.fixture
def scene(
    forks: tuple[Nursery, ...],
    superuser: psycopg.Connection[Any],
    people: People,
    database_url: Callable[[str], str],
    tmp_path: Path,
) -> Iterator[Scene]:
    """The scene over the run's own database."""
    order = Order(url=database_url("jobs_worker"), folder=str(tmp_path), scenario="single", lease=1.0, plans=False)
    with cleaned(Scene(rows=OccurrenceRows(superuser), order=order, nurseries=forks)) as made:
        yield made


@pytest.mark.requirement("RETRY-01", "bound-job-retries")
async def test_a_run_that_kills_its_worker_starts_three_times_and_ten_others_complete(scene: Scene) -> None:
    killer = scene.rows.add("one.kills", due=-1)
    others = [scene.rows.add("one.plain", lock=f"lock {number}") for number in range(10)]
    worker, deaths = scene.worker(), 0
    end = time.monotonic() + 60
    while not all(scene.rows.one(each)["ended_at"] for each in (killer, *others)):
        assert time.monotonic() < end, "they do not end"
        if worker.ended():
            deaths += 1
            worker = scene.worker()
        await asyncio.sleep(0.02)
    row = scene.rows.one(killer)
    assert (row["state"], row["cause"], row["attempts"]) == ("dead-letter", "worker-lost", 3)
    assert row["error"].startswith("Worker was lost 3 times, at last on ")
    assert scene.endings(killer) == [(1, "lost"), (2, "lost"), (3, "lost")]
    assert (scene.starts("one.kills"), deaths) == (3, 3)
    assert [scene.rows.one(each)["state"] for each in others] == ["completed"] * 10
    assert scene.effects("one.plain") == {"itself": 10}
    assert scene.effects("one.kills") == {}, "what it did before it died is undone"


@pytest.mark.requirement("tolerate-duplicate-execution", "prevent-duplicate-completion")
async def test_a_worker_killed_between_effect_and_completion_costs_no_second_effect(scene: Scene) -> None:
    things, plain = scene.rows.add("one.things"), scene.rows.add("one.plain")
    dying = scene.worker(dies_before_settling=True)
    await asyncio.to_thread(dying.wait_end)
    done = scene.effects("one.things") + scene.effects("one.plain")
    assert sum(done.values()) >= 1, "it had effects that are committed"
    assert {scene.rows.one(each)["state"] for each in (things, plain)} == {"processing"}
    scene.worker(1)
    await scene.ends(things, plain)
    for each in (things, plain):  # on a busy machine the second may lose a lease of one second, too
        endings = scene.endings(each)
        assert (endings[0], endings[-1][1]) == ((1, "lost"), "completed")
    assert scene.effects("one.things") == dict.fromkeys(THINGS, 1)
    assert scene.effects("one.plain") == {"itself": 1}
    assert scene.rows.one(things)["done"] == len(THINGS)


@pytest.mark.requirement("LEASE-01", "restrict-completion-by-fencing-value", "renew-only-owned-leases")
async def test_a_worker_frozen_inside_a_transaction_hangs_nobody_and_is_refused_when_it_wakes(scene: Scene) -> None:
    """It has the row of an item locked. The server ends its transaction; until then that item waits, and nothing else."""
    occurrence = scene.rows.add("one.freezes")
    frozen = scene.worker(idle_margin=3.0)
    await scene.until("it froze", lambda: bool(frozen.lines("frozen")))
    plain = scene.rows.add("one.plain")
    scene.worker(1, idle_margin=3.0)
    await scene.ends(plain, seconds=20)
    assert scene.rows.one(occurrence)["state"] != "completed", "its item is locked still"
    await scene.ends(occurrence, seconds=30)
    row = scene.rows.one(occurrence)
    assert (row["state"], row["done"]) == ("completed", 2)
    assert row["fence"] > 1
    frozen.thaw()
    await scene.until("it was refused", lambda: bool(scene.rows.refused()))
    assert {(refused, fence) for refused, fence, _ in scene.rows.refused()} == {(occurrence, 1)}
    endings = scene.endings(occurrence)
    assert (endings[0], endings[-1]) == ((1, "lost"), (row["fence"], "completed"))
    assert scene.effects("one.freezes") == {"freezes": 1, "other": 1}
    assert scene.rows.one(occurrence) == row, "what it still wanted to write changed nothing"


@pytest.mark.requirement("LEASE-04", "generate-monotonic-fencing-values")
@pytest.mark.parametrize("cleaned_up", [False, True], ids=["its row stays", "its row is gone"])
async def test_a_worker_started_anew_on_the_same_host_does_not_adopt(scene: Scene, *, cleaned_up: bool) -> None:
    occurrence = scene.rows.add("one.held")
    first = scene.worker()
    await scene.until("it began", lambda: scene.starts("one.held") == 1)
    before = first.ready()["incarnation"]
    first.kill()
    if cleaned_up:
        scene.rows.connection.execute("delete from jobs.workers")
    second = scene.worker()
    plain = scene.rows.add("one.plain")
    await scene.ends(plain)
    await scene.until("it began again", lambda: scene.starts("one.held") == 2)
    row, lost = scene.rows.one(occurrence), scene.rows.attempts(occurrence)
    assert {each["ending"] for each in lost} == {"lost"}
    assert (row["fence"], row["attempts"]) == (len(lost) + 1, len(lost) + 1)
    assert row["taken_at"] >= lost[0]["expires_at"], "not before the lease ran out by itself"
    assert str(row["holder"]) == second.ready()["incarnation"] != before
    scene.go()
    await scene.ends(occurrence)
    assert scene.effects("one.held") == {"itself": 1}


@pytest.mark.requirement("bound-job-duration")
async def test_a_run_that_blocks_its_worker_is_over_its_bound_and_others_go_on_elsewhere(scene: Scene) -> None:
    """Leases are long: only a Worker that gives them back before it replaces itself explains that others go on."""
    held, blocks = scene.rows.add("one.held"), scene.rows.add("one.blocks", due=0.5)
    blocked = scene.worker(lease=60.0)
    await scene.until("both began", lambda: scene.starts("one.held") == scene.starts("one.blocks") == 1)
    scene.worker(1, lease=60.0)
    scene.go()
    began = time.monotonic()
    await scene.ends(held, blocks, seconds=20)
    assert time.monotonic() - began < BOUND_AND + 5.0, "the others go on within 5 s of the bound"
    row = scene.rows.one(blocks)
    assert (row["state"], row["cause"], scene.endings(blocks)) == ("dead-letter", "over-bound", [(1, "over-bound")])
    assert "ran past its duration bound and blocked its Worker" in row["error"]
    assert scene.endings(held) == [(1, "handed-back"), (2, "completed")]
    assert scene.rows.one(held)["attempts"] == 1, "it is not to blame"
    await scene.until("it replaced itself", lambda: len(blocked.lines("ready")) == 2)
    before, after = blocked.lines("ready")
    assert before["pid"] == after["pid"]
    assert before["incarnation"] != after["incarnation"]
    assert abs(after["time"] - after["heard"] - blocked.nursery.shift) < 30, "its clock is wrong still"
    assert scene.effects("one.blocks") == {}
