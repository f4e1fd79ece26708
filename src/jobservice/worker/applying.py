"""Owns applying confirmed plans, as leased work: which plan, whether it is believed, and how its run ends (MONEY.md 18,
19). The run itself: `plan_run.py`.

Several plans at once, several Workers; each plan is one Worker's at a time, under a lease with a fence.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import psycopg
import structlog

from jobcontract.errors import Refusal
from jobcontract.permissions import GRANTS, Permission
from jobcontract.states import Moves, PlanState
from jobservice.application import Application
from jobservice.records import RecordSet
from jobservice.rules.confirmations import Confirmation, disbelief, excess
from jobservice.rules.keys import PublicKeys, Signature
from jobservice.rules.turns import account_text
from jobservice.store import audit, hints, limits, notices
from jobservice.store import leases as store
from jobservice.store import turns as turn_store
from jobservice.store.database import Database, Row, Transaction
from jobservice.store.leases import PlanHead
from jobservice.store.turns import PlanLease, PlannedRow
from jobservice.worker.leased_work import Grant, Renewed, RowLease, Taken, Why
from jobservice.worker.outward_calls import OutwardCalls
from jobservice.worker.plan_accounts import PlanAccount, submit_at_end
from jobservice.worker.plan_run import Pacing, PlanRun
from jobservice.worker.turns import Turns

_log = structlog.get_logger("jobservice.worker")

STATEMENT_SECONDS = 60.0
"""Longest statement over all rows of a plan."""
_WATCH = frozenset(role.value for role, granted in GRANTS.items() if Permission.PAYOUT_STOP in granted)
"""Roles that may stop plans and money: who is told when one is not what was confirmed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Applying:
    """Confirmed plans as `LeasedWork`. `keys` reads the public keys anew: the ring is rotated while Workers run."""

    database: Database
    records: RecordSet
    application: Application
    keys: Callable[[], PublicKeys]
    every: float = 2.0
    lease: float = 10.0
    most: int = 4
    wakes: frozenset[str] = frozenset({"plans", "stops"})
    act_seconds: float = 5.0
    pacing: Pacing = field(default_factory=Pacing)
    calls: Callable[[str], OutwardCalls | None] | None = None
    """The outside half of a use case by its id; None: what the application registered, with the usual patience."""
    name: str = "applying"

    async def take(self, holder: UUID, most: int, running: Mapping[str, int]) -> Taken:  # noqa: ARG002  # plans go by age
        """Lease plans that want work, the longest confirmed first, whosever they are."""
        async with self.database.transaction(None) as transaction:
            taken = await store.take(transaction, holder=holder, lease=self.lease, most=most)
        return Taken(grants=tuple(Grant(id=each.plan, tenant=each.tenant, fence=each.fence) for each in taken))

    async def renew(self, holder: UUID, held: Mapping[UUID, int]) -> Renewed:
        """Extend the leases."""
        async with self.database.transaction(None) as transaction:
            return Renewed(kept=await store.renew(transaction, held, holder=holder, lease=self.lease))

    async def cancelled(self, holder: UUID, held: Mapping[UUID, int]) -> Collection[UUID]:  # noqa: ARG002  # none is
        """None: a plan is aborted by its row, which each turn compares."""
        return frozenset()

    async def give_back(self, lease: RowLease, database: Database | None = None) -> bool:
        """Give a lease back: another Worker may go on at once."""
        async with (database or self.database).transaction(lease.grant.tenant) as transaction:
            return await store.give_back(transaction, _key(lease))

    async def overrun(self, database: Database, lease: RowLease, sentence: str) -> None:
        """Give the lease back: whoever takes the plan next asks what became of the turns that were running."""
        _log.error("plan-overrun", plan=str(lease.grant.id), tenant=lease.grant.tenant, reason=sentence)
        await self.give_back(lease, database)

    async def carry(self, lease: RowLease) -> None:
        """Apply the plan as far as it goes now. Where the lease is lost, nothing more begins, and what was sent is still
        heard to its end: the answer is evidence."""
        applying = asyncio.create_task(self._apply(lease))
        try:
            await asyncio.shield(applying)
        except asyncio.CancelledError:
            if lease.why is not Why.LOST:
                applying.cancel()
            await applying
            raise

    async def _apply(self, lease: RowLease) -> None:
        async with self.database.transaction(lease.grant.tenant) as transaction:
            head = await store.head(transaction, _key(lease))
        if head is None:
            return
        rows = await self._rows(lease)
        why_not = await self._doubt(lease, head, rows)
        run = self._run(lease, head, rows, believed=why_not is None)
        if run is not None:
            if await run.recover():
                await run.tell()
            if head.state is PlanState.APPLYING and why_not is None:
                await self._carried(lease, head, run)
                why_not = run.trouble
        if why_not is not None and head.state is PlanState.APPLYING:
            await self._pause(lease, head, why_not)
        await self._account(lease, name=head.name, owner=head.owner).rest()
        await self._close(lease)

    async def _carried(self, lease: RowLease, head: PlanHead, run: PlanRun) -> None:
        """Apply the plan, and beside it keep its account as a job."""
        account = self._account(lease, name=head.name, owner=head.owner)
        await account.begin()
        following = asyncio.create_task(account.follow(lambda: run.ended, len(run.rows)))
        try:
            await run.apply()
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)

    def _account(self, lease: RowLease, *, name: str, owner: str) -> PlanAccount:
        return PlanAccount(
            database=self.database,
            records=self.records,
            tenant=lease.grant.tenant,
            plan=str(lease.grant.id),
            name=name,
            owner=owner,
            holder=str(lease.holder),
        )

    async def _rows(self, lease: RowLease) -> tuple[PlannedRow, ...]:
        rows: list[PlannedRow] = []
        while True:
            after = rows[-1].frozen.number if rows else 0
            async with self.database.transaction(lease.grant.tenant) as transaction:
                more = await turn_store.rows(transaction, str(lease.grant.id), after=after)
            if not more:
                return tuple(rows)
            rows += more

    async def _doubt(self, lease: RowLease, head: PlanHead, rows: Sequence[PlannedRow]) -> str | None:
        """As `_unbelievable`; what cannot even be read is not believed either, and not tried for ever."""
        try:
            return await self._unbelievable(lease, head, rows)
        except (Refusal, psycopg.Error):
            raise
        except Exception:  # whatever a row written past the service makes of it
            _log.exception("plan-not-read", plan=head.id)
            return "The Worker cannot read it, as its log says: somebody wrote past the service."

    async def _unbelievable(self, lease: RowLease, head: PlanHead, rows: Sequence[PlannedRow]) -> str | None:
        """Why nothing of the plan may be released; None where it is what was confirmed, and may be done here."""
        confirmation = Confirmation(
            plan=head.id,
            tenant=lease.grant.tenant,
            owner=head.owner,
            command=head.command,
            use_case=head.use_case,
            use_case_version=head.use_case_version,
            parameters=head.parameters,
            frozen_at=head.frozen_at,
            count=head.count,
            salt=head.salt,
            digest=head.digest,
            signature=Signature(key_id=head.signing_key, signature=head.signature),
        )
        doubt = disbelief(confirmation, [row.frozen for row in rows], self.keys())
        if doubt is not None or head.state is not PlanState.APPLYING:
            return doubt
        if misfit := self._misfit(head):
            return misfit
        tenant, seconds = lease.grant.tenant, STATEMENT_SECONDS
        async with self.database.transaction(tenant, statement_seconds=seconds) as transaction:
            going = await limits.going_of(transaction, head.id, owner=head.owner, now=head.now)
            counted = await store.counted(transaction, head.id)
        return excess(self.records.bulk[head.command].limits, [each.going for each in going], counted)

    def _misfit(self, head: PlanHead) -> str | None:
        """Why this Worker's records cannot apply the plan."""
        command, use_case = self.records.bulk.get(head.command), self.records.use_cases.get(head.use_case)
        if command is None or use_case is None or command.use_case != head.use_case or command.queue != head.queue:
            return f"The records have no {head.command} any more that runs {head.use_case} on {head.queue}."
        if use_case.version != head.use_case_version:
            return (
                f"It was confirmed for version {head.use_case_version} of {head.use_case}, and the records have "
                f"{use_case.version}."
            )
        if use_case.moves is not Moves.MONEY:
            return f"{head.use_case} moves nothing, and what a plan applies is released."
        return None

    def _run(self, lease: RowLease, head: PlanHead, rows: Sequence[PlannedRow], *, believed: bool) -> PlanRun | None:
        """The run; None where the records know no such use case, so that nothing can be done."""
        function = self.application.use_cases.get(head.use_case)
        command = self.records.bulk.get(head.command)
        if function is None or command is None:
            _log.error("plan-without-records", plan=head.id, command=head.command, use_case=head.use_case)
            return None
        turns = Turns(
            database=self.database,
            lease=lease,
            tenant=lease.grant.tenant,
            plan=head.id,
            owner=head.owner,
            command=command,
            function=function,
            calls=self._calls(head.use_case),
            attempts=self.records.settings.plan_attempts,
            act_seconds=self.act_seconds,
        )
        return PlanRun(turns=turns, head=head, rows=rows, believed=believed, pacing=self.pacing)

    def _calls(self, use_case: str) -> OutwardCalls | None:
        if self.calls is not None:
            return self.calls(use_case)
        outward = self.application.outwards.get(use_case)
        return None if outward is None else OutwardCalls(outward=outward)

    async def _pause(self, lease: RowLease, head: PlanHead, reason: str) -> None:
        """Pause a plan that cannot be applied: an alarm in the log, a row in the trail, and everybody who could have
        stopped it is told."""
        async with self.database.transaction(lease.grant.tenant) as transaction:
            if not await store.pause(transaction, _key(lease), reason):
                return
            await _record(transaction, "pause-plan", head.id, {"name": head.name, "reason": reason}, outcome="refused")
            told = {head.owner, *await store.watchers(transaction, _WATCH)}
            for person in sorted(told):
                await notices.add(transaction, _paused(head, reason, person))
            row = await store.tell(transaction, _key(lease))
            if row is not None:
                await hints.add_plan(transaction, queue=head.queue, plan=head.id, version=row["version"])
        _log.error("plan-not-applied", alarm=True, plan=head.id, tenant=lease.grant.tenant, reason=reason)

    async def _close(self, lease: RowLease) -> None:
        """End the plan where every item had its turn, and close the account of one that has ended."""
        key, tenant = _key(lease), lease.grant.tenant
        async with self.database.transaction(tenant, statement_seconds=STATEMENT_SECONDS) as transaction:
            await store.finish(transaction, key)
            closed = await store.close(transaction, key)
            if closed is None:
                return
            # What was to be tried again when the plan ended is not: nobody else would give it back before the window ends.
            await store.let_go(transaction, key.plan, owner=closed["owner"])
            await store.correct(transaction, key.plan)
            counts = await store.account(transaction, key.plan)
            text = account_text(counts)
            account = self._account(lease, name=closed["name"], owner=closed["owner"])
            await account.end(transaction, closed, counts)
            submitted = await submit_at_end(transaction, self.records, key.plan, closed, counts)
            text = text if submitted is None else f"{text}\n{submitted}"
            await notices.add(transaction, _ended(key.plan, closed, text))
            detail = {"name": closed["name"], "state": closed["state"], "account": text}
            await _record(transaction, "end-plan", key.plan, detail, outcome="done")
            await hints.add_plan(transaction, queue=closed["queue"], plan=key.plan, version=closed["version"])
        lease.over = True
        _log.info("plan-ended", plan=key.plan, state=closed["state"])


