"""Owns freezing the set of a recovery: which things go in, what is left out and why, what all of it comes to, and the
digest over it. Making, changing and dropping one: `recoveries.py`. Does nothing to what it freezes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from jobcontract.money import EXPONENTS
from jobcontract.occurrence_names import occurrence_name, read_occurrence_name
from jobcontract.operating import LeftOut, RecoveryAct
from jobcontract.permissions import GRANTS, Permission
from jobcontract.recoveries import RecoveryOrder
from jobcontract.recovery_digest import RecoveryDigest
from jobcontract.states import Moves
from jobservice.rules import recoveries as rules
from jobservice.rules.recovery_instants import Expanded, SkipRun, expand
from jobservice.rules.recovery_jobs import JOB_ACTS
from jobservice.rules.schedules import Confirmed, Itself
from jobservice.store import items as item_store
from jobservice.store import recoveries as store
from jobservice.store import recovery_jobs
from jobservice.store import recovery_rows as rows
from jobservice.store.database import Row, Transaction
from jobservice.store.items import readable
from jobservice.store.recoveries import Freeze, LockedRecovery
from jobservice.store.recovery_rows import AskedOccurrence, Booked, Found, KeptOut, SkippedInstant, Stretch, Wanted
from jobservice.usecases.actor import Actor
from jobservice.usecases.service import Service


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenSet:
    """What is to be frozen, and what is known to be left out of it already."""

    count: int
    """How many rows are fit; above the most, one more, and then none was written."""
    left_out: Mapping[LeftOut, int]
    kept: Sequence[KeptOut]


def _book(service: Service, actor: Actor, act: RecoveryAct) -> tuple[Booked, ...]:
    """The schedules that run here for the actor's tenant."""
    return tuple(
        Booked(schedule=each.id, moves=rules.moves_of(act, each), itself=isinstance(each.selection, Itself))
        for each in service.records.schedules.values()
        if each.runs_in(actor.tenant, service.deployment)
    )


async def freeze_set(
    transaction: Transaction, service: Service, actor: Actor, order: RecoveryOrder, recovery: str
) -> FrozenSet:
    """Write the rows; nothing is written where more are fit than may be."""
    book = _book(service, actor, order.act)
    most, now = service.records.settings.recovery_max_items, await item_store.now(transaction)
    may_others = rules.permission_for(order.act, Moves.NOTHING) in GRANTS[actor.role]
    if order.act is RecoveryAct.DISABLE:
        found = await rows.freeze_schedules(
            transaction, recovery, order.schedules or (), book=book, may_others=may_others, now=now, most=most
        )
        return _whole(order, [found], None)
    stretch = None
    if order.occurrences is None:
        stretch = Stretch(
            since=order.since or rows.EVER,
            until=order.until or rows.NEVER,
            schedules=order.schedules,
            causes=None if order.causes is None else [each.value for each in order.causes],
        )
    done, skipped = None, None
    if order.act is RecoveryAct.REPLAY and stretch is not None:
        done = await rows.all_done(transaction, stretch)
        skipped = await _skipped(transaction, service, book, stretch, wanted=order.skipped, most=most)
    found = await rows.freeze(
        transaction,
        Wanted(
            recovery=recovery,
            book=book,
            named=[_asked(text) for text in dict.fromkeys(order.occurrences or ())],
            stretch=stretch,
            skips=()
            if skipped is None
            else [
                SkippedInstant(key=occurrence_name(schedule, at), schedule=schedule, at=at)
                for schedule, at in skipped.instants
            ],
            dead_only=order.act in (RecoveryAct.REQUEUE, RecoveryAct.DISCARD),
            runs=order.act in rules.RUNS_AGAIN,
            may_money=Permission.PAYOUT_RELEASE in GRANTS[actor.role],
            may_others=may_others,
            now=now,
            most=most,
        ),
    )
    return _whole(order, [found, *([] if done is None else [done])], skipped)


def _asked(text: str) -> AskedOccurrence:
    name = read_occurrence_name(text)
    if name is not None:
        return AskedOccurrence(text=text, schedule=name[0], at=name[1])
    return AskedOccurrence(text=text, id=text if readable(text) else None)


async def _skipped(
    transaction: Transaction, service: Service, book: Sequence[Booked], stretch: Stretch, *, wanted: bool, most: int
) -> Expanded:
    """What misfire policies skipped in the stretch."""
    runs = [SkipRun(**row) for row in await rows.skips(transaction, stretch)]
    rhythms = {each.schedule: service.records.schedules[each.schedule].rhythm for each in book}
    # Years of a rhythm by the minute take a while to walk over.
    return await asyncio.to_thread(expand, runs, rhythms, stretch.since, stretch.until, wanted=wanted, most=most)


