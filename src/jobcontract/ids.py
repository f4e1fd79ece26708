"""Owns the identifiers of the system, their form, and the lengths of free text. Imports nothing of ours."""

from __future__ import annotations

import re
from typing import NewType

TenantId = NewType("TenantId", str)
PersonId = NewType("PersonId", str)
QueueId = NewType("QueueId", str)
UseCaseId = NewType("UseCaseId", str)
ItemId = NewType("ItemId", str)

SLUG = re.compile(r"[a-z][a-z0-9]*(?:[-._][a-z0-9]+)*", re.ASCII)
"""Form of ids that people write: tenants, persons, queues, use cases, settings (`payments.set-aside`, `m.ito`)."""

SLUG_MAX = 80
KEY_MAX = 200
"""Most characters of a business key or an idempotency key."""
REASON_MAX = 500
NOTE_MAX = 2_000
NAME_MAX = 200
PAGE_MAX = 200
"""Most rows of one page of any listing."""


def is_slug(text: str) -> bool:
    """Whether `text` has the form of an id that people write, at most `SLUG_MAX` characters."""
    return len(text) <= SLUG_MAX and SLUG.fullmatch(text) is not None


def storable(text: str) -> bool:
    """Whether PostgreSQL can keep `text` and UTF-8 can carry it: no NUL, no lone surrogate (MONEY.md 9)."""
    return "\x00" not in text and not any("\ud800" <= character <= "\udfff" for character in text)
