"""Owns what the Workers of the fault suite run: schedules made by hand, and use cases that wait, fail, hang, block their
Worker, freeze it and kill it.

Every effect is a work item whose business key is the idempotency scope and a random number: had a second execution been
accepted, there would be two of one scope. Every beginning is a line in a file outside of the database.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from jobcontract.states import MisfirePolicy, Moves
from jobservice.application import Application, JobCall, JobItem, NewWorkItem, Outcome, Selecting, done, failed, retry
from jobservice.records import RecordSet
from jobservice.rules.schedules import Backoff, JobUseCase, Misfire, Registered, Schedule
from tests.schedules import every, schedule
from tests.usecases.desk import NOTES, RECORDS

ANCHOR = datetime(2026, 1, 1, tzinfo=UTC)
ONCE_LATE = Misfire(policy=MisfirePolicy.ONCE, after_seconds=2.0)
SKIP_LATE = Misfire(policy=MisfirePolicy.SKIP, after_seconds=2.0)
TWO_LATE = Misfire(policy=MisfirePolicy.EACH_INTERVAL, after_seconds=2.0, newest=2)
PATIENT = Misfire(policy=MisfirePolicy.SKIP, after_seconds=60.0)
THINGS = ("thing-1", "thing-2", "thing-3", "thing-4")
BOUND = 8.0
SHORT_BOUND = 1.0
CURSOR = "f.cursor"
NEVER_WORKS = "It never works."
DOOMED, MOODY = 0.06, 0.4
"""Which part of the moody runs never works; which part does not at its first attempt."""
POISON, DEADLY = 0.1, 0.4
"""Which part of the killer's runs kill every Worker; which part kill the first."""
HANGS, BLOCKS, FREEZES = 0.2, 0.3, 0.5


def fate(seed: int, text: str) -> float:
    """What is to become of it: a number from 0 to 1 that only the seed and the text decide."""
    return int.from_bytes(hashlib.sha256(f"{seed} {text}".encode()).digest()[:6]) / 2**48


def _schedule(
    identifier: str,
    seconds: int = 1,
    policy: Misfire = PATIENT,
    *,
    bound: float = BOUND,
    attempts: int = 25,
    **more: object,
) -> Schedule:
    """Many attempts, so that the deaths of others exhaust nobody's; short waits between them."""
    return replace(
        schedule(identifier, every(seconds, ANCHOR), policy),
        runs=identifier,
        lock=str(more.pop("lock", identifier)),
        bound_seconds=bound,
        attempts=attempts,
        backoff=Backoff(first_seconds=0.2, most_seconds=1.0),
        **more,  # type: ignore[arg-type]  # fields of a schedule
    )


_SELECTS = Registered(id="f.things")
CHAOS = (
    _schedule("f.note"),
    _schedule("f.small", batch_path=True),
    _schedule("f.other-small", policy=SKIP_LATE, batch_path=True),
    _schedule("f.things", policy=SKIP_LATE, selection=_SELECTS, batch_size=3),
    _schedule("f.batches", policy=TWO_LATE, selection=_SELECTS, batch_size=2, batch_path=True),
    _schedule("f.follows", policy=ONCE_LATE, selection=Registered(id="f.seconds"), batch_size=3, cursor=CURSOR),
    _schedule("f.left", policy=SKIP_LATE, lock="f.pair"),
    _schedule("f.right", policy=SKIP_LATE, lock="f.pair"),
    _schedule("f.moody", attempts=6),
    _schedule("f.slow", 2, ONCE_LATE),
    _schedule("f.freezes", 6, bound=BOUND),
    _schedule("f.hangs", 10, bound=SHORT_BOUND, attempts=2),
    _schedule("f.kills", 20, attempts=3),
    _schedule("f.blocks", 30, bound=SHORT_BOUND, attempts=2),
)
MILD = tuple(each for each in CHAOS if each.id not in ("f.hangs", "f.kills", "f.blocks", "f.freezes"))
"""For the short form: nobody harms a Worker but the test."""
SINGLE = (
    _schedule("one.plain"),
    _schedule("one.things", selection=_SELECTS),
    _schedule("one.held"),
    _schedule("one.kills", attempts=3),
    _schedule("one.freezes", selection=Registered(id="f.two"), bound=2.0),
    _schedule("one.blocks", bound=SHORT_BOUND, attempts=1),
)
"""For one fault at a time: tests put the occurrences."""
SCENARIOS = {"chaos": CHAOS, "mild": MILD, "single": SINGLE}


