"""Owns the wire models of who is signed in and who their colleagues are. Never carries a token or a hash."""

from __future__ import annotations

from pydantic import AwareDatetime

from jobcontract.permissions import Permission
from jobcontract.states import Role
from jobcontract.wire import Answer


class Person(Answer):
    """A person as others see them."""

    id: str
    name: str


class TenantRole(Answer):
    """What the signed-in person is in one tenant, after what their token allows."""

    tenant: str
    name: str
    role: Role
    permissions: tuple[Permission, ...]


class Session(Answer):
    """The signed-in person, every tenant they may act in, and how long their token lives."""

    person: Person
    tenants: tuple[TenantRole, ...]
    token_expires_at: AwareDatetime
    deployment: str
    """`JOBSERVICE_DEPLOYMENT` of the service: the name of the place, e.g. `production` or `demo`."""
    now: AwareDatetime
    """The database's clock; countdowns start from it."""


class Colleague(Answer):
    """An active person of the tenant, to hand an item to."""

    id: str
    name: str
    role: Role


class Colleagues(Answer):
    """All active people of the tenant, by name."""

    colleagues: tuple[Colleague, ...]
