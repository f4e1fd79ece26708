"""Owns the wire models of the audit trail: who did what to which thing, when, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import AwareDatetime, JsonValue

from jobcontract.session import Person
from jobcontract.wire import Answer

AUDIT_EXPORT_MOST = 50_000
"""Most entries of one CSV: the newest of what was asked for."""
BY_ITSELF = "-"
"""In place of a person in a filter: what the service did by itself."""


class AuditEntry(Answer):
    """One row of the trail. `person` is null for what the service did by itself."""

    id: int
    at: AwareDatetime
    person: Person | None
    action: str
    """The route or use case, e.g. `claim`, `payments.reject`, `token-created`."""
    subject: str
    """What was acted on: an item id, a person id, a queue id."""
    outcome: str
    schedule: str | None = None
    """The schedule that it is about, where it is about one."""
    detail: Mapping[str, JsonValue]


class AuditSeal(Answer):
    """How an entry is sealed: its place in the chain and its link (MONEY.md 31)."""

    place: int
    link: str
    """SHA-256 over the link before it and the entry, hexadecimal."""
    sealed_at: AwareDatetime


class AuditDetail(Answer):
    """One entry with what was there before and after, as far as the act kept it, and its seal."""

    entry: AuditEntry
    before: Mapping[str, JsonValue] | None
    after: Mapping[str, JsonValue] | None
    reference: str | None
    """Of the request: what a person gives to an engineer."""
    seal: AuditSeal | None
    """None: not sealed yet."""
    now: AwareDatetime


class AuditPage(Answer):
    """One page of the trail, newest first, and the cursor of the next."""

    entries: tuple[AuditEntry, ...]
    next: str | None
    as_of: AwareDatetime
    looked_to: AwareDatetime | None = None
    """Where several things at once were asked for, which seldom meet: the search stopped there before the page was full;
    `next` goes on with what is older. Null: the page is full, or the trail ends."""
