"""Owns comparing a restored database with the outside world, on the server's command line (MONEY.md 22).

It asks and never calls. What the outside world has as paid and this database would pay again is held, uncertain, with a
review item for people; what is released here and unknown there is told. Money stays stopped: a person starts it.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

import structlog

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.states import PlanState
from jobservice.application import Application, Outcome, Outward
from jobservice.records import RecordSet
from jobservice.rules.bulk import BulkCommand
from jobservice.rules.reconciling import Payout, Verdict, compare
from jobservice.rules.turns import outward_key
from jobservice.store import audit, items, people, plan_rows, plans, scores
from jobservice.store import reconciling as store
from jobservice.store import turns as turn_store
from jobservice.store.database import Database, Transaction
from jobservice.store.plans import NewPlan
from jobservice.store.reconciling import Booked

ASK_SECONDS = 10.0
ASKED_AT_ONCE = 8
STATEMENT_SECONDS = 60.0
REASON = "The outside world has its payouts as paid, and this database, restored from a backup, had not."

_log = structlog.get_logger("jobservice.reconciling")


@dataclass(slots=True, kw_only=True)
class Account:
    """What comparing one tenant found."""

    tenant: str
    asked: int = 0
    held: list[Payout] = field(default_factory=list)
    """Paid there, and to be paid again here: held now, each with a review item."""
    unknown_there: list[Payout] = field(default_factory=list)
    """Released here, and not paid there."""
    unanswered: list[Payout] = field(default_factory=list)

    def lines(self) -> Iterable[str]:
        """As sentences for whoever runs the server."""
        yield f"{self.tenant}: asked about {self.asked:,} payouts."
        for payout in self.held:
            yield f"  paid there, open here; held, for a person to say: {payout.told()}"
        for payout in self.unknown_there:
            yield f"  released here, not paid there: {payout.told()}"
        for payout in self.unanswered:
            yield f"  no answer: {payout.told()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reconciling:
    """What comparing needs. `person` answers for it: plans that hold what it finds are made in their name."""

    database: Database
    records: RecordSet
    application: Application
    person: str
    days: int

    async def run(self) -> tuple[Account, ...]:
        """Compare every tenant; the database is the one in which money may move from then on, where all was answered.

        Refusal NOT_FOUND (the person), MONEY_STOPPED where money of a tenant moves: what is on its way cannot be
        compared.
        """
        async with self.database.transaction(None) as transaction:
            if await people.lock_person(transaction, self.person) is None:
                raise Refusal(ErrorCode.NOT_FOUND, f"There is no person {self.person}. See: jobservice person list.")
            await store.stop_if_restored(transaction)
            moving = await store.moving(transaction)
            tenants, _ = await scores.tenants(transaction)
        if moving:
            raise Refusal(
                ErrorCode.MONEY_STOPPED,
                f"Money of {', '.join(moving)} moves. Stop it first, and wait until what runs has ended: "
                "jobservice money stop TENANT.",
            )
        accounts = tuple([await self._tenant(tenant) for tenant in tenants])
        if not any(account.unanswered for account in accounts):
            async with self.database.transaction(None) as transaction:
                await store.keep_identity(transaction)
        return accounts

    async def _tenant(self, tenant: str) -> Account:
        account = Account(tenant=tenant)
        for command in self.records.bulk.values():
            outward = self.application.outwards.get(command.use_case)
            if outward is not None:
                await self._command(account, command, outward)
        return account

    async def _command(self, account: Account, command: BulkCommand, outward: Outward) -> None:
        after = store.FIRST
        while True:
            async with self.database.transaction(account.tenant) as transaction:
                payouts = await store.questions(transaction, [command.queue], after=after, days=self.days)
            if not payouts:
                return
            after = payouts[-1].item
            booked: list[tuple[Payout, Outcome]] = []
            for payout, answer, answered in await self._ask(outward, payouts):
                account.asked += 1
                verdict = compare(payout, answer, answered=answered)
                if verdict is Verdict.BOOKED_THERE and answer is not None:
                    booked.append((payout, answer))
                elif verdict is Verdict.RELEASED_HERE:
                    account.unknown_there.append(payout)
                elif verdict is Verdict.UNANSWERED:
                    account.unanswered.append(payout)
            if booked:
                held = await self._hold(account.tenant, command, booked)
                account.held += [payout for payout, _ in booked if payout.item in held]

    async def _ask(self, outward: Outward, payouts: Sequence[Payout]) -> list[tuple[Payout, Outcome | None, bool]]:
        turn = asyncio.Semaphore(ASKED_AT_ONCE)

        async def one(payout: Payout) -> tuple[Payout, Outcome | None, bool]:
            async with turn:
                try:
                    async with asyncio.timeout(ASK_SECONDS):
                        return payout, await outward.look_up(outward_key(payout.item)), True
                except Exception as error:  # no answer is a finding of its own, whatever the application raised
                    _log.warning("question-broke", item=payout.item, reason=type(error).__name__)
                    return payout, None, False

        return list(await asyncio.gather(*map(one, payouts)))

    async def _hold(self, tenant: str, command: BulkCommand, found: Sequence[tuple[Payout, Outcome]]) -> frozenset[str]:
        """Hold what is paid there, as uncertain; the ids of those that were still open."""
        booked = {payout.item: _booked(payout, answer) for payout, answer in found}
        async with self.database.transaction(tenant, statement_seconds=STATEMENT_SECONDS) as transaction:
            pairs = [(row["item"], row["plan"]) for row in await store.doubt(transaction, tuple(booked.values()))]
            rest = [each for item, each in booked.items() if item not in dict(pairs)]
            if rest:
                pairs += await self._plan(transaction, command, rest)
            for item, plan in pairs:
                await turn_store.ask(transaction, plan, item, queue=command.uncertain)
                await _record(transaction, self.person, booked[item])
        return frozenset(item for item, _ in pairs)

    async def _plan(
        self, transaction: Transaction, command: BulkCommand, booked: Sequence[Booked]
    ) -> list[tuple[str, str]]:
        """A plan that never ran and holds them, so that what a person says of each can be written as of any other."""
        new = NewPlan(
            command=command.id,
            queue=command.queue,
            use_case=command.use_case,
            use_case_version=self.records.use_cases[command.use_case].version,
            filter=None,
            owner=self.person,
            salt=secrets.token_bytes(32),
        )
        name = f"restored-{secrets.token_hex(4)}"
        plan = await plans.add(transaction, new, name)
        if plan is None:
            raise RuntimeError(f"there is a plan {name} already")
        held = await store.add_rows(transaction, plan, booked)
        if not held:
            raise Refusal(ErrorCode.VERSION_CHANGED, "The payouts changed while they were compared. Run it again.")
        now = await items.now(transaction)
        await plan_rows.freeze(transaction, plan, now=now, until=now + timedelta(seconds=1), again=False)
        locked = await plans.lock(transaction, plan)
        if locked is None or await plans.end(transaction, locked, PlanState.ABORTED, by=None, reason=REASON) is None:
            raise RuntimeError("a plan that was just added is as it was added")
        return [(item, plan) for item in held]


def _booked(payout: Payout, answer: Outcome) -> Booked:
    sentence = f"Paid outside, and not known here since the backup was restored. {answer.sentence}"
    return Booked(item=payout.item, sentence=sentence, booking=answer.reference)


async def _record(transaction: Transaction, person: str, booked: Booked) -> None:
    await audit.add(
        transaction,
        audit.NewEntry(
            person=person,
            action="reconcile-money",
            subject=booked.item,
            outcome="uncertain",
            detail={"sentence": booked.sentence, "reference": booked.booking},
            reference=None,
        ),
    )
