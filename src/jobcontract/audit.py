"""Owns the wire models of the audit trail: who did what to which thing, when, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import AwareDatetime, JsonValue

from jobcontract.session import Person
from jobcontract.wire import Answer


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
    detail: Mapping[str, JsonValue]


class AuditPage(Answer):
    """One page of the trail, newest first, and the cursor of the next."""

    entries: tuple[AuditEntry, ...]
    next: str | None
    as_of: AwareDatetime
