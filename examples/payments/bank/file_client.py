"""Owns sending a file to the bank, and asking what became of one: what its answers mean.

Makes each call once, as `client.py`: never takes silence for a no.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from examples.payments.bank.client import Bank, Busy, NoAnswer, NotUnderstood, RefusedByBank, Reply, retry_after, words
from examples.payments.bank.files import FileOrder

_REFERENCE = re.compile(r"[A-Za-z0-9-]{1,64}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Filed:
    """The bank settles the file; `settlement` is its reference. Until it is acknowledged the bank may not say so anywhere."""

    settlement: str
    acknowledged: bool
    repeated: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherFile:
    """A file with other content was settled under the key, and nothing was settled now."""

    settlement: str


Settled = Filed | RefusedByBank | Busy | OtherFile | NotUnderstood
"""What may come of a file."""


async def settle(bank: Bank, order: FileOrder) -> Settled:
    """Send the file once. BankAway = nothing was sent; NoAnswer = nobody knows."""
    reply = await bank.call("POST", "/files", order.message())
    match reply.status:
        case 200 | 201:
            return _filed(reply, order.key)
        case 402:
            return _refused(reply, order.key)
        case 409 if "settlement" in reply.members:
            return OtherFile(settlement=_reference(reply.members))
        case 422 if "error" in reply.members:
            return NotUnderstood(sentence=words(reply.members["error"]))
        case 503:
            return Busy(after_seconds=retry_after(reply.headers))
    raise NoAnswer(f"The bank answered {reply.status}, which says neither yes nor no.")


async def look_up(bank: Bank, key: str) -> Filed | RefusedByBank | None:
    """What the bank knows of a file; None = it says that it never saw it. BankAway, NoAnswer."""
    reply = await bank.call("GET", f"/files/{quote(key, safe='')}", None)
    if reply.status == 404 and reply.members.get("unknown") is True:
        return None
    if reply.status == 200:
        return _refused(reply, key) if "refused" in reply.members else _filed(reply, key)
    raise NoAnswer(f"The bank answered {reply.status}, which says neither yes nor no.")


def _filed(reply: Reply, key: str) -> Filed:
    members = reply.members
    acknowledged, repeated = members.get("acknowledged"), members.get("repeated")
    if not isinstance(acknowledged, bool) or not isinstance(repeated, bool) or members.get("key") != key:
        raise NoAnswer(f"The bank answered {reply.status}, but not with a settlement of this file.")
    return Filed(settlement=_reference(members), acknowledged=acknowledged, repeated=repeated)


def _refused(reply: Reply, key: str) -> RefusedByBank:
    reason = reply.members.get("refused")
    if not isinstance(reason, str) or reply.members.get("key") != key:
        raise NoAnswer(f"The bank answered {reply.status}, but not with a refusal of this file.")
    return RefusedByBank(reason=words(reason))


def _reference(members: Mapping[str, object]) -> str:
    found = members.get("settlement")
    if not isinstance(found, str) or not _REFERENCE.fullmatch(found):
        raise NoAnswer("The bank's reference of the settlement cannot be read.")
    return found
