"""Owns having a Worker take nothing new, and letting it take again. It ends what it has, without a limit, and stays alive.

Workers serve all tenants: the last one that takes work is never drained.
"""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from jobcontract.acts import DrainOrder, WorkerChanged
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.permissions import Permission
from jobservice.rules.standing import BEAT, BEATS_MISSED
from jobservice.store import draining as store
from jobservice.store import hints
from jobservice.store.database import Row, Transaction
from jobservice.usecases.actor import Actor
from jobservice.usecases.audit import record, safe_subject
from jobservice.usecases.idempotency import Answered, Deed, Once, act_once
from jobservice.usecases.service import Service
from jobservice.usecases.workers import one_worker

SILENT_SECONDS = (BEATS_MISSED * BEAT).total_seconds()
"""A Worker that was not heard of for longer takes no work."""


async def drain(service: Service, actor: Actor, worker: str, order: DrainOrder, once: Once) -> Answered:
    """Ask a Worker to take nothing new (`WorkerChanged`). Asking again changes nothing, and says who asked first.

    Refusal PERMISSION_MISSING without worker.drain, NOT_FOUND, WORKER_ENDED, WORKER_LAST.
    """

    async def work(transaction: Transaction) -> Answered:
        found = await _locked(transaction, worker)
        if found["drain_asked_at"] is None:
            if not found["others"]:
                raise Refusal(
                    ErrorCode.WORKER_LAST,
                    f"{_name(found)} is the last that takes work: nothing would run any more. Start another one first.",
                )
            asked = await store.ask(
                transaction,
                found["incarnation"],
                person=actor.person,
                reason=order.reason,
                silent_seconds=SILENT_SECONDS,
            )
            if not asked:
                raise RuntimeError("locked Workers are as they were read")
            await _told(transaction, actor, "drain-worker", found, order.reason)
        return await _answer(transaction, found["incarnation"])

    deed = Deed(action="drain-worker", subject=safe_subject(worker), permission=Permission.WORKER_DRAIN)
    return await act_once(service, actor, deed, once, work)


async def undrain(service: Service, actor: Actor, worker: str, order: DrainOrder, once: Once) -> Answered:
    """Let a Worker take again (`WorkerChanged`). Where nobody asked it to drain, nothing changes.

    Refusal PERMISSION_MISSING without worker.drain, NOT_FOUND, WORKER_ENDED.
    """

    async def work(transaction: Transaction) -> Answered:
        found = await _locked(transaction, worker)
        if found["drain_asked_at"] is not None:
            if not await store.let(transaction, found["incarnation"]):
                raise RuntimeError("locked Workers are as they were read")
            await _told(transaction, actor, "undrain-worker", found, order.reason)
        return await _answer(transaction, found["incarnation"])

    deed = Deed(action="undrain-worker", subject=safe_subject(worker), permission=Permission.WORKER_DRAIN)
    return await act_once(service, actor, deed, once, work)


async def _locked(transaction: Transaction, worker: str) -> Row:
    """The Worker of that incarnation, locked with all others. Refusal NOT_FOUND, WORKER_ENDED."""
    try:
        incarnation = str(UUID(worker))
    except ValueError:
        raise _unknown(worker) from None
    found = await store.lock(transaction, incarnation, silent_seconds=SILENT_SECONDS)
    if found is None:
        raise _unknown(worker)
    if found["stopped_at"] is not None:
        raise Refusal(
            ErrorCode.WORKER_ENDED,
            f"{_name(found)} ended at {found['stopped_at']:%Y-%m-%d %H:%M:%S} UTC: it takes nothing any more.",
        )
    return found


def _unknown(worker: str) -> Refusal:
    return Refusal(
        ErrorCode.NOT_FOUND,
        f"There is no Worker {worker[:80]!r}. Name it by its incarnation, as the list of Workers does.",
    )


def _name(row: Row) -> str:
    return f"The Worker {row['incarnation'][:8]} on {row['host']}"


async def _told(transaction: Transaction, actor: Actor, action: str, before: Row, reason: str) -> None:
    """The row of the trail and the hint."""
    after = await store.lock(transaction, before["incarnation"], silent_seconds=SILENT_SECONDS)
    if after is None:
        raise RuntimeError("a locked Worker is there")
    detail = {"host": before["host"], "reason": reason, "before": _standing(before), "after": _standing(after)}
    await record(transaction, actor, action, before["incarnation"], detail)
    await hints.add_workers(transaction, version=int(after["now"].timestamp() * 1_000_000))


def _standing(row: Row) -> Mapping[str, str | None]:
    asked, draining = row["drain_asked_at"], row["draining_at"]
    return {
        "drain_asked_at": None if asked is None else asked.isoformat(),
        "drain_reason": row["drain_reason"],
        "draining_at": None if draining is None else draining.isoformat(),
    }


async def _answer(transaction: Transaction, incarnation: str) -> Answered:
    worker, now = await one_worker(transaction, incarnation)
    changed = WorkerChanged(worker=worker, now=now)
    return Answered(status=200, body=changed.model_dump(mode="json"))
