"""Owns who acts: the signed-in person in one tenant, with the reach and permissions of that membership."""

from __future__ import annotations

from dataclasses import dataclass

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.permissions import GRANTS, Permission, missing
from jobcontract.states import Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """A person acting in one tenant. `customers`/`workspaces` None = no narrowing inside the tenant (MONEY.md 23)."""

    person: str
    tenant: str
    role: Role
    customers: tuple[str, ...] | None = None
    workspaces: tuple[str, ...] | None = None
    reference: str = ""
    """Of the request, kept in audit rows and log lines."""

    def require(self, permission: Permission) -> None:
        """Refusal PERMISSION_MISSING, naming it and who can give it, unless the role has it."""
        if permission not in GRANTS[self.role]:
            raise Refusal(ErrorCode.PERMISSION_MISSING, missing(permission, self.tenant), permission=permission)
