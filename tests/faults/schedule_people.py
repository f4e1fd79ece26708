"""Owns the person of the fault suite: an operator who, while Workers die, runs occurrences again (one by one and a stretch
of them as a recovery), switches schedules off and on, and drains Workers. Judges nothing (`schedule_people_judge.py`).

Every order goes out under one key until an answer comes, whatever the server does meanwhile: an answer that was lost is
asked for again, as a console does.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

import psycopg

from jobcontract.acts import DisableOrder, DrainOrder, EnableOrder, ReplayOrder
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.operating import RecoveryAct
from jobcontract.recoveries import ConfirmRecovery, RecoveryOrder, RecoverySteer, ResumeRecovery
from jobcontract.states import Role
from jobservice.usecases import draining, recoveries, recovery_confirming, recovery_steering, replays, switches
from jobservice.usecases.actor import Actor
from jobservice.usecases.idempotency import Answered, Once
from jobservice.usecases.service import Service
from tests.cast import People

ASK_AGAIN = frozenset({ErrorCode.DATABASE_AWAY, ErrorCode.IDEMPOTENCY_RUNNING})
"""What is no answer."""
LATER = 0.25
"""Seconds until a person asks again."""
ANSWERED_MOST = 60.0
CLAIM_SECONDS = 0.1
"""A claim that began before a switch was committed may read the clock so much later."""
HARMLESS = ("note", "small", "things", "batches", "left", "right", "moody", "slow")
"""Schedules whose runs may be repeated by the dozen: they harm no Worker."""

Rows = Callable[..., list[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """A time, by the database's clock, in which somebody was to take nothing: a schedule of a tenant, or a Worker."""

    who: tuple[str, ...]
    since: datetime
    until: datetime


