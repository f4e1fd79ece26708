"""Owns jobs as the account holds them, written by the owner's hand, so that each test says what stands in the database; and
the kinds that such tests know."""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass, field
from typing import Any

from psycopg.types.json import Jsonb

from jobcontract.states import Moves
from jobservice.rules.job_kinds import JobKind, StepDefinition
from tests.usecases.desk import RELEASE_MANY

PLAIN, FRAGILE, FILE, GONE = "t.plain", "t.fragile", "t.file", "t.gone"
"""Retried, not retried, moving money, and in no record."""


def kind(identifier: str, *, moves: Moves = Moves.NOTHING, retryable: bool = True) -> JobKind:
    """A kind of one step."""
    step = StepDefinition(step="work", label="Do it", use_case=f"{identifier}-work", moves=moves)
    return JobKind(
        id=identifier,
        label=identifier.removeprefix("t.").capitalize(),
        application="payments",
        family="payments",
        moves=moves,
        retryable=retryable,
        failure_effect=None,
        no_effect="Nothing is left behind.",
        inputs=(),
        versions={1: (step,)},
        submitted_by=RELEASE_MANY if moves is Moves.MONEY else None,
    )


KINDS = {each.id: each for each in (kind(PLAIN), kind(FRAGILE, retryable=False), kind(FILE, moves=Moves.MONEY))}


@dataclass(slots=True)
class JobHand:
    """Writes rows of jobs as their Workers leave them. `number` makes each job later than the one before."""

    connection: Any
    written: list[str] = field(default_factory=list)

    def job(self, status: str = "failed", kind: str = PLAIN, **columns: Any) -> str:
        """A job of acme with one step; its id."""
        settled, began = status in ("succeeded", "failed", "cancelled"), status != "pending"
        identifier = str(uuid.UUID(int=(0x0190D0C0 << 96) | (7 << 76) | (2 << 62) | (len(self.written) + 1)))
        row: dict[str, Any] = {
            "family": "payments",
            "id": identifier,
            "tenant": "acme",
            "kind": kind,
            "kind_version": 1,
            "status": status,
            "progress": 100 if status == "succeeded" else 0,
            "moves": "money" if kind == FILE else "nothing",
            "submission_identity": identifier,
            "inputs_digest": hashlib.sha256(b"{}").digest(),
            "subject": f"Job {len(self.written) + 1}",
            "lineage": identifier,
            "event_sequence": 4,
            **columns,
        }
        if kind == FILE and row.get("recovery") is None:
            row.setdefault("plan", str(uuid.UUID(int=77)))
        if status == "failed":
            row.setdefault("failure_summary", "The account is closed.")
        if status == "cancelled":
            row.setdefault("cancel_asked_at", "now")
        if row.get("cancel_asked_at") is not None:
            row = {"cancel_reason": "Not wanted", "cancel_asked_by": "o.lind", **row}
        if began:
            row.setdefault("started_at", "now")
        if settled:
            row.setdefault("settled_at", "now")
        self._add("jobs", row)
        self.written.append(identifier)
        return identifier

    def retry(self, of: str, status: str = "failed", **columns: Any) -> str:
        """A retry of a job, of the same lineage."""
        lineage = self.one("select lineage::text from jobs.jobs where id = %s", of)
        return self.job(status, retry_of=of, lineage=lineage, **columns)

    def change(self, job: str, **columns: Any) -> None:
        """What happened to it meanwhile."""
        sets = ", ".join(f"{name} = {_value(name, value)}" for name, value in columns.items())
        self.connection.execute(
            f"update jobs.jobs set {sets}, version = version + 1 where id = %(job)s",
            {**{name: value for name, value in columns.items() if value != "now"}, "job": job},
        )

    def one(self, query: str, *values: Any) -> Any:
        """The only value of a query."""
        row = self.connection.execute(query, values).fetchone()
        assert row is not None
        return row[0]

    def _add(self, table: str, row: dict[str, Any]) -> None:
        names = ", ".join(row)
        values = ", ".join(_value(name, value) for name, value in row.items())
        given = {name: Jsonb(value) if isinstance(value, dict) else value for name, value in row.items()}
        self.connection.execute(
            f"insert into jobs.{table} ({names}) values ({values})",
            {name: value for name, value in given.items() if not (isinstance(value, str) and value == "now")},
        )


def _value(name: str, value: Any) -> str:
    return "jobs.now()" if isinstance(value, str) and value == "now" else f"%({name})s"