def _whole(order: RecoveryOrder, founds: Sequence[Found], skipped: Expanded | None) -> FrozenSet:
    """All that is left out, counted and told."""
    counted: dict[LeftOut, int] = {}
    kept: list[KeptOut] = []
    for found in founds:
        for reason, count in found.left_out.items():
            add_count(counted, LeftOut(reason), count)
        kept += [_kept(each, order.act) for each in found.kept]
    if skipped is not None:
        for schedule, count in skipped.left.items():
            add_count(counted, LeftOut.SKIPPED, count)
            kept.append(told(LeftOut.SKIPPED, schedule, f"{schedule}: {_instants(count)}", order.act))
        for run in skipped.lost:
            add_count(counted, LeftOut.UNRUNNABLE, run.count)
            kept.append(
                KeptOut(
                    name=f"{run.schedule}: {_instants(run.count)}",
                    schedule=run.schedule,
                    reason=LeftOut.UNRUNNABLE.value,
                    sentence=rules.RHYTHM_CHANGED.format(schedule=run.schedule),
                    at=run.first_at,
                )
            )
    order_of = {reason.value: place for place, reason in enumerate(LeftOut)}
    # What nearly everything is, all done, comes last: the names that are kept are to be the ones that tell something.
    kept.sort(key=lambda each: (each.reason == LeftOut.ALL_DONE, order_of[each.reason], each.name))
    return FrozenSet(count=founds[0].found, left_out=counted, kept=kept[: rules.LEFT_KEPT])


def add_count(counted: dict[LeftOut, int], reason: LeftOut, count: int) -> None:
    """Count so many more of a reason; a reason of which there is nothing is not named."""
    if count:
        counted[reason] = counted.get(reason, 0) + count


def _instants(count: int) -> str:
    return "1 skipped instant" if count == 1 else f"{count:,} skipped instants"


def told(reason: LeftOut, schedule: str, name: str, act: RecoveryAct, at: datetime | None = None) -> KeptOut:
    """Something that is left out, with its sentence."""
    left = rules.Left(name=name, schedule=schedule, reason=reason, scheduled_at=at)
    return KeptOut(name=name, schedule=schedule, reason=reason.value, sentence=rules.left_sentence(left, act), at=at)


def _kept(found: Mapping[str, Any], act: RecoveryAct) -> KeptOut:
    """A left-out thing as a statement tells of it."""
    at = None if found.get("at") is None else datetime.fromisoformat(found["at"])
    schedule, reason = found["schedule"], LeftOut(found.get("reason", LeftOut.ALL_DONE))
    name = found.get("text") or (schedule if at is None else occurrence_name(schedule, at))
    left = rules.Left(
        name=name,
        schedule=schedule,
        reason=reason,
        scheduled_at=at,
        state=found.get("state"),
        disabled_by=found.get("disabled_by"),
        disabled_reason=found.get("disabled_reason"),
        recovery=found.get("recovery"),
    )
    return KeptOut(name=name, schedule=schedule, reason=reason.value, sentence=rules.left_sentence(left, act), at=at)


def counts(left_out: Mapping[LeftOut, int]) -> list[dict[str, Any]]:
    """How many are left out for each reason, in the order of the reasons, as the wire has it."""
    return [{"reason": reason.value, "count": left_out[reason]} for reason in LeftOut if left_out.get(reason)]


async def freeze(
    transaction: Transaction,
    service: Service,
    found: LockedRecovery,
    left_out: Mapping[LeftOut, int],
    *,
    now: datetime,
    again: bool,
) -> int:
    """Freeze a locked recovery as its rows are; its version."""
    schedules = await rows.by_schedule(transaction, found.id)
    money = await money_of(transaction, service, found)
    count = sum(each["count"] for each in schedules)
    digest = await digest_of(transaction, found, frozen_at=now, count=count, money=money)
    kind = Moves.MONEY if any(each["moves"] == Moves.MONEY for each in schedules) else Moves.NOTHING
    return await store.freeze(
        transaction,
        found.id,
        Freeze(
            digest=bytes.fromhex(digest),
            money=money,
            moves=kind,
            left_out=counts(left_out),
            schedules=schedules,
            count=count,
            now=now,
            until=now + timedelta(seconds=service.records.settings.recovery_expiry),
        ),
        again=again,
    )


async def money_of(transaction: Transaction, service: Service, found: LockedRecovery) -> list[dict[str, Any]]:
    """What its rows that move money would try again now, one a currency: what confirmed plans hold waiting, or of jobs what
    the plans behind them released."""
    if found.act in JOB_ACTS:
        held = await recovery_jobs.money(transaction, found.id)
    else:
        held = await _waiting(transaction, service, await rows.by_schedule(transaction, found.id))
    return [{**row, "exponent": EXPONENTS.get(row["currency"], 0)} for row in held]


async def _waiting(transaction: Transaction, service: Service, schedules: Iterable[Row]) -> list[Row]:
    money = {each["schedule"] for each in schedules if each["moves"] == Moves.MONEY}
    selections = [service.records.schedules[name].selection for name in money if name in service.records.schedules]
    commands = {each.command for each in selections if isinstance(each, Confirmed)}
    return await store.waiting_money(transaction, commands) if commands else []


async def digest_of(
    transaction: Transaction,
    found: LockedRecovery,
    *,
    frozen_at: datetime,
    count: int,
    money: Sequence[Mapping[str, Any]],
) -> str:
    """The digest over the rows as they are stored."""
    digest = RecoveryDigest(
        rules.digest_head(
            rules.Frozen(
                tenant=found.tenant,
                recovery=found.id,
                owner=found.owner,
                act=found.act.value,
                reason=found.reason,
                frozen_at=frozen_at,
                disable_until=found.disable_until,
                count=count,
                money=money,
            )
        )
    )
    async for chunk in rows.hashed(transaction, found.id):
        await asyncio.to_thread(_hash, digest, chunk)
    return digest.hexdigest()


def _hash(digest: RecoveryDigest, chunk: Sequence[Row]) -> None:
    for row in chunk:
        digest.add(rules.digest_row(row))
