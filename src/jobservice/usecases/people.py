"""Owns who may use the service: tenants, people, what they are where, and their tokens (MONEY.md 23 to 25, 31).

Runs on the owner's connection, from the server's own command line; no route of the API reaches it. A token leaves
`create_token` once and is kept as its SHA-256 alone. Every change is an audit row in each tenant that it touches. What
takes from somebody their last token, their role or all access holds their plans back in the same transaction (21).
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.ids import NAME_MAX, SLUG_MAX, is_slug, storable
from jobcontract.states import Role
from jobservice.store import people
from jobservice.store.database import Database, Row, Transaction
from jobservice.usecases.audit import record_on_server
from jobservice.usecases.holding_back import hold_back

TOKEN_PREFIX = "jc_"  # noqa: S105  # how every token begins, not one of them
TOKEN_HOURS = 12.0
TOKEN_HOURS_MOST = 30 * 24.0
TOKEN_HOURS_LEAST = 1 / 60
"""A minute."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToken:
    """A token just made: the one time that `token` is anywhere."""

    id: str
    token: str
    person: str
    expires_at: datetime

    def __repr__(self) -> str:
        return f"NewToken(id={self.id!r}, person={self.person!r})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What a person is to be in a tenant; None = not narrowed to customers or workspaces."""

    person: str
    tenant: str
    role: Role
    customers: tuple[str, ...] | None = None
    workspaces: tuple[str, ...] | None = None


async def add_tenant(database: Database, *, tenant: str, name: str) -> None:
    """Add a tenant. Refusal INVALID_REQUEST or KEY_TAKEN."""
    _check_id("tenant", tenant)
    _check_name("name", name)
    async with database.transaction(None) as transaction:
        if not await people.add_tenant(transaction, tenant=tenant, name=name):
            raise Refusal(ErrorCode.KEY_TAKEN, f"There is a tenant {tenant} already.")
        await record_on_server(transaction, "tenant-added", tenant, (tenant,), {"name": name})


async def add_person(database: Database, *, person: str, name: str, contact: str, demo: bool = False) -> None:
    """Add a person, who is nobody anywhere yet. Refusal INVALID_REQUEST or KEY_TAKEN."""
    _check_id("person", person)
    _check_name("name", name)
    _check_name("contact", contact)
    async with database.transaction(None) as transaction:
        if not await people.add_person(transaction, person=person, name=name, contact=contact, demo=demo):
            raise Refusal(ErrorCode.KEY_TAKEN, f"There is a person {person} already. An id is never used twice.")
        await record_on_server(
            transaction, "person-added", person, (), {"name": name, "contact": contact, "demo": demo}
        )


async def disable_person(database: Database, *, person: str) -> None:
    """End a person's access at once, with every token. Refusal NOT_FOUND or INVALID_REQUEST where already ended."""
    async with database.transaction(None) as transaction:
        await _active(transaction, person)
        tenants = [str(row["tenant"]) for row in await people.memberships(transaction, person)]
        await people.set_inactive(transaction, person)
        await hold_back(transaction, person, reason=f"{person} was disabled.")
        await record_on_server(transaction, "person-disabled", person, tenants, {})


async def grant(database: Database, wanted: Grant) -> None:
    """Make a person what `wanted` says in that tenant, replacing what they were there. Refusal NOT_FOUND."""
    async with database.transaction(None) as transaction:
        await _active(transaction, wanted.person)
        await _known_tenant(transaction, wanted.tenant)
        was = {row["tenant"]: row for row in await people.memberships(transaction, wanted.person)}.get(wanted.tenant)
        await people.grant_role(
            transaction,
            person=wanted.person,
            tenant=wanted.tenant,
            role=wanted.role,
            customers=wanted.customers,
            workspaces=wanted.workspaces,
        )
        reason = None if was is None else _lost(was, wanted)
        if reason is not None:
            await hold_back(transaction, wanted.person, reason=reason, tenants=(wanted.tenant,))
        detail = {"role": wanted.role.value, "customers": wanted.customers, "workspaces": wanted.workspaces}
        await record_on_server(transaction, "role-granted", wanted.person, (wanted.tenant,), detail)


def _lost(was: Row, wanted: Grant) -> str | None:
    """What a person cannot do any more that was something in the tenant before, in a sentence; None: nothing."""
    if Role(was["role"]) is not wanted.role:
        return f"{wanted.person} is {wanted.role.value} in {wanted.tenant} now."
    for before, now in ((was["customers"], wanted.customers), (was["workspaces"], wanted.workspaces)):
        if now is not None and (before is None or not set(before) <= set(now)):
            return f"{wanted.person} sees less of {wanted.tenant} now."
    return None


async def withdraw(database: Database, *, person: str, tenant: str) -> None:
    """Take from a person what they are in a tenant. Refusal NOT_FOUND."""
    async with database.transaction(None) as transaction:
        await _known(transaction, person)
        if not await people.withdraw_role(transaction, person=person, tenant=tenant):
            raise Refusal(ErrorCode.NOT_FOUND, f"{person} is nothing in {tenant}.")
        reason = f"{person} is nothing in {tenant} any more."
        await hold_back(transaction, person, reason=reason, tenants=(tenant,))
        await record_on_server(transaction, "role-withdrawn", person, (tenant,), {})


