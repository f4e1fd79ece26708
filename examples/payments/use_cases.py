"""Owns what a person can do to a payout, a dispute or a note: one function a use-case record.

Each runs inside its own transaction on a locked item and only through `Call`; no storage, no clock, no network.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from jobcontract.states import ItemState
from jobservice.application import Application, Call, Outcome, WorkItem, done, refused

SET_ASIDE_MOST = timedelta(days=90)
"""How far ahead an item may be set aside: longer than a quarter, and it would be forgotten."""


async def set_aside(call: Call, item: WorkItem, *, until: datetime, reason: str) -> Outcome:
    """Keep the item out of the waiting list until an instant within the next 90 days."""
    if until <= call.now:
        return refused(f"{_instant(until)} has passed; name a later time.")
    if until > call.now + SET_ASIDE_MOST:
        return refused(f"{_instant(until)} is more than {SET_ASIDE_MOST.days} days ahead; name an earlier time.")
    await call.set_aside(until)
    return done(f"Set aside until {_instant(until)}: {reason}")


async def reject(call: Call, item: WorkItem, *, reason: str) -> Outcome:
    """End the item: it will not be paid."""
    await call.close(ItemState.REJECTED)
    return done(f"Rejected: {reason}")


async def resolve(call: Call, item: WorkItem, *, reason: str) -> Outcome:
    """End the item: nothing is left to do."""
    await call.close(ItemState.RESOLVED)
    return done(f"Resolved: {reason}")


async def ask_evidence(call: Call, item: WorkItem, *, question: str) -> Outcome:
    """Leave the item open, marked as waiting for what was asked."""
    await call.reopen(ItemState.EVIDENCE_ASKED)
    return done(f"Asked for evidence: {question}")


async def note(call: Call, item: WorkItem, *, text: str) -> Outcome:
    """Keep a note in the item's history; the item itself stays as it is."""
    return done(f"Noted: {text}")


async def hand_over(call: Call, item: WorkItem, *, colleague: str, reason: str) -> Outcome:
    """Give the claim to a colleague who can act on the item."""
    if colleague == call.person:
        return refused("You hold it already; name a colleague.")
    await call.hand_over(colleague)
    return done(f"Handed to {colleague}: {reason}")


async def release(call: Call, item: WorkItem) -> Outcome:
    """Say that the payout may be paid; the bank is told once this is kept, and what it answers decides."""
    payment = item.payment
    if payment is None:
        return refused("It carries no payment: there is nothing to release.")
    return done(f"Cleared: {payment.money} to …{payment.account[-4:]} {payment.payee_name}")


def register(application: Application) -> None:
    """Register every use case under the id of its record."""
    for name, function in (
        ("payments.ask-evidence", ask_evidence),
        ("payments.hand-over", hand_over),
        ("payments.note", note),
        ("payments.reject", reject),
        ("payments.release", release),
        ("payments.resolve", resolve),
        ("payments.set-aside", set_aside),
    ):
        application.use_case(name)(function)


def _instant(instant: datetime) -> str:
    return f"{instant:%Y-%m-%d %H:%M %Z}"
