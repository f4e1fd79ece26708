"""People, what they are, and their tokens: granted within rights, shown once, ended at once, always recorded."""

from __future__ import annotations

import hashlib
from datetime import timedelta
from typing import Any

import psycopg
import pytest

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.states import Role
from jobservice.store.database import Database
from jobservice.usecases import people as people_
from jobservice.usecases.people import Grant
from tests.conftest import People

Superuser = psycopg.Connection[Any]


def one(connection: Superuser, query: str, *parameters: object) -> Any:
    """The only row."""
    row = connection.execute(query.encode(), parameters).fetchone()
    assert row is not None
    return row if len(row) > 1 else row[0]


@pytest.mark.requirement("MONEY-31")
async def test_a_person_from_nothing_to_a_token(owner_database: Database, superuser: Superuser) -> None:
    await people_.add_tenant(owner_database, tenant="leeds", name="Leeds")
    await people_.add_person(owner_database, person="m.ito", name="Mina Ito", contact="m@example.org")
    await people_.grant(owner_database, Grant(person="m.ito", tenant="leeds", role=Role.FINANCE, customers=("c1",)))
    made = await people_.create_token(owner_database, person="m.ito", label="laptop")

    digest, life = one(superuser, "select hash, expires_at - created_at from jobs.tokens where id = %s", made.id)
    assert made.token.startswith("jc_")
    assert len(made.token) == 46
    assert digest == hashlib.sha256(made.token.encode()).digest()
    assert life == timedelta(hours=12)
    assert made.token not in repr(made)
    trail = superuser.execute("select action, tenant from jobs.audit order by id").fetchall()
    assert trail == [
        ("tenant-added", "leeds"),
        ("person-added", None),
        ("role-granted", "leeds"),
        ("token-created", "leeds"),
    ]
    assert made.token not in str(superuser.execute("select * from jobs.audit").fetchall())


@pytest.mark.requirement("MONEY-23")
@pytest.mark.parametrize(
    ("hours", "accepted"), [(720.0, True), (720.1, False), (0.01, False), (float("nan"), False), (-1.0, False)]
)
async def test_a_token_lives_30_days_at_most(
    owner_database: Database, people: People, hours: float, accepted: bool
) -> None:
    if accepted:
        made = await people_.create_token(owner_database, person="m.ito", label="x", hours=hours)
        assert (
            one(people.connection, "select expires_at - created_at from jobs.tokens where id = %s", made.id).days == 30
        )
        return
    with pytest.raises(Refusal) as refused:
        await people_.create_token(owner_database, person="m.ito", label="x", hours=hours)
    assert refused.value.kind is ErrorCode.INVALID_REQUEST
    assert one(people.connection, "select count(*) from jobs.tokens") == 0


@pytest.mark.requirement("MONEY-23")
@pytest.mark.parametrize(
    ("role", "tenants"),
    [(None, ("globex",)), (Role.OPERATOR, None), (Role.OPERATOR, ("acme",)), (None, ("acme", "globex"))],
)
async def test_a_token_never_exceeds_its_person(
    owner_database: Database, people: People, role: Role | None, tenants: tuple[str, ...] | None
) -> None:
    with pytest.raises(Refusal, match="never exceeds") as refused:
        await people_.create_token(owner_database, person="m.ito", label="x", role=role, tenants=tenants)
    assert refused.value.kind is ErrorCode.INVALID_REQUEST


@pytest.mark.requirement("MONEY-23")
async def test_a_token_follows_its_persons_present_rights(
    owner_database: Database, database: Database, people: People
) -> None:
    made = await people_.create_token(owner_database, person="m.ito", label="x", role=Role.FINANCE)

    async def reach() -> list[str]:
        async with database.transaction(None) as transaction:
            cursor = await transaction.connection.execute(
                "select memberships from jobs.authenticate(%s)", (hashlib.sha256(made.token.encode()).digest(),)
            )
            row = await cursor.fetchone()
            assert row is not None
            return [f"{m['tenant']} {m['role']}" for m in row["memberships"]]

    assert await reach() == ["acme finance"]
    await people_.grant(owner_database, Grant(person="m.ito", tenant="acme", role=Role.AUDITOR))
    assert await reach() == []
    await people_.grant(owner_database, Grant(person="m.ito", tenant="acme", role=Role.FINANCE))
    assert await reach() == ["acme finance"]
    await people_.withdraw(owner_database, person="m.ito", tenant="acme")
    assert await reach() == []


