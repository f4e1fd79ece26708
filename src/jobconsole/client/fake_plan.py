"""Owns one plan of the fake service: its frozen rows, its account, and how the wire says it. Decides nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256

from jobconsole.client.fake_queues import FakeItem
from jobconsole.client.plan_reading import head_of
from jobcontract.items import Amount, Payee
from jobcontract.money import Money as Sum
from jobcontract.money import exponent, totals
from jobcontract.plan_digest import DigestRow, plan_digest
from jobcontract.plans import (
    ExcludedItem,
    ExclusionCount,
    Plan,
    PlanItem,
    PlanLargest,
    PlanTotal,
    PlanWarning,
    TurnAccount,
)
from jobcontract.queues import BulkCommand, Queue
from jobcontract.session import Person
from jobcontract.states import Exclusion, Moves, PlanState, Turn, Warned


@dataclass(slots=True, kw_only=True)
class FakeRow:
    """One item as it was frozen, and its turn."""

    row: FakeItem
    number: int = 0
    money_version: int
    title: str
    amount: Amount
    payee: Payee
    turn: Turn = Turn.NOT_STARTED
    attempts: int = 0
    sentence: str | None = None
    reference: str | None = None
    ended_at: datetime | None = None

    @property
    def account_mark(self) -> str:
        """Stands for the account."""
        return sha256(f"salt{self.payee.account_last4}".encode()).hexdigest()


@dataclass(slots=True, kw_only=True)
class FakePlan:
    """A plan and everything of it."""

    id: str
    name: str
    tenant: str
    queue: Queue
    command: BulkCommand
    owner: Person
    filter: str | None
    frozen_at: datetime
    expires_at: datetime
    rows: list[FakeRow]
    excluded: list[ExcludedItem]
    warnings: list[PlanWarning] = field(default_factory=list)
    state: PlanState = PlanState.OPEN
    edition: int = 1
    confirmed_at: datetime | None = None
    armed_until: datetime | None = None
    apply_until: datetime | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None
    reason: str | None = None
    ended_by: Person | None = None
    version: int = 1

    def row(self, item: str) -> FakeRow | None:
        """The row of an item."""
        return next((each for each in self.rows if each.row.id == item), None)

    def shown(self, as_of: datetime) -> Plan:
        """The plan as the wire has it."""
        case = next(case for case in self.queue.use_cases if case.id == self.command.use_case)
        counts = Counter(each.reason for each in self.excluded)
        return Plan(
            id=self.id,
            name=self.name,
            command=self.command.id,
            title=self.command.title,
            queue=self.queue.id,
            use_case=case.id,
            use_case_title=case.title,
            use_case_version=1,
            moves=Moves.MONEY,
            confirm_by=self.command.confirm_by,
            parameters={},
            filter=self.filter,
            tenant=self.tenant,
            owner=self.owner,
            approved_by=None,
            state=self.state,
            edition=self.edition,
            frozen_at=self.frozen_at,
            expires_at=self.expires_at,
            confirmed_at=self.confirmed_at,
            armed_until=self.armed_until,
            apply_until=self.apply_until,
            started_at=self.started_at,
            ended_at=self.ended_at,
            reason=self.reason,
            ended_by=self.ended_by,
            count=len(self.rows),
            payees=len({each.payee.id for each in self.rows}),
            totals=sums(self.rows),
            largest=largest(self.rows),
            excluded=tuple(ExclusionCount(reason=each, count=counts[each]) for each in Exclusion if counts[each]),
            warnings=len(self.warnings),
            to_answer=sum(each.must_answer and each.answer is None for each in self.warnings),
            account=self.account() if self.confirmed_at is not None else (),
            version=self.version,
            as_of=as_of,
        )

    def account(self) -> tuple[TurnAccount, ...]:
        """Every planned item once, by turn."""
        turns = {turn: [each for each in self.rows if each.turn is turn] for turn in Turn}
        return tuple(TurnAccount(turn=turn, count=len(rows), totals=sums(rows)) for turn, rows in turns.items() if rows)

    def items(self, rows: Iterable[FakeRow]) -> tuple[PlanItem, ...]:
        """Rows as the wire has them."""
        warned: dict[str, list[Warned]] = {}
        for warning in self.warnings:
            warned.setdefault(warning.item, []).append(warning.kind)
        return tuple(
            PlanItem(
                number=each.number,
                item=each.row.id,
                key=each.row.key,
                title=each.title,
                amount=each.amount,
                payee=each.payee,
                account_mark=each.account_mark,
                inputs=each.row.inputs,
                money_version=each.money_version,
                warnings=tuple(warned.get(each.row.id, ())),
                turn=each.turn,
                attempts=each.attempts,
                sentence=each.sentence,
                reference=each.reference,
                ended_at=each.ended_at,
            )
            for each in rows
        )

    def digest(self, as_of: datetime) -> str:
        """The digest over the frozen rows."""
        rows = (
            DigestRow(
                item=each.row.id,
                money_version=each.money_version,
                key=each.row.key or "",
                title=each.title,
                minor=each.amount.minor,
                currency=each.amount.currency,
                exponent=each.amount.exponent,
                payee_id=each.payee.id,
                payee_name=each.payee.name,
                account_last4=each.payee.account_last4,
                account_mark=each.account_mark,
            )
            for each in self.rows
        )
        return plan_digest(head_of(self.shown(as_of)), rows)


def frozen(rows: Iterable[FakeItem]) -> list[FakeRow]:
    """Items as rows of a plan, numbered in the order of their ids."""
    found = [
        FakeRow(row=row, money_version=row.money_version, title=row.title, amount=row.amount, payee=row.payee)
        for row in sorted(rows, key=lambda row: row.id)
        if row.amount is not None and row.payee is not None
    ]
    return [replace(row, number=number) for number, row in enumerate(found, 1)]


def sums(rows: Iterable[FakeRow]) -> tuple[PlanTotal, ...]:
    """Out, back and net of each currency, by its code."""
    added = totals(Sum(minor=each.amount.minor, currency=each.amount.currency) for each in rows)
    return tuple(
        PlanTotal(
            currency=total.currency,
            exponent=exponent(total.currency),
            out_minor=total.out_minor,
            out_count=total.out_count,
            back_minor=total.back_minor,
            back_count=total.back_count,
            net_minor=total.out_minor - total.back_minor,
        )
        for total in sorted(added, key=lambda total: total.currency)
    )


def largest(rows: Sequence[FakeRow]) -> tuple[PlanLargest, ...]:
    """The largest that goes out in each currency, the first of equals."""
    found: dict[str, FakeRow] = {}
    for each in rows:
        before = found.get(each.amount.currency)
        if each.amount.minor > 0 and (before is None or each.amount.minor > before.amount.minor):
            found[each.amount.currency] = each
    return tuple(
        PlanLargest(amount=each.amount, payee=each.payee, number=each.number) for _, each in sorted(found.items())
    )
