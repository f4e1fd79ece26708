"""Owns what the database knows of the key ring: secrets sealed anew after a rotation, and whether a key is still needed
(MONEY.md 17).

Runs on the owner's connection, from the server's own command line. Reads and writes no key file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jobcontract.errors import ErrorCode, Refusal
from jobservice.rules.keys import Keys, Sealed, Unopenable
from jobservice.store import codes
from jobservice.store import enrolment as store
from jobservice.store.database import Database, Transaction
from jobservice.usecases.audit import record_on_server
from jobservice.usecases.codes import PURPOSE
from jobservice.usecases.enrolment import PENDING

NOBODY = ""
"""No person's id: rights are judged whether a row is there or not."""
_SHOWN_MAX = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class SealedAnew:
    """How a rotation went: the people whose secrets the current key seals now, and those whose secrets no key opened."""

    people: tuple[str, ...]
    unopened: tuple[str, ...]


async def check_owner(owner: Database) -> None:
    """Raise what the database says where this login may not write secrets: before any key is made."""
    async with owner.transaction(None) as transaction:
        await store.drop_pending(transaction, NOBODY)


async def seal_anew(owner: Database, keys: Keys) -> SealedAnew:
    """Seal every secret under the current key, one person after the other, and record the rotation.

    What no key opens stays as it is: its person must be enrolled again.
    """
    async with owner.transaction(None) as transaction:
        everybody = await store.people(transaction)
    done: list[str] = []
    unopened: list[str] = []
    for person in everybody:
        async with owner.transaction(None) as transaction:
            (done if await _seal_anew(transaction, keys, person) else unopened).append(person)
    async with owner.transaction(None) as transaction:
        detail = {
            "seal": keys.current_seal,
            "sign": keys.current_sign,
            "people": len(done),
            "unopened": unopened,
        }
        await record_on_server(transaction, "keyring-rotated", keys.current_seal, (), detail)
    return SealedAnew(people=tuple(done), unopened=tuple(unopened))


async def _seal_anew(transaction: Transaction, keys: Keys, person: str) -> bool:
    kept = await codes.lock(transaction, person)
    if kept is None:
        return True
    try:
        secret = _again(keys, person, PURPOSE, kept.secret)
        pending = _again(keys, person, PENDING, kept.pending)
    except Unopenable:
        return False
    await store.seal_anew(transaction, person, secret, pending)
    return True


def _again(keys: Keys, person: str, purpose: str, sealed: Sealed | None) -> Sealed | None:
    return None if sealed is None else keys.seal(person, purpose, keys.open(person, purpose, sealed))


async def retire_seal(owner: Database, key_id: str) -> None:
    """Record that a key that seals goes. Refusal INVALID_REQUEST where it still seals somebody's secret."""
    async with owner.transaction(None) as transaction:
        people = await store.sealed_by(transaction, key_id)
        if people:
            raise Refusal(
                ErrorCode.INVALID_REQUEST,
                f"Key seal-{key_id} still seals the secrets of {_some(people)}. First: jobservice keyring rotate; whoever "
                "it cannot seal anew needs jobservice totp enrol or reset.",
            )
        await record_on_server(transaction, "key-retired", f"seal-{key_id}", (), {})


async def retire_sign(owner: Database, key_id: str) -> None:
    """Record that a key that signs goes. Refusal INVALID_REQUEST where a plan that is not over was confirmed by it."""
    async with owner.transaction(None) as transaction:
        plans = await store.signed_by(transaction, key_id)
        if plans:
            names = [f"{name} ({tenant})" for tenant, name in plans]
            raise Refusal(
                ErrorCode.INVALID_REQUEST,
                f"Key sign-{key_id} signed plans that are not over: {_some(names)}. Wait until they are, or abort them.",
            )
        await record_on_server(transaction, "key-retired", f"sign-{key_id}", (), {})


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_SHOWN_MAX])
    return shown if len(names) <= _SHOWN_MAX else f"{shown} and {len(names) - _SHOWN_MAX} more"