@pytest.mark.requirement("MONEY-23")
async def test_disabling_ends_every_token(owner_database: Database, people: People) -> None:
    people.token("m.ito")
    people.token("k.rao")
    await people_.disable_person(owner_database, person="m.ito")
    revoked = people.connection.execute(
        "select person, revoked_at is not null from jobs.tokens order by person"
    ).fetchall()
    assert revoked == [("k.rao", False), ("m.ito", True)]
    for again in (
        people_.disable_person(owner_database, person="m.ito"),
        people_.create_token(owner_database, person="m.ito", label="x"),
        people_.grant(owner_database, Grant(person="m.ito", tenant="acme", role=Role.FINANCE)),
    ):
        with pytest.raises(Refusal, match="disabled"):
            await again


async def test_revoking_names_the_token_by_its_id(owner_database: Database, people: People) -> None:
    token = people.token("m.ito")
    (listed,) = await people_.list_tokens(owner_database, person="m.ito")
    assert (listed["state"], "hash" in listed) == ("live", False)
    for wrong, kind in (
        (token, ErrorCode.INVALID_REQUEST),
        ("nonsense", ErrorCode.INVALID_REQUEST),
        ("00000000-0000-7000-8000-000000000000", ErrorCode.NOT_FOUND),
    ):
        with pytest.raises(Refusal) as refused:
            await people_.revoke_token(owner_database, token=wrong)
        assert refused.value.kind is kind
        assert token not in refused.value.detail
    assert await people_.revoke_token(owner_database, token=str(listed["id"])) == "m.ito"
    (listed,) = await people_.list_tokens(owner_database, person="m.ito")
    assert listed["state"] == "revoked"
    assert one(people.connection, "select action, tenant, subject from jobs.audit") == (
        "token-revoked",
        "acme",
        "m.ito",
    )


@pytest.mark.parametrize("identifier", ["", "M.Ito", "a b", "x" * 81, "m_ito\n", "../x", "-a"])
async def test_an_id_has_the_form_of_an_id(owner_database: Database, superuser: Superuser, identifier: str) -> None:
    with pytest.raises(Refusal) as refused:
        await people_.add_person(owner_database, person=identifier, name="x", contact="x")
    assert refused.value.kind is ErrorCode.INVALID_REQUEST
    with pytest.raises(Refusal):
        await people_.add_tenant(owner_database, tenant=identifier, name="x")
    assert one(superuser, "select count(*) from jobs.people") == 0


@pytest.mark.parametrize("name", ["", "  ", "x" * 201, "a\x00b", "\ud800"])
async def test_a_name_can_be_stored(owner_database: Database, clean: None, name: str) -> None:
    with pytest.raises(Refusal, match="characters"):
        await people_.add_person(owner_database, person="x.y", name=name, contact="x")


async def test_nothing_is_added_twice_or_to_nobody(owner_database: Database, people: People) -> None:
    wrong = (
        (people_.add_tenant(owner_database, tenant="acme", name="x"), ErrorCode.KEY_TAKEN),
        (people_.add_person(owner_database, person="m.ito", name="x", contact="x"), ErrorCode.KEY_TAKEN),
        (people_.grant(owner_database, Grant(person="no.one", tenant="acme", role=Role.FINANCE)), ErrorCode.NOT_FOUND),
        (people_.grant(owner_database, Grant(person="m.ito", tenant="none", role=Role.FINANCE)), ErrorCode.NOT_FOUND),
        (people_.withdraw(owner_database, person="m.ito", tenant="globex"), ErrorCode.NOT_FOUND),
        (people_.list_tokens(owner_database, person="no.one"), ErrorCode.NOT_FOUND),
    )
    for call, kind in wrong:
        with pytest.raises(Refusal) as refused:
            await call
        assert refused.value.kind is kind
    assert one(people.connection, "select count(*) from jobs.audit") == 0
