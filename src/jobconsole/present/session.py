"""Owns how a session is said: person, tenants, rights, and the token's end. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobconsole.present.link import age
from jobconsole.present.times import both

if TYPE_CHECKING:
    from datetime import datetime, tzinfo

    from jobcontract.session import Session


def session_lines(session: Session, tenant: str, address: str, now: datetime, zone: tzinfo) -> list[tuple[str, str]]:
    """Label and text of each line; the texts are still as the service sent them."""
    left = (session.token_expires_at - now).total_seconds()
    rows = [
        ("person", f"{session.person.name} ({session.person.id})"),
        ("service", f"{address} · {session.deployment}"),
        ("token", f"ends in {age(left)}, {both(session.token_expires_at, zone)}" if left > 0 else "has ended"),
        ("", ""),
    ]
    for role in session.tenants:
        here = "  ◂ shown" if role.tenant == tenant else ""
        rows.append(("tenant", f"{role.name} ({role.tenant}) · {role.role}{here}"))
        rows.append(("you may", ", ".join(role.permissions) or "nothing"))
    return rows
