"""Owns the statements of enrolling phones, unlocking and sealing anew. They run on the owner's connection alone."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from jobservice.rules.keys import Sealed
from jobservice.store.database import Transaction


async def begin(transaction: Transaction, person: str, pending: Sealed) -> None:
    """Keep the secret that is being enrolled, in place of another one that was."""
    await transaction.run("codes/begin", person=person, key_id=pending.key_id, sealed=pending.sealed)


async def drop_pending(transaction: Transaction, person: str) -> None:
    """Forget the secret that was being enrolled."""
    await transaction.run("codes/drop_pending", person=person)


async def put_in_force(
    transaction: Transaction, person: str, secret: Sealed | None, *, step: int, rest_seconds: float
) -> datetime | None:
    """Put a secret in force (None: none), spend `step`, and let it rest; until when, if ever. The row must be there."""
    row = await transaction.row(
        "codes/put_in_force",
        person=person,
        key_id=None if secret is None else secret.key_id,
        sealed=None if secret is None else secret.sealed,
        step=step,
        rest=rest_seconds,
    )
    assert row is not None  # noqa: S101  # its caller locked the row
    until: datetime | None = row["rests_until"]
    return until


async def unlock(transaction: Transaction, person: str) -> bool:
    """End locks and forget counts; whether the person has a row at all."""
    found = await transaction.run("codes/unlock", person=person) == 1
    await transaction.run("codes/forget_guesses", person=person)
    return found


async def colleagues(
    transaction: Transaction, person: str, tenants: Collection[str], roles: Collection[str]
) -> tuple[tuple[str, str], ...]:
    """Tenant and id of the active people of those tenants and roles, without `person`."""
    rows = await transaction.rows("codes/colleagues", person=person, tenants=list(tenants), roles=list(roles))
    return tuple((row["tenant"], row["person"]) for row in rows)


async def people(transaction: Transaction) -> Sequence[str]:
    """Who has a secret at rest."""
    return [row["person"] for row in await transaction.rows("codes/people")]


async def seal_anew(transaction: Transaction, person: str, secret: Sealed | None, pending: Sealed | None) -> None:
    """Keep a locked row's secrets as they are sealed now."""
    await transaction.run(
        "codes/seal_anew",
        person=person,
        key_id=None if secret is None else secret.key_id,
        sealed=None if secret is None else secret.sealed,
        pending_key_id=None if pending is None else pending.key_id,
        pending_sealed=None if pending is None else pending.sealed,
    )


async def sealed_by(transaction: Transaction, key_id: str) -> Sequence[str]:
    """Whose secrets a key seals."""
    return [row["person"] for row in await transaction.rows("codes/sealed_by", key_id=key_id)]


async def signed_by(transaction: Transaction, key_id: str) -> Sequence[tuple[str, str]]:
    """Tenant and name of the plans that are not over and were confirmed under a signing key."""
    return [(row["tenant"], row["name"]) for row in await transaction.rows("codes/signed_by", key_id=key_id)]
