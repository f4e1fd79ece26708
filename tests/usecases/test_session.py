"""Signing in by token, the tenants that it reaches, colleagues."""

from __future__ import annotations

import hashlib
import secrets
from typing import Any

import pytest

from jobcontract.errors import ErrorCode
from jobcontract.states import Role
from jobservice.usecases.queues import list_colleagues
from jobservice.usecases.session import authenticate
from tests.usecases.desk import Desk, refused_with


async def test_a_live_token_says_who_it_is_and_where(desk: Desk) -> None:
    desk.people.add("m.ito", "globex", "auditor", customers=["north"])
    signed = await authenticate(desk.service.database, desk.people.token("m.ito"))
    assert (signed.person, signed.name) == ("m.ito", "Mina Ito")
    assert [(each.tenant, each.name, each.role) for each in signed.memberships] == [
        ("acme", "Acme Council", Role.FINANCE),
        ("globex", "Globex Council", Role.AUDITOR),
    ]
    assert signed.now < signed.expires_at
    actor = signed.actor("globex", reference="r")
    assert (actor.role, actor.customers, actor.reference) == (Role.AUDITOR, ("north",), "r")
    await _refuses(ErrorCode.TENANT_REQUIRED, lambda: signed.actor(None))
    await _refuses(ErrorCode.TENANT_UNKNOWN, lambda: signed.actor("initech"))


async def _refuses(kind: ErrorCode, ask: Any) -> None:
    async def asked() -> object:
        return ask()

    await refused_with(kind, asked())


async def test_with_one_tenant_none_needs_to_be_named(desk: Desk) -> None:
    signed = await authenticate(desk.service.database, desk.people.token("k.rao"))
    assert signed.actor(None).tenant == "acme"


@pytest.mark.parametrize("token", ["", "jc_short", f"jc_{'x' * 43}", f"jc_{'x' * 44}", "jc_" + "é" * 43])
async def test_an_unknown_token_is_refused(desk: Desk, token: str) -> None:
    await refused_with(ErrorCode.UNAUTHENTICATED, authenticate(desk.service.database, token))


@pytest.mark.parametrize(
    ("ending", "why"),
    [
        ("update jobs.tokens set revoked_at = jobs.now()", "revoked"),
        ("update jobs.people set active = false", "disabled"),
        ("update test_clock.offset_now set seconds = 43201", "expired"),
    ],
)
async def test_a_token_that_ended_says_how(desk: Desk, ending: str, why: str) -> None:
    token = desk.people.token("m.ito")
    desk.people.connection.execute(ending)
    assert why in (await refused_with(ErrorCode.TOKEN_EXPIRED, authenticate(desk.service.database, token))).detail


async def test_a_token_never_exceeds_what_it_was_made_for(desk: Desk) -> None:
    desk.people.add("m.ito", "globex", "auditor")
    token = f"jc_{secrets.token_urlsafe(32)}"
    desk.people.connection.execute(
        "insert into jobs.tokens (person, hash, label, role, tenants, expires_at)"
        " values ('m.ito', %s, 'narrow', 'finance', '{acme,globex}', jobs.now() + interval '1 hour')",
        (hashlib.sha256(token.encode()).digest(),),
    )
    signed = await authenticate(desk.service.database, token)
    assert [each.tenant for each in signed.memberships] == ["acme"]


async def test_colleagues_are_the_active_people_of_the_tenant_by_name(desk: Desk) -> None:
    desk.people.connection.execute("update jobs.people set active = false where id = 'k.rao'")
    found = (await list_colleagues(desk.service, desk.actor("m.ito"))).colleagues
    names = [each.name for each in found]
    assert names == sorted(names)
    assert "Mina Ito" in names
    assert not {"Kiran Rao", "Gus Fin"} & set(names)
    await refused_with(ErrorCode.PERMISSION_MISSING, list_colleagues(desk.service, desk.actor("p.push")))
