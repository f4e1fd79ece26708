"""Owns how payouts, disputes and notes of the example look as work items. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, time

from examples.payments.payees import account, payee_id
from examples.payments.register import Invoice, InvoiceRegister
from examples.payments.tally import FileTally, Taken
from jobcontract.ids import NAME_MAX
from jobservice.application import NewPayment, NewWorkItem

PAYOUTS = "payments.payouts"
DISPUTES = "payments.disputes"
NOTES = "payments.notes"
UNCERTAIN = "payments.uncertain"

LARGE = 10_000_00
"""From this many minor units on, a payout in GBP without an invoice is disputed."""


def payout_item(taken: Taken, register: InvoiceRegister) -> NewWorkItem:
    """The payout as it waits for release: its key is payee id and transaction number."""
    payout = taken.payout
    return NewWorkItem(
        key=payout.key,
        title=_title(payout.purpose or "Payment", payout.department),
        created=_midnight(taken.created),
        payment=_payment(taken),
        inputs={"invoice": register.invoice(payout.number).value},
        payload=_origin(taken),
        workspace=payout.department or None,
    )


def dispute_items(taken: Sequence[Taken], register: InvoiceRegister) -> list[NewWorkItem]:
    """One dispute for each credit, and for each large payout in GBP without an invoice."""
    return [
        _dispute(each, "Supplier contests this credit" if each.payout.money.credit else "Large payout without invoice")
        for each in taken
        if each.payout.money.credit or _large_without_invoice(each, register)
    ]


def note_items(tally: FileTally, day: date) -> list[NewWorkItem]:
    """One note for the file's tally, and one for each row that could not be read."""
    notes = [
        NewWorkItem(
            key=f"note/{tally.name}",
            title=_title(f"{tally.name}: {tally.taken:,} of {tally.rows:,} rows taken"),
            created=_midnight(day),
            payload={"tally": str(tally)},
        )
    ]
    for row in tally.unreadable:
        title = _title(f"{tally.name}, line {row.line:,}: {row.why}")
        payload = {"file": tally.name, "line": row.line, "why": row.why}
        notes.append(
            NewWorkItem(key=f"note/{tally.name}/{row.line}", title=title, created=_midnight(day), payload=payload)
        )
    return notes


def _dispute(taken: Taken, what: str) -> NewWorkItem:
    payout = taken.payout
    return NewWorkItem(
        key=f"dispute/{payout.key}",
        title=_title(what, payout.purpose),
        created=_midnight(taken.created),
        payment=_payment(taken),
        inputs={"evidence": Invoice.MISSING.value if not payout.money.credit else "credit note"},
        payload=_origin(taken),
        workspace=payout.department or None,
    )


def _large_without_invoice(taken: Taken, register: InvoiceRegister) -> bool:
    money = taken.payout.money
    large = money.currency == "GBP" and money.minor >= LARGE
    return large and register.invoice(taken.payout.number) is Invoice.MISSING


def _payment(taken: Taken) -> NewPayment:
    payout = taken.payout
    return NewPayment(
        money=payout.money,
        payee_id=payee_id(payout.payee),
        payee_name=payout.payee,
        account=account(payout.account_of),
    )


def _origin(taken: Taken) -> dict[str, object]:
    payout = taken.payout
    return {
        "file": payout.file,
        "line": payout.line,
        "transaction": payout.number,
        "published date": payout.paid.isoformat(),
        "purpose": payout.purpose,
        "department": payout.department,
    }


def _title(*parts: str) -> str:
    return ", ".join(part for part in parts if part)[:NAME_MAX]


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time.min, tzinfo=UTC)