@dataclass(frozen=True, slots=True, kw_only=True)
class Jobs:
    """The use cases of one Worker. `folder` has the file of beginnings, and what lets a held run go."""

    folder: Path
    seed: int
    slow_seconds: float
    """How long a slow run takes: longer than a lease."""

    def application(self, schedules: Sequence[Schedule]) -> Application:
        """All functions under the ids of the schedules that run them."""
        application = Application("faults", self.folder)
        named = {
            "slow": self.slow,
            "moody": self.moody,
            "freezes": self.freezes,
            "hangs": self.hangs,
            "kills": self.kills,
            "blocks": self.blocks,
            "held": self.held,
            "left": self.pair,
            "right": self.pair,
            "follows": self.follows,
        }
        for each in schedules:
            application.use_cases[each.id] = named.get(each.id.rpartition(".")[2], self.note)
        application.selections["f.things"] = _things
        application.selections["f.two"] = _two
        application.selections["f.seconds"] = _seconds
        return application

    async def note(self, call: JobCall, _item: JobItem) -> Outcome:
        """The plain one."""
        self._begins(call)
        return await self._effect(call)

    async def pair(self, call: JobCall, _item: JobItem) -> Outcome:
        """Under a lock with another schedule."""
        self._begins(call)
        await call.wait(0.05)
        return await self._effect(call)

    async def follows(self, call: JobCall, item: JobItem) -> Outcome:
        """Behind a cursor: one effect a key, whichever run comes to it."""
        self._begins(call)
        await call.push(NOTES, NewWorkItem(key=f"{call.tenant} {CURSOR} {item.key} {secrets.token_hex(6)}", title="t"))
        return done("followed")

    async def slow(self, call: JobCall, _item: JobItem) -> Outcome:
        """Longer than a lease, with its effect in the middle."""
        self._begins(call)
        await call.wait(self.slow_seconds / 2)
        outcome = await self._effect(call)
        await call.wait(self.slow_seconds / 2)
        return outcome

    async def moody(self, call: JobCall, _item: JobItem) -> Outcome:
        """Fails now and then, after its effect; some never work."""
        self._begins(call)
        outcome, fated = await self._effect(call), fate(self.seed, call.scope)
        if fated < DOOMED:
            return failed(NEVER_WORKS)
        if fated < MOODY and call.attempt == 1:
            return retry("Not now.", after_seconds=0.2)
        return outcome

    async def freezes(self, call: JobCall, item: JobItem) -> Outcome:
        """Freezes its Worker in the middle of its transaction; whoever started the Worker thaws it."""
        self._begins(call)
        outcome = await self._effect(call)
        wanted = item.key == "freezes" if call.schedule == "one.freezes" else fate(self.seed, call.scope) < FREEZES
        if call.attempt == 1 and wanted and self._first(call):
            freeze()
        return outcome

    async def hangs(self, call: JobCall, _item: JobItem) -> Outcome:
        """Waits for ever."""
        self._begins(call)
        outcome = await self._effect(call)
        if fate(self.seed, call.scope) < HANGS:
            await call.wait(3_600)
        return outcome

    async def kills(self, call: JobCall, _item: JobItem) -> Outcome:
        """Kills its Worker where it stands."""
        self._begins(call)
        outcome, fated = await self._effect(call), fate(self.seed, call.scope)
        if fated < POISON or call.schedule == "one.kills" or (fated < DEADLY and self._first(call)):
            os.kill(os.getpid(), signal.SIGKILL)
        return outcome

    async def blocks(self, call: JobCall, _item: JobItem) -> Outcome:
        """Does not let its Worker's loop turn."""
        self._begins(call)
        outcome = await self._effect(call)
        if call.schedule == "one.blocks" or (fate(self.seed, call.scope) < BLOCKS and self._first(call)):
            time.sleep(60)  # noqa: ASYNC251  # the block that is tested
        return outcome

    async def held(self, call: JobCall, _item: JobItem) -> Outcome:
        """Goes on when the test says so."""
        self._begins(call)
        while not (self.folder / "go").exists():
            await call.wait(0.02)
        return await self._effect(call)

    async def _effect(self, call: JobCall) -> Outcome:
        await call.push(NOTES, NewWorkItem(key=f"{call.scope} {secrets.token_hex(6)}", title="an effect"))
        return done("done")

    def _begins(self, call: JobCall) -> None:
        """One line outside of the database: no rollback takes it back."""
        line = {"scope": call.scope, "schedule": call.schedule, "attempt": call.attempt, "pid": os.getpid()}
        with (self.folder / "began").open("ab", buffering=0) as sink:
            sink.write(json.dumps(line).encode() + b"\n")

    def _first(self, call: JobCall) -> bool:
        """Whether it is the first time that this scope asks, over all Workers."""
        return first(self.folder, hashlib.sha256(call.scope.encode()).hexdigest()[:24])


def first(folder: Path, name: str) -> bool:
    """Whether nobody asked for that name before."""
    try:
        (folder / f"once-{name}").touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def freeze() -> None:
    """Say that this process stops, and stop."""
    os.write(1, json.dumps({"event": "frozen", "pid": os.getpid()}).encode() + b"\n")
    os.kill(os.getpid(), signal.SIGSTOP)


def records(schedules: Sequence[Schedule]) -> RecordSet:
    """The desk's records with these schedules."""
    return replace(
        RECORDS,
        schedules={each.id: each for each in schedules},
        job_use_cases={
            each.id: JobUseCase(id=each.id, title="It", moves=Moves.NOTHING, batch=each.batch_path)
            for each in schedules
        },
    )


async def _things(selecting: Selecting, after: str | None, limit: int) -> Sequence[JobItem]:
    return [JobItem(key=key, label=key) for key in THINGS if after is None or key > after][:limit]


async def _two(selecting: Selecting, after: str | None, limit: int) -> Sequence[JobItem]:
    keys = ("freezes", "other")
    return [JobItem(key=key, label=key) for key in keys if after is None or key > after][:limit]


async def _seconds(selecting: Selecting, after: str | None, limit: int) -> Sequence[JobItem]:
    """Every second up to the run's instant; the first run begins two before it."""
    until = int((selecting.scheduled_at - ANCHOR).total_seconds())
    first = until - 2 if after is None else int(after) + 1
    return [JobItem(key=f"{second:012}", label="a second") for second in range(first, until + 1)][:limit]
