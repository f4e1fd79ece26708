"""Owns the people of the tests: two tenants, acme and globex, and who is what in them."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field
from typing import Any

import psycopg

TENANTS = {"acme": "Acme Council", "globex": "Globex Council"}
CAST: dict[str, tuple[str, str, str]] = {
    "m.ito": ("Mina Ito", "acme", "finance"),
    "k.rao": ("Kiran Rao", "acme", "finance"),
    "o.lind": ("Olle Lind", "acme", "operator"),
    "s.audit": ("Sam Audit", "acme", "auditor"),
    "s.bell": ("Sue Bell", "acme", "support"),
    "p.push": ("Pay Feed", "acme", "pusher"),
    "a.admin": ("Ada Admin", "acme", "administrator"),
    "g.fin": ("Gus Fin", "globex", "finance"),
    "g.push": ("Globex Feed", "globex", "pusher"),
}
"""Person: name, tenant, role."""


@dataclass(frozen=True, slots=True)
class People:
    """The tenants acme and globex with their people. Makes actors and tokens for them."""

    connection: psycopg.Connection[Any]
    tokens: dict[str, str] = field(default_factory=dict)

    def actor(self, person: str, *, customers: tuple[str, ...] | None = None) -> Any:
        """The `Actor` of a person in their tenant."""
        from jobcontract.states import Role
        from jobservice.usecases.actor import Actor

        _, tenant, role = CAST[person]
        return Actor(person=person, tenant=tenant, role=Role(role), customers=customers, reference="test")

    def token(self, person: str) -> str:
        """A live token of a person; the same one each time in a test."""
        if person not in self.tokens:
            self.tokens[person] = f"jc_{secrets.token_urlsafe(32)}"
            self.connection.execute(
                "insert into jobs.tokens (person, hash, label, expires_at)"
                " values (%s, %s, 'test', jobs.now() + interval '12 hours')",
                (person, hashlib.sha256(self.tokens[person].encode()).digest()),
            )
        return self.tokens[person]

    def add(self, person: str, tenant: str, role: str, *, customers: list[str] | None = None) -> None:
        """A further person, or a further membership of one."""
        self.connection.execute(
            "insert into jobs.people (id, name, contact) values (%s, %s, %s) on conflict do nothing",
            (person, person, f"{person}@example.org"),
        )
        self.connection.execute(
            "insert into jobs.memberships (person, tenant, role, customers) values (%s, %s, %s, %s)",
            (person, tenant, role, customers),
        )
