"""Owns the identifiers of the system, their form, and the lengths of free text. Imports nothing of ours."""

from __future__ import annotations

import re
import unicodedata
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
FILTER_MAX = 500
"""Most characters of a filter."""
ACCOUNT_LEAST = 8
"""Fewest characters of an account: its last four are shown, and at least as many stay hidden."""
_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0\U0001d159")
"""Letters and symbols by their category that show nothing (Unicode: Hangul fillers, empty braille, null notehead)."""


def is_slug(text: str) -> bool:
    """Whether `text` has the form of an id that people write, at most `SLUG_MAX` characters."""
    return len(text) <= SLUG_MAX and SLUG.fullmatch(text) is not None


def storable(text: str) -> bool:
    """Whether PostgreSQL can keep `text` and UTF-8 can carry it: no NUL, no lone surrogate (MONEY.md 9)."""
    return "\x00" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def visible(text: str) -> bool:
    """Whether a person sees anything of `text`: one letter, digit, punctuation mark or symbol that is not blank."""
    return any(unicodedata.category(sign)[0] in "LNPS" and sign not in _BLANK for sign in text)


def addressable(key: str) -> bool:
    """Whether a business key reaches the service as a part of an address: no control character or line separator, and
    no `.` or `..` between slashes, which proxies take away (RFC 3986, 5.2.4)."""
    if any(unicodedata.category(sign) in ("Cc", "Zl", "Zp") for sign in key):
        return False
    return not {".", ".."} & set(key.split("/"))
