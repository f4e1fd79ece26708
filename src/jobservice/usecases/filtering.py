"""Owns turning the text of a filter into what the statements of a listing take. Decides nothing about items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from jobcontract.errors import ErrorCode, Refusal
from jobservice.rules.queues import Queue
from jobservice.store.database import Transaction
from jobservice.usecases.actor import Actor
from jobservice.usecases.service import Service


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a listing is to hold: the condition as `jobs.matches` takes it (None: everything), and the currency by whose
    amounts it is sorted (None: the queue's own order)."""

    condition: Mapping[str, object] | None = None
    currency: str | None = None


async def read_filter(transaction: Transaction, service: Service, actor: Actor, queue: Queue, text: str) -> Wanted:  # noqa: ARG001  # they decide what a name means
    """What `text` wants of a queue. Refusal FILTER_INVALID with `at` and `length`, in characters of the text."""
    if text.strip():
        raise Refusal(ErrorCode.FILTER_INVALID, "Filters cannot be read yet.", at=0, length=len(text))
    return Wanted()
