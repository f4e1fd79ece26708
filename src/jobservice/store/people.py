"""Owns the statements of people, tenants, memberships and tokens. They run on the owner's connection alone."""

from __future__ import annotations

from collections.abc import Sequence

from jobservice.store.database import Row, Transaction


async def add_tenant(transaction: Transaction, *, tenant: str, name: str) -> bool:
    """Whether the tenant is new."""
    return await transaction.row("people/add_tenant", id=tenant, name=name) is not None


async def add_person(transaction: Transaction, *, person: str, name: str, contact: str, demo: bool) -> bool:
    """Whether the person is new."""
    return await transaction.row("people/add_person", id=person, name=name, contact=contact, demo=demo) is not None


async def lock_person(transaction: Transaction, person: str) -> Row | None:
    """The person (id, name, active, demo), locked until the end of the transaction; None where unknown."""
    return await transaction.row("people/lock_person", person=person)


async def tenant_exists(transaction: Transaction, tenant: str) -> bool:
    """Whether there is a tenant of that id."""
    return await transaction.row("people/find_tenant", id=tenant) is not None


async def set_inactive(transaction: Transaction, person: str) -> None:
    """End a person's access, and all their tokens."""
    await transaction.run("people/set_inactive", person=person)
    await transaction.run("people/revoke_tokens_of", person=person)


async def grant_role(
    transaction: Transaction,
    *,
    person: str,
    tenant: str,
    role: str,
    customers: Sequence[str] | None,
    workspaces: Sequence[str] | None,
) -> None:
    """Make the person `role` in `tenant`, narrowed where lists are given; replaces what they were there."""
    await transaction.run(
        "people/grant_role",
        person=person,
        in_tenant=tenant,
        role=role,
        customers=None if customers is None else list(customers),
        workspaces=None if workspaces is None else list(workspaces),
    )


async def withdraw_role(transaction: Transaction, *, person: str, tenant: str) -> bool:
    """Whether the person was anything in `tenant`; they are not any more."""
    return await transaction.run("people/withdraw_role", person=person, in_tenant=tenant) > 0


async def memberships(transaction: Transaction, person: str) -> Sequence[Row]:
    """What the person is: tenant, role, customers, workspaces."""
    return await transaction.rows("people/memberships", person=person)


async def list_people(transaction: Transaction) -> Sequence[Row]:
    """Everybody: id, name, contact, active, demo, and one membership a row."""
    return await transaction.rows("people/list_people")


async def add_token(
    transaction: Transaction,
    *,
    person: str,
    digest: bytes,
    label: str,
    role: str | None,
    tenants: Sequence[str] | None,
    seconds: float,
) -> Row:
    """Keep a token's SHA-256; its id and when it expires."""
    row = await transaction.row(
        "people/add_token",
        person=person,
        hash=digest,
        label=label,
        role=role,
        tenants=None if tenants is None else list(tenants),
        seconds=seconds,
    )
    assert row is not None  # noqa: S101  # an insert that returns has a row or raises
    return row


async def list_tokens(transaction: Transaction, person: str | None) -> Sequence[Row]:
    """Tokens of one person, or of everybody, newest first; never a hash."""
    return await transaction.rows("people/list_tokens", person=person)


async def revoke_token(transaction: Transaction, token: str) -> str | None:
    """Whose token was ended; None where there is no live one of that id."""
    row = await transaction.row("people/revoke_token", token=token)
    return None if row is None else str(row["person"])