@dataclass(slots=True, kw_only=True)
class Operator:
    """One operator of each tenant. `rows` looks into the database past the walls."""

    service: Service
    rows: Rows
    tenants: Sequence[str]
    chance: random.Random
    acted: Counter[str] = field(default_factory=Counter)
    off: list[Stretch] = field(default_factory=list)
    drained: list[Stretch] = field(default_factory=list)

    def hired(self, connection: psycopg.Connection[Any]) -> Operator:
        """Known in every tenant."""
        for tenant in self.tenants:
            People(connection).add(f"f.{tenant}", tenant, "operator")
        return self

    async def work(self, until: asyncio.Event) -> None:
        """One act after the other, at random, until then; nothing stays off or drained."""
        acts = (self.replay_one, self.replay_one, self.replay_stretch, self.switch, self.drain)
        while not until.is_set():
            await self.chance.choice(acts)()
            await asyncio.sleep(self.chance.uniform(0.0, 0.5))

    async def replay_one(self, state: str | None = None) -> None:
        """A dead letter where there is one, else what completed; now and then of the version that was seen."""
        tenant, wanted = self._tenant(), state or self.chance.choice(("dead-letter", "completed"))
        found = await self._look(
            "select id, version from jobs.occurrences where tenant = %s and state = %s and replays < 3"
            " order by random() limit 1",
            tenant,
            wanted,
        )
        for identifier, version in found:
            order = ReplayOrder(reason="Again, please.", version=self.chance.choice((None, version)))
            await self._order(
                f"replay {wanted}",
                tenant,
                lambda actor, once: replays.replay(self.service, actor, str(identifier), order, once),  # noqa: B023  # called at once
            )

    async def replay_stretch(self, seconds: float = 2.0, *, again: bool = True) -> None:
        """What ended of harmless schedules in some seconds that passed, as a recovery; some are paused and resumed, or
        aborted."""
        tenant, now = self._tenant(), await self._now()
        since = now - timedelta(seconds=self.chance.uniform(4 * seconds, 20 * seconds) if again else seconds)
        harmless = tuple(each for each in self.service.records.schedules if each.rpartition(".")[2] in HARMLESS)
        # By name what is all done goes in too; a stretch leaves it out.
        found = await self._look(
            "select id::text from jobs.occurrences where tenant = %s and schedule = any(%s) and replays < 3"
            " and state in ('completed', 'dead-letter') order by scheduled_at > %s desc, scheduled_at limit 4",
            tenant,
            list(harmless),
            since,
        )
        if not found:
            return
        order = RecoveryOrder(
            act=RecoveryAct.REPLAY, reason="A missed stretch.", occurrences=tuple(identifier for (identifier,) in found)
        )
        made = await self._order(
            "make recovery", tenant, lambda actor, once: recoveries.make(self.service, actor, order, once)
        )
        if made is None:
            return
        recovery = str(made.body["recovery"]["id"])
        ((digest,),) = await self._look("select digest from jobs.recoveries where id = %s", recovery)
        confirming = ConfirmRecovery(digest=bytes(digest).hex())
        confirmed = await self._order(
            "confirm recovery",
            tenant,
            lambda actor, once: recovery_confirming.confirm(self.service, actor, recovery, confirming, once),
        )
        steer = RecoverySteer(reason="A second thought.")
        if confirmed is None:
            await self._order(
                "drop recovery",
                tenant,
                lambda actor, once: recoveries.drop(self.service, actor, recovery, steer, once),
            )
        elif again and (thought := self.chance.random()) < 0.4:
            await self._steer(tenant, recovery, steer, stays=thought < 0.15)

    async def _steer(self, tenant: str, recovery: str, steer: RecoverySteer, *, stays: bool) -> None:
        act = recovery_steering.abort if stays else recovery_steering.pause
        paused = await self._order(
            "abort recovery" if stays else "pause recovery",
            tenant,
            lambda actor, once: act(self.service, actor, recovery, steer, once),
        )
        if paused is None or stays:
            return
        resume = ResumeRecovery(reason="After all.")
        await self._order(
            "resume recovery",
            tenant,
            lambda actor, once: recovery_steering.resume(self.service, actor, recovery, resume, once),
        )

    async def switch(self, seconds: float | None = None) -> None:
        """Switch a schedule off, and on again after a while."""
        tenant, schedule = self._tenant(), self.chance.choice(sorted(self.service.records.schedules))
        off = DisableOrder(reason="It is the culprit.")
        if not await self._order(
            "disable", tenant, lambda actor, once: switches.disable(self.service, actor, schedule, off, once)
        ):
            return
        since = await self._now() + timedelta(seconds=CLAIM_SECONDS)
        await asyncio.sleep(seconds or self.chance.uniform(0.5, 4.0))  # the time that it is off
        self.off.append(Stretch(who=(tenant, schedule), since=since, until=await self._now()))
        on = EnableOrder(reason="It is not.")
        if not await self._order(
            "enable", tenant, lambda actor, once: switches.enable(self.service, actor, schedule, on, once)
        ):
            raise AssertionError(f"{schedule} of {tenant} stays off")

    async def drain(self) -> None:
        """Drain a Worker, wait until it says that it drains, and let it take again after a while."""
        found = await self._look(
            "select incarnation from jobs.workers where stopped_at is null"
            " and beat_at > jobs.now() - interval '3 seconds' order by random() limit 1"
        )
        for (incarnation,) in found:
            worker, tenant = str(incarnation), self._tenant()
            order = DrainOrder(reason="A new kernel.")
            if not await self._order(
                "drain",
                tenant,
                lambda actor, once: draining.drain(self.service, actor, worker, order, once),  # noqa: B023  # called at once
            ):
                return
            for _ in range(20):  # one that is frozen or dead says nothing
                if said := await self._look(
                    "select jobs.now() from jobs.workers where incarnation = %s and draining_at is not null", worker
                ):
                    await asyncio.sleep(self.chance.uniform(0.2, 1.0))  # the time that it drains
                    self.drained.append(Stretch(who=(worker,), since=said[0][0], until=await self._now()))
                    break
                await asyncio.sleep(LATER)
            await self._order(
                "undrain",
                tenant,
                lambda actor, once: draining.undrain(self.service, actor, worker, order, once),  # noqa: B023  # called at once
            )

    async def _order(
        self, what: str, tenant: str, act: Callable[[Actor, Once], Awaitable[Answered]]
    ) -> Answered | None:
        """The answer to an order; None where it was refused."""
        actor = Actor(person=f"f.{tenant}", tenant=tenant, role=Role.OPERATOR, reference="fault")
        once = Once(method="POST", path=f"/{what}", key=str(uuid4()), digest=b"d" * 32)
        async with asyncio.timeout(ANSWERED_MOST):
            while True:
                try:
                    answered = await act(actor, once)
                except Refusal as refusal:
                    if refusal.kind not in ASK_AGAIN:
                        self.acted[f"{what}: {refusal.kind.code}"] += 1
                        return None
                    self.acted["answers asked for again"] += 1
                    await asyncio.sleep(LATER)
                else:
                    self.acted[what] += 1
                    return answered

    async def _look(self, query: str, *values: object) -> list[Any]:
        """Rows, whenever the server is there."""
        async with asyncio.timeout(ANSWERED_MOST):
            while True:
                try:
                    return await asyncio.to_thread(self.rows, query, *values)
                except psycopg.OperationalError:
                    await asyncio.sleep(LATER)

    async def _now(self) -> datetime:
        ((now,),) = await self._look("select jobs.now()")
        assert isinstance(now, datetime)
        return now

    def _tenant(self) -> str:
        return self.chance.choice(list(self.tenants))
