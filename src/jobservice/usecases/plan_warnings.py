"""Owns warning of what is odd in a plan that was just frozen (MONEY.md 11). Takes nothing out: its owner answers."""

from __future__ import annotations

from jobservice.rules.bulk import BulkCommand
from jobservice.rules.look_alikes import look_alikes
from jobservice.store import plan_warnings as store
from jobservice.store.database import Transaction
from jobservice.usecases.service import Service


async def warn(transaction: Transaction, service: Service, command: BulkCommand, plan: str) -> None:
    """Write the warnings of the plan as it is frozen now, in the transaction that froze it."""
    alike = look_alikes(await store.payees(transaction, plan))
    await store.make(
        transaction,
        plan,
        alike=alike,
        above=command.answer_above,
        seconds=service.records.settings.warnings_days,
    )
