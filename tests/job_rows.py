"""Owns rows of background jobs for tests that read them: whole and consistent, past the walls of who may write what."""

from __future__ import annotations

from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID

import psycopg
from psycopg import sql
from psycopg.types.json import Jsonb

COUNTER = iter(range(1, 10**9))


def id_at(at: datetime, number: int) -> str:
    """An id as the service makes it at an instant (RFC 9562, version 7), the same for the same number."""
    head = (int(at.timestamp() * 1000) << 80) | (7 << 76) | (2 << 62)
    return str(UUID(int=head | (number << 8)))


def job_row(at: datetime, *, status: str = "pending", number: int | None = None, **more: Any) -> dict[str, Any]:
    """The columns of a job that was requested at an instant; whatever its status demands is filled in."""
    number = next(COUNTER) if number is None else number
    identifier = more.pop("id", None) or id_at(at, number)
    final = status in ("succeeded", "failed", "cancelled")
    row: dict[str, Any] = {
        "family": "payments",
        "id": identifier,
        "tenant": "acme",
        "kind": "payments.bank-file",
        "kind_version": 1,
        "status": status,
        "progress": 100 if status == "succeeded" else 0,
        "moves": "nothing",
        "submission_identity": f"identity-{number}",
        "inputs": Jsonb({}),
        "inputs_digest": sha256(b"").digest(),
        "requested_at": at,
        "activity_at": at + timedelta(seconds=2),
        "started_at": None if status == "pending" else at + timedelta(seconds=1),
        "settled_at": at + timedelta(seconds=2) if final else None,
        "lineage": more.pop("lineage", identifier),
    }
    if status == "failed":
        row |= {"failure_summary": "The bank refused.", "failure_reference": f"ref-{number}"}
    if status == "cancelled":
        row |= {"cancel_asked_at": at, "cancel_reason": "not wanted", "cancel_asked_by": "o.lind"}
    if more.get("resolution"):
        row |= {"resolved_at": at + timedelta(seconds=3), "resolved_by": "o.lind"}
    return row | more


def add_rows(connection: psycopg.Connection[Any], table: str, rows: list[dict[str, Any]]) -> None:
    """Add rows of the same columns to a table of the schema."""
    for row in rows:
        statement = sql.SQL("insert into jobs.{} ({}) values ({})").format(
            sql.Identifier(table),
            sql.SQL(", ").join(map(sql.Identifier, row)),
            sql.SQL(", ").join(sql.SQL("%s") for _ in row),
        )
        connection.execute(statement, list(row.values()))


def add_job(connection: psycopg.Connection[Any], at: datetime, **more: Any) -> str:
    """Add one job; its id."""
    row = job_row(at, **more)
    add_rows(connection, "jobs", [row])
    return str(row["id"])
