"""Owns the run of a schedule that brings payouts forward: those that wait in confirmed, applying plans of its bulk command
are to be tried now (MONEY.md 1). It moves no money, takes no plan's lease and no turn: it writes when the next try is due,
and the plan decides by its own lease, limits, window, stops and signature, as ever.

Where a person asked for the run, a confirmed recovery whose signature holds is needed: nothing else runs it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from uuid import UUID

import structlog

from jobcontract.ids import NAME_MAX
from jobcontract.states import PlanState, Turn
from jobservice.application import JobCall, JobItem, Outcome, Selecting, done, refused
from jobservice.rules.schedules import Confirmed
from jobservice.store import confirmed_turns as store
from jobservice.store.confirmed_turns import Standing
from jobservice.store.database import Transaction
from jobservice.store.occurrence_items import RunLease
from jobservice.worker.job_call import ItemCall
from jobservice.worker.recovery_proof import RecoveryProof, Unconfirmed
from jobservice.worker.run import Run
from jobservice.worker.run_ending import RunLost
from jobservice.worker.run_items import Feed, SingleRun
from jobservice.worker.selecting import RunSelecting

_log = structlog.get_logger("jobservice.worker")

Proof = Callable[[Transaction, UUID, UUID], Awaitable[bool]]
"""Whether a recovery, by its id, is confirmed, signed as it stands, and runs that occurrence (`recovery_proof.py`)."""


NOTHING_SAID = "It could not be brought forward."


class Unproven(Exception):
    """Nobody who may confirmed that this runs; the text is a sentence."""


async def nothing_proven(transaction: Transaction, recovery: UUID, occurrence: UUID) -> bool:  # noqa: ARG001  # it asks nobody
    """Where there are no keys to verify a signature by, none holds."""
    return False


def proof_by(recoveries: RecoveryProof | None) -> Proof:
    """What is proven of recoveries; None: nothing."""
    if recoveries is None:
        return nothing_proven

    async def proof(transaction: Transaction, recovery: UUID, occurrence: UUID) -> bool:
        try:
            return await recoveries.runs(transaction, str(recovery), occurrence)
        except Unconfirmed as why:
            _log.error("recovery-unproven", alarm=True, recovery=str(recovery), reason=str(why))
            return False

    return proof


async def run_confirmed(run: Run, command: Confirmed, *, left: bool, at_once: int, proof: Proof) -> None:
    """Bring forward all that waits, one payout an item; what earlier attempts `left` first.

    Unproven, RunLost, SelectionUnfit, Refusal DATABASE_AWAY.
    """
    async with run.transaction() as transaction:
        asked = await store.asked(transaction, run.key)
        if asked is None:
            raise RunLost(str(run.taken.id))
        if asked.by_hand and (asked.recovery is None or not await proof(transaction, asked.recovery, run.taken.id)):
            raise Unproven(
                "It moves money, and a person asked for it: that takes a recovery that was confirmed with a code, and whose "
                "signature holds. There is none, so nothing was brought forward."
            )
    forward = _Forward(command=command.command, lease=run.key, replay=asked.replays)
    run.selection, run.function = forward.select, forward.bring
    feed = Feed(run=run, left=left, after=run.tally.position)
    await SingleRun(run=run, feed=feed, at_once=at_once).work()
    if feed.trouble is not None:
        raise feed.trouble


@dataclass(frozen=True, slots=True, kw_only=True)
class _Forward:
    """Selection and use case of one such run. A key is replay, plan and number: a replay brings forward anew what waits
    again by then, and within one each payout comes once, however quickly it waits again."""

    command: str
    lease: RunLease
    replay: int

    async def select(self, selecting: Selecting, after: str | None, limit: int) -> Sequence[JobItem]:
        """The next payouts that wait."""
        assert isinstance(selecting, RunSelecting)  # noqa: S101  # the service's own selection is asked by its own runs
        place = store.FIRST if after is None else self._place(after)
        found = await store.waiting(selecting.transaction, self.command, after=place, limit=limit)
        return [
            JobItem(
                key=f"{self.replay}.{each.plan}.{each.number}",
                label=f"{each.title} (plan {each.name})"[:NAME_MAX],
                given={"plan": str(each.plan), "number": each.number},
            )
            for each in found
        ]

    def _place(self, key: str) -> tuple[UUID, int]:
        replay, plan, number = key.split(".")
        return (UUID(plan), int(number)) if int(replay) == self.replay else store.FIRST

    async def bring(self, call: JobCall, item: JobItem) -> Outcome:
        """Make the next try of one payout due now, in the item's transaction."""
        assert isinstance(call, ItemCall)  # noqa: S101  # the service's own use case is called by its own runs
        assert call.transaction is not None  # noqa: S101  # the single path opens it before the item is begun
        transaction, plan, number = call.transaction, UUID(str(item.given["plan"])), int(item.given["number"])
        if not await store.lock(transaction, plan, number):
            return refused("There is no such payout in a plan any more.")
        name = await store.forward(transaction, self.lease, self.command, plan, number)
        if name is not None:
            return done(f"Brought forward: plan {name} tries it now")
        standing = await store.standing(transaction, self.command, plan, number)
        return refused(NOTHING_SAID if standing is None else why_not(standing))


def why_not(standing: Standing) -> str:
    """Why a payout was left as it is. Where nothing of it says so the run's lease is another's by now: then the outcome is
    not written either."""
    if standing.turn is not Turn.WAITING:
        return f"It has had its turn in plan {standing.name} meanwhile: {standing.turn.value}."
    if standing.state is not PlanState.APPLYING:
        return f"Plan {standing.name} is {standing.state.value}: nothing of it is tried."
    if not standing.window_open:
        return f"The time in which plan {standing.name} applies is over."
    if standing.money_stopped:
        return "Money is stopped: nothing is tried before somebody starts it."
    if standing.held_still:
        return "A stop holds it still: nothing is tried before that is lifted."
    return NOTHING_SAID