def _key(lease: RowLease) -> PlanLease:
    return PlanLease(plan=str(lease.grant.id), holder=lease.holder, fence=lease.grant.fence)


async def _record(transaction: Transaction, action: str, plan: str, detail: Mapping[str, str], *, outcome: str) -> None:
    entry = audit.NewEntry(person=None, action=action, subject=plan, outcome=outcome, detail=detail, reference=None)
    await audit.add(transaction, entry)


def _paused(head: PlanHead, reason: str, person: str) -> notices.NewNotice:
    return notices.NewNotice(
        person=person,
        kind="plan-not-applied",
        subject=f"Plan {head.name} was paused by the Worker",
        text=f"The Worker does not apply plan {head.name}, confirmed by {head.owner}, and paused it.\n{reason}\n"
        "Look at it before anybody resumes it; to stop all money: jobconsole money stop.\n",
        about=head.id,
    )


def _ended(plan: str, closed: Row, text: str) -> notices.NewNotice:
    reason = f"\n{closed['reason']}" if closed["reason"] else ""
    return notices.NewNotice(
        person=closed["owner"],
        kind=f"plan-{closed['state']}",
        subject=f"Plan {closed['name']} is {closed['state']}",
        text=f"Plan {closed['name']} ({closed['command']}) is {closed['state']}.{reason}\n{text}\n",
        about=plan,
    )
