"""Owns the lines of a job's history: each is written with what it tells, and none is ever edited (INV-06)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from psycopg.types.json import Jsonb

from jobcontract.job_states import JobEventKind
from jobservice.store.database import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """A line to add. `status`: of the step that it is about, else of the job. `person` None: the service itself."""

    kind: JobEventKind
    sentence: str
    step: str | None = None
    status: str | None = None
    person: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)

    def parameters(self) -> dict[str, Any]:
        """As one object of the statement's list."""
        return {
            "kind": self.kind.value,
            "sentence": self.sentence,
            "step": self.step,
            "status": self.status,
            "person": self.person,
            "detail": dict(self.detail),
        }


async def note(transaction: Transaction, family: str, job: str, event: NewEvent) -> bool:
    """Add a line to a job's history and change nothing else, settled or not; False where the tenant has no such job."""
    written = await transaction.run(
        "jobs/note",
        family=family,
        job=job,
        kind=event.kind.value,
        step=event.step,
        sentence=event.sentence,
        person=event.person,
        detail=Jsonb(dict(event.detail)),
    )
    return written > 0
