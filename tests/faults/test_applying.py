"""Workers and the bank are killed and frozen at random moments while plans are applied: nothing is booked twice, and
every booking is a release or a question to a person.

Short here; `make faults` applies fifty plans. The seed is in the failure, and FAULTS_SEED repeats it.
"""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest

from jobcontract.states import Turn
from jobservice.store.database import Database
from tests.conftest import People
from tests.usecases.money_desk import MoneyDesk, money_desk

APPLIES = int(os.environ.get("FAULTS_APPLIES", "2"))
SEED = int(os.environ.get("FAULTS_SEED", str(random.SystemRandom().randrange(1_000_000))))
ITEMS = 10
LONG = APPLIES > 10
FAULTS = 8 * APPLIES if LONG else 3
"""What happens at most; then the rest is applied in peace."""
AT_MOST = 20.0 * APPLIES + 60


@dataclass(kw_only=True)
class Process:
    """A program that is killed, frozen, thawed and started again."""

    command: list[str]
    running: subprocess.Popen[str] | None = None
    thaw_at: float | None = None

    def start(self) -> str:
        """Start it; what its `ready` line says."""
        self.running = subprocess.Popen(
            self.command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self.running.stdout is not None
        for line in self.running.stdout:
            with suppress(ValueError):
                said = json.loads(line)
                if said.get("event") == "ready":
                    return str(said.get("url", ""))
        raise AssertionError(f"{self.command[2]} did not start")

    def signal(self, number: int) -> None:
        """Send it a signal."""
        if self.running is not None:
            self.running.send_signal(number)

    def kill(self) -> None:
        """Kill it where it stands."""
        self.thaw_at = None
        self.signal(signal.SIGKILL)
        self._reap()

    def freeze(self, seconds: float) -> None:
        """Stop its clockwork for so long."""
        self.signal(signal.SIGSTOP)
        self.thaw_at = time.monotonic() + seconds

    def thaw(self, *, now: bool = False) -> None:
        """Let it go on where its time has come."""
        if self.thaw_at is not None and (now or time.monotonic() >= self.thaw_at):
            self.thaw_at = None
            self.signal(signal.SIGCONT)

    def end(self) -> None:
        """End it in good order."""
        self.thaw(now=True)
        self.signal(signal.SIGTERM)
        self._reap()

    def _reap(self) -> None:
        if self.running is not None:
            self.running.wait(30)
            for pipe in (self.running.stdin, self.running.stdout):
                if pipe is not None:
                    pipe.close()
            self.running = None


@dataclass(kw_only=True)
class Chaos:
    """Two Workers and a bank, and what happens to them. `twice`: keys that were ordered twice in one life of the bank."""

    workers: list[Process]
    bank: Process
    url: str
    chance: random.Random
    twice: set[str] = field(default_factory=set)
    faults: int = 0

    def happen(self) -> None:
        """One thing at random, and what was frozen for long enough thaws."""
        for each in (*self.workers, self.bank):
            each.thaw()
        if self.faults >= FAULTS:
            return
        victim = self.chance.choice(self.workers)
        what = self.chance.choice(("kill", "kill", "freeze", "freeze-bank", *(("kill-bank",) if LONG else ())))
        self.faults += 1
        if what == "kill":
            victim.kill()
            victim.start()
        elif what == "freeze" and victim.thaw_at is None:
            victim.freeze(self.chance.uniform(0.1, 2.5))
        elif what == "freeze-bank" and self.bank.thaw_at is None:
            self.bank.freeze(self.chance.uniform(0.05, 1.5))
        elif what == "kill-bank" and self.bank.thaw_at is None:
            self.look()
            self.bank.kill()
            self.bank.start()

    def misbehave(self) -> None:
        """Make the bank slow, and lose two answers."""
        rules = [{"do": "slow", "seconds": 0.05}, *({"do": "lose-after", "times": 1} for _ in range(2))]
        assert httpx.post(f"{self.url}/script", json=rules, trust_env=False).status_code == 200

    def look(self) -> Any:
        """The bank's ledger; what was ordered twice is kept."""
        told = httpx.get(f"{self.url}/ledger", trust_env=False, timeout=10).json()
        self.twice |= {key for key, times in told["deliveries"].items() if times > 1}
        return told


@contextmanager
def chaos(url: str, folder: Path) -> Iterator[Chaos]:
    """Everything running, and ended whatever happens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    chance = random.Random(SEED)  # noqa: S311  # it picks moments, no secret
    ledger = ["--ledger", str(folder / "ledger.jsonl"), "--port", str(port), "--until-stdin-closes"]
    bank = Process(command=[sys.executable, "-m", "examples.payments.bank", *ledger])
    workers: list[Process] = []
    try:
        address = bank.start()
        workers += [Process(command=[sys.executable, "-m", "tests.faults.worker", url, address]) for _ in range(2)]
        for worker in workers:
            worker.start()
        yield Chaos(workers=workers, bank=bank, url=address, chance=chance)
    finally:
        for each in (*workers, bank):
            each.kill()


@pytest.fixture
def desk(database: Database, people: People) -> MoneyDesk:
    """Who makes and confirms the plans."""
    return money_desk(database, people)


async def confirm(desk: MoneyDesk) -> str:
    """One more confirmed plan; its id."""
    desk.people.connection.execute("update jobs.codes set last_step = 0")  # one code a step: waiting tests nothing here
    return str((await desk.confirmed(ITEMS))["id"])


@pytest.mark.timeout(AT_MOST + 120)
@pytest.mark.requirement("MONEY-3", "MONEY-4", "MONEY-5", "confirm-bulk-money-actions-out-of-band")
async def test_whatever_dies_the_accounts_add_up(
    desk: MoneyDesk, database_url: Callable[[str], str], tmp_path: Path, superuser: psycopg.Connection[Any]
) -> None:
    plans = [await confirm(desk)]
    with chaos(database_url("jobs_worker"), tmp_path) as world:
        world.misbehave()
        until = time.monotonic() + AT_MOST
        while len(plans) < APPLIES or open_turns(superuser):
            assert time.monotonic() < until, f"seed {SEED}: plans do not end: {states(superuser)}"
            if len(plans) < APPLIES and len(open_plans(superuser)) < 3:
                plans.append(await confirm(desk))
            time.sleep(world.chance.uniform(0.05, 0.35))  # noqa: ASYNC251  # the moments of faults are what is tested
            world.happen()
        for each in (*world.workers, world.bank):
            each.thaw(now=True)
        for worker in world.workers:
            worker.end()
        ledger = world.look()
        judge(superuser, ledger, world, plans)


def judge(superuser: psycopg.Connection[Any], ledger: Any, world: Chaos, plans: list[str]) -> None:
    """The account of every plan, our releases and the bank's ledger say the same."""
    where = f"seed {SEED}, after {world.faults} faults"
    rows = superuser.execute("select turn, outward_key, item::text, attempts from jobs.plan_items").fetchall()
    turns = {key or f"jc-{item}": Turn(turn) for turn, key, item, _ in rows}
    assert len(rows) == len(turns) == ITEMS * len(plans), where
    assert all(turn.ended for turn in turns.values()), where
    booked = [booking["key"] for booking in ledger["bookings"]]
    released = {row[0] for row in superuser.execute("select outward_key from jobs.releases").fetchall()}
    uncertain = {key for key, turn in turns.items() if turn is Turn.UNCERTAIN}
    assert len(booked) == len(set(booked)), f"{where}: booked twice"
    assert world.twice == set(), f"{where}: ordered twice"
    assert released == {key for key, turn in turns.items() if turn is Turn.DONE}, where
    assert released <= set(booked), f"{where}: released and not booked: {released - set(booked)}"
    assert set(booked) <= released | uncertain, f"{where}: booked and forgotten: {set(booked) - released - uncertain}"
    reviews = superuser.execute("select 'jc-' || about from jobs.items where about is not null").fetchall()
    assert sorted(key for (key,) in reviews) == sorted(uncertain), f"{where}: one review item each"
    held = superuser.execute("select 'jc-' || id from jobs.items where held").fetchall()
    assert {key for (key,) in held} == uncertain, where
    counted = superuser.execute("select coalesce(sum(gross_minor), 0) from jobs.outgoings").fetchone()
    assert counted == (1_000 * (len(released) + len(uncertain)),), where
    assert states(superuser) == {"done": len(plans)}, where
    accounts = superuser.execute("select plan::text, status from jobs.jobs where carrier = 'plan'").fetchall()
    assert sorted(accounts) == sorted((plan, "succeeded") for plan in plans), f"{where}: each plan is one settled job"


def open_turns(superuser: psycopg.Connection[Any]) -> int:
    """Plans whose account is not closed yet."""
    row = superuser.execute("select count(*) from jobs.plans where accounted_at is null").fetchone()
    return 0 if row is None else int(row[0])


def open_plans(superuser: psycopg.Connection[Any]) -> list[str]:
    """Those plans."""
    return [
        row[0] for row in superuser.execute("select id::text from jobs.plans where accounted_at is null").fetchall()
    ]


def states(superuser: psycopg.Connection[Any]) -> dict[str, int]:
    """How many plans are in each state."""
    return dict(superuser.execute("select state, count(*) from jobs.plans group by 1").fetchall())