async def list_people(database: Database) -> Sequence[Row]:
    """Everybody with what they are, one row a membership."""
    async with database.transaction(None) as transaction:
        return await people.list_people(transaction)


async def create_token(
    database: Database,
    *,
    person: str,
    label: str,
    hours: float = TOKEN_HOURS,
    role: Role | None = None,
    tenants: tuple[str, ...] | None = None,
) -> NewToken:
    """Make a token for `hours`, at most 30 days; `role` and `tenants` may only narrow what the person is.

    Refusal INVALID_REQUEST where it would exceed the person's rights or life is out of bounds, NOT_FOUND.
    """
    _check_name("label", label)
    if not TOKEN_HOURS_LEAST <= hours <= TOKEN_HOURS_MOST:
        raise Refusal(ErrorCode.INVALID_REQUEST, "A token lives from a minute to 30 days (720 hours).")
    token = TOKEN_PREFIX + secrets.token_urlsafe(32)
    async with database.transaction(None) as transaction:
        await _active(transaction, person)
        reached = _within_rights(person, await people.memberships(transaction, person), role, tenants)
        row = await people.add_token(
            transaction,
            person=person,
            digest=hashlib.sha256(token.encode("ascii")).digest(),
            label=label,
            role=None if role is None else role.value,
            tenants=tenants,
            seconds=hours * 3600,
        )
        detail = {"token": str(row["id"]), "label": label, "hours": hours, "role": role, "tenants": tenants}
        await record_on_server(transaction, "token-created", person, reached, detail)
    return NewToken(id=str(row["id"]), token=token, person=person, expires_at=row["expires_at"])


async def list_tokens(database: Database, *, person: str | None = None) -> Sequence[Row]:
    """Tokens of one person or of everybody, newest first, with their state; never a token or hash."""
    async with database.transaction(None) as transaction:
        if person is not None:
            await _known(transaction, person)
        return await people.list_tokens(transaction, person)


async def revoke_token(database: Database, *, token: str) -> str:
    """End the token of that id (not the token itself); whose it was. Refusal NOT_FOUND, INVALID_REQUEST."""
    if token.startswith(TOKEN_PREFIX):
        raise Refusal(
            ErrorCode.INVALID_REQUEST, "Name the token's id (see: jobservice token list), not the token itself."
        )
    try:
        identifier = str(UUID(token))
    except ValueError:
        raise Refusal(
            ErrorCode.INVALID_REQUEST, f"{token[:SLUG_MAX]} is not a token id. See: jobservice token list."
        ) from None
    async with database.transaction(None) as transaction:
        person = await people.revoke_token(transaction, identifier)
        if person is None:
            raise Refusal(ErrorCode.NOT_FOUND, f"There is no live token {identifier}. See: jobservice token list.")
        tenants = [str(row["tenant"]) for row in await people.memberships(transaction, person)]
        if all(row["state"] != "live" for row in await people.list_tokens(transaction, person)):
            await hold_back(transaction, person, reason=f"The last token of {person} was revoked.")
        await record_on_server(transaction, "token-revoked", person, tenants, {"token": identifier})
    return person


def _within_rights(
    person: str, memberships: Sequence[Row], role: Role | None, tenants: tuple[str, ...] | None
) -> tuple[str, ...]:
    """The tenants that the token reaches; a token that reaches none is a mistake of whoever asks for it."""
    roles = {str(row["tenant"]): str(row["role"]) for row in memberships}
    if not roles:
        raise Refusal(ErrorCode.INVALID_REQUEST, f"{person} is nothing anywhere yet. First: jobservice person grant.")
    for tenant in tenants or ():
        if tenant not in roles:
            raise Refusal(
                ErrorCode.INVALID_REQUEST, f"{person} is nothing in {tenant}: a token never exceeds its person."
            )
    reached = tuple(tenant for tenant in (tenants or roles) if role is None or roles[tenant] == role.value)
    if not reached:
        raise Refusal(
            ErrorCode.INVALID_REQUEST,
            f"{person} is not {role} in any of these tenants: a token never exceeds its person.",
        )
    return reached


async def _known(transaction: Transaction, person: str) -> Row:
    row = await people.lock_person(transaction, person)
    if row is None:
        raise Refusal(ErrorCode.NOT_FOUND, f"There is no person {person[:SLUG_MAX]}. See: jobservice person list.")
    return row


async def _active(transaction: Transaction, person: str) -> None:
    if not (await _known(transaction, person))["active"]:
        raise Refusal(ErrorCode.INVALID_REQUEST, f"{person} is disabled.")


async def _known_tenant(transaction: Transaction, tenant: str) -> None:
    if not await people.tenant_exists(transaction, tenant):
        raise Refusal(ErrorCode.NOT_FOUND, f"There is no tenant {tenant[:SLUG_MAX]}. First: jobservice tenant add.")


def _check_id(what: str, text: str) -> None:
    if not is_slug(text):
        raise Refusal(
            ErrorCode.INVALID_REQUEST,
            f"{text[:SLUG_MAX]!r} cannot be a {what} id: small letters and digits, parts joined by . or -, like m.ito, "
            f"at most {SLUG_MAX} characters.",
        )


def _check_name(what: str, text: str) -> None:
    if not text.strip() or len(text) > NAME_MAX or not storable(text):
        raise Refusal(ErrorCode.INVALID_REQUEST, f"The {what} needs 1 to {NAME_MAX} characters that can be stored.")
