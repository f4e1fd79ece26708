"""Owns reading one entry of the trail with what was there before and after, and the trail as CSV (MONEY.md 28, 31).

What an act kept of before and after stands in its entry. Of an act on an item it is made from the item's versions, where
the entry names one: the version that the act left behind, and the one before it. Accounts are their last four.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from jobcontract import csv_text
from jobcontract.audit import AUDIT_EXPORT_MOST, AuditDetail, AuditSeal
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.permissions import Permission
from jobservice.store import audit as trail
from jobservice.store.database import Row, Transaction
from jobservice.usecases.actor import Actor
from jobservice.usecases.audit import EVERYTHING, record, wire
from jobservice.usecases.service import Service

Side = Mapping[str, Any] | None
PUSH = "push-item"
EXPORT_SECONDS = 30.0
BYTES_MOST = 16 * 1024 * 1024
"""Most bytes of one file: less than the most that a console takes for an answer."""
_CHUNK = 2_000
_SAME_ACT = timedelta(minutes=1)
"""A version was kept by the act of an entry where it is at most so much older: both are of one transaction."""
_HEADS = ("entry", "instant", "person", "name", "action", "subject", "outcome", "schedule", "detail")
LEFT_OFF = "older entries are left off: export a narrower filter"


async def read_entry(service: Service, actor: Actor, identifier: int) -> AuditDetail:
    """One entry of the tenant. Refusal PERMISSION_MISSING without audit.read, NOT_FOUND."""
    actor.require(Permission.AUDIT_READ)
    async with service.database.transaction(actor.tenant) as transaction:
        row = await trail.entry(transaction, identifier)
        if row is None:
            raise Refusal(ErrorCode.NOT_FOUND, f"There is no entry {identifier} in the audit trail of {actor.tenant}.")
        before, after = await _sides(transaction, row)
        now = transaction.began_at
    seal = None
    if row["place"] is not None and row["sealed_at"] is not None:
        seal = AuditSeal(place=row["place"], link=bytes(row["link"]).hex(), sealed_at=row["sealed_at"])
    return AuditDetail(
        entry=wire(row), before=before, after=after, reference=row["reference"] or None, seal=seal, now=now
    )


async def _sides(transaction: Transaction, row: Row) -> tuple[Side, Side]:
    """Before and after: what the entry kept of them, or the versions of the item that it names."""
    detail = row["detail"]
    kept = (_mapping(detail.get("before")), _mapping(detail.get("after")))
    if kept != (None, None):
        return kept
    item, version = _item(row["subject"]), detail.get("money_version", 1 if row["action"] == PUSH else None)
    if item is None or not isinstance(version, int) or row["outcome"] == "refused":
        return None, None
    versions = {each["money_version"]: each for each in await trail.versions(transaction, item, version)}
    mine = versions.get(version)
    if mine is None or mine["changed_by"] != row["person"] or not _of_one_act(mine["changed_at"], row["at"]):
        return None, None  # the act left the item as it was
    earlier = versions.get(version - 1)
    return None if earlier is None else _shown(earlier), _shown(mine, changed=earlier is not None)


def _of_one_act(changed_at: datetime, at: datetime) -> bool:
    return abs(at - changed_at) <= _SAME_ACT


def _mapping(value: object) -> Side:
    return value if isinstance(value, dict) else None


def _item(subject: str) -> UUID | None:
    try:
        return UUID(subject)
    except ValueError:
        return None


def _shown(version: Row, *, changed: bool = False) -> Mapping[str, Any]:
    """A version's members; of two accounts with the same last four it says that they differ."""
    until = version["set_aside_until"]
    members = {
        "money_version": version["money_version"],
        "state": version["state"],
        "set_aside_until": None if until is None else until.isoformat(),
        "title": version["title"],
        "amount_minor": version["amount_minor"],
        "currency": version["currency"],
        "payee_id": version["payee_id"],
        "payee_name": version["payee_name"],
        "account_last4": version["account_last4"],
        "inputs": version["inputs"],
    }
    if changed and version["account_changed"]:
        members["account_changed"] = True
    return {name: value for name, value in members.items() if value is not None}


async def export_audit(service: Service, actor: Actor, wanted: trail.Wanted = EVERYTHING) -> bytes:
    """What was asked for as CSV, newest first: at most `AUDIT_EXPORT_MOST` entries and `BYTES_MOST` bytes; the last line
    says where older ones were left off. The export is an entry itself. Refusals: PERMISSION_MISSING, TIMED_OUT."""
    actor.require(Permission.AUDIT_READ)
    parts, count, size = [csv_text.MARK, csv_text.lines([_HEADS])], 0, 0
    mark: trail.Mark | None = None
    whole = False
    async with service.database.transaction(actor.tenant, statement_seconds=EXPORT_SECONDS) as transaction:
        while count < AUDIT_EXPORT_MOST and size < BYTES_MOST:
            most = min(_CHUNK, AUDIT_EXPORT_MOST - count)
            rows = await trail.page(transaction, after=mark, limit=most, wanted=wanted)
            shown = rows[:most]
            if shown:
                parts.append(await asyncio.to_thread(_lines, shown))
                count, size, mark = count + len(shown), size + len(parts[-1]), (shown[-1]["at"], shown[-1]["id"])
            if len(rows) <= most:
                whole = True
                break
        if not whole:
            parts.append(csv_text.lines([(None, None, None, None, LEFT_OFF, None, None, None, None)]))
        asked = {
            name: value.isoformat() if isinstance(value, datetime) else value
            for name, value in asdict(wanted).items()
            if value is not None and value is not False
        }
        await record(transaction, actor, "export-audit", actor.tenant, {"rows": count, "whole": whole, "asked": asked})
    return b"".join(parts)


def _lines(rows: Sequence[Row]) -> bytes:
    return csv_text.lines(
        (
            row["id"],
            _instant(row["at"]),
            row["person"],
            row["person_name"],
            row["action"],
            row["subject"],
            row["outcome"],
            row["schedule"],
            json.dumps(row["detail"], ensure_ascii=False, sort_keys=True) if row["detail"] else None,
        )
        for row in rows
    )


def _instant(at: datetime) -> str:
    """UTC to the microsecond: what happened in one second keeps its order."""
    return at.isoformat(timespec="microseconds").replace("+00:00", "Z")
