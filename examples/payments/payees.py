"""Owns who is paid and where to: ids and accounts made from the published name, the same in every run.

The accounts are invented (bank `DEMO`, a country code that no country has), so none can be anybody's.
"""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256

_COUNTRY = "XJ"
_BANK = "DEMO"
_REMEMBERED = 10_000
"""Names whose id and account are kept: more than all published files name."""


def tidy(name: str) -> str:
    """The name with single blanks; no-break blanks count as blanks."""
    return " ".join(name.split())


@lru_cache(maxsize=_REMEMBERED)
def payee_id(name: str) -> str:
    """`S-` and 12 digits of a hash: equal for names that differ in case and blanks alone."""
    return f"S-{_hash(name) % 10**12:012d}"


@lru_cache(maxsize=_REMEMBERED)
def account(name: str) -> str:
    """An invented IBAN with right check digits (ISO 13616, mod 97)."""
    number = f"{_hash(name) // 10**12 % 10**14:014d}"
    rest = f"{_BANK}{number}"
    digits = "".join(str(int(character, 36)) for character in f"{rest}{_COUNTRY}00")
    return f"{_COUNTRY}{98 - int(digits) % 97:02d}{rest}"


def _hash(name: str) -> int:
    return int.from_bytes(sha256(tidy(name).casefold().encode()).digest()[:16], "big")
