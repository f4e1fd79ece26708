"""Owns signing in by token, the tenants that a token reaches, and the colleagues of a tenant (MONEY.md 23)."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import datetime

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.permissions import Permission
from jobcontract.session import Colleague, Colleagues
from jobcontract.states import Role
from jobservice.store import session as store
from jobservice.store.database import Database, Row
from jobservice.usecases.actor import Actor
from jobservice.usecases.service import Service

TOKEN = re.compile(r"jc_[A-Za-z0-9_-]{43}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Membership:
    """What the signed-in person is in one tenant, after what their token allows."""

    tenant: str
    name: str
    role: Role
    customers: tuple[str, ...] | None
    workspaces: tuple[str, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedIn:
    """A person with a live token."""

    person: str
    name: str
    demo: bool
    memberships: tuple[Membership, ...]
    expires_at: datetime
    now: datetime

    def actor(self, tenant: str | None, *, reference: str = "") -> Actor:
        """The person acting in `tenant`; None = their only one.

        Refusal TENANT_REQUIRED where they have several and named none, TENANT_UNKNOWN where it is not one of theirs.
        """
        names = ", ".join(each.tenant for each in self.memberships) or "none"
        if tenant is None:
            if len(self.memberships) != 1:
                raise Refusal(ErrorCode.TENANT_REQUIRED, f"Name one of your tenants with Jobs-Tenant: {names}.")
            tenant = self.memberships[0].tenant
        found = next((each for each in self.memberships if each.tenant == tenant), None)
        if found is None:
            raise Refusal(
                ErrorCode.TENANT_UNKNOWN, f"{tenant[:80]!r} is not a tenant that this token reaches. Yours: {names}."
            )
        return Actor(
            person=self.person,
            tenant=found.tenant,
            role=found.role,
            customers=found.customers,
            workspaces=found.workspaces,
            reference=reference,
        )


def token_hash(token: str) -> bytes:
    """How a token is kept: its SHA-256 (32 bytes)."""
    return hashlib.sha256(token.encode()).digest()


async def authenticate(database: Database, token: str) -> SignedIn:
    """Who `token` belongs to. Refusal UNAUTHENTICATED (no such token), TOKEN_EXPIRED (expired, revoked, disabled)."""
    if TOKEN.fullmatch(token) is None:
        raise Refusal(ErrorCode.UNAUTHENTICATED, "That is not a token of this service (jc_ and 43 characters).")
    async with database.transaction(None, planned_once=True) as transaction:
        row = await store.authenticate(transaction, token_hash(token))
    if row is None:
        raise Refusal(ErrorCode.UNAUTHENTICATED, "This service does not know that token. Sign in with another.")
    if row["revoked"] or not row["active"] or row["expires_at"] <= row["now"]:
        raise Refusal(ErrorCode.TOKEN_EXPIRED, f"{_ended(row)} Ask for a new one.")
    return SignedIn(
        person=row["person"],
        name=row["name"],
        demo=row["demo"],
        memberships=tuple(
            Membership(
                tenant=each["tenant"],
                name=each["name"],
                role=Role(each["role"]),
                customers=None if each["customers"] is None else tuple(each["customers"]),
                workspaces=None if each["workspaces"] is None else tuple(each["workspaces"]),
            )
            for each in row["memberships"]
        ),
        expires_at=row["expires_at"],
        now=row["now"],
    )


def _ended(row: Row) -> str:
    if row["revoked"]:
        return "This token was revoked."
    if not row["active"]:
        return "The person of this token is disabled."
    return f"This token expired at {row['expires_at']:%Y-%m-%d %H:%M} UTC."


async def list_colleagues(service: Service, actor: Actor) -> Colleagues:
    """All active people of the tenant. Refusal PERMISSION_MISSING without colleague.read."""
    actor.require(Permission.COLLEAGUE_READ)
    async with service.database.transaction(actor.tenant) as transaction:
        rows = await store.colleagues(transaction)
    return Colleagues(
        colleagues=tuple(Colleague(id=row["id"], name=row["name"], role=Role(row["role"])) for row in rows)
    )
