"""Owns the commands of tenants, people and tokens, on the owner's connection (MONEY.md 23, 29).

A token is printed once, alone on stdout, and is never an argument. What the database holds is printed without control
characters.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from jobcontract.states import Role
from jobservice.settings import DATABASE_URL, StartRefused, required

if TYPE_CHECKING:
    from jobservice.store.database import Database

Result = TypeVar("Result")
JSON = click.option("--json", "as_json", is_flag=True, help="One JSON array instead of columns.")
ROLE = click.Choice([role.value for role in Role])


def as_owner(work: Callable[[Database], Awaitable[Result]]) -> Result:
    """Run `work` on the owner's connection; StartRefused where that is not who logs in, or nothing is migrated yet."""
    url = required(os.environ, DATABASE_URL)[DATABASE_URL]
    return asyncio.run(_as_owner(url, work))


async def _as_owner(url: str, work: Callable[[Database], Awaitable[Result]]) -> Result:
    from psycopg import errors

    from jobservice.bootstrap.process import reach
    from jobservice.store.database import Database

    await reach(url)
    database = await Database.open(url, name="jobservice people", most=1)
    try:
        return await work(database)
    except errors.InsufficientPrivilege:
        raise StartRefused(f"This login may not do that: {DATABASE_URL} must be the owner's here.") from None
    except (errors.UndefinedTable, errors.InvalidSchemaName, errors.UndefinedFunction):
        raise StartRefused("The database has no tables of the service yet. First: jobservice migrate.") from None
    finally:
        await database.close()


@click.group()
def tenant() -> None:
    """Tenants: the walls between people (on the server only)."""


@tenant.command("add")
@click.argument("identifier", metavar="TENANT")
@click.option("--name", required=True, help="As people read it.")
def tenant_add(identifier: str, name: str) -> None:
    """Add a tenant."""
    from jobservice.usecases import people

    as_owner(lambda database: people.add_tenant(database, tenant=identifier, name=name))
    click.echo(f"Tenant {identifier} was added.")


@click.group()
def person() -> None:
    """People, and what they may do where (on the server only)."""


@person.command("add")
@click.argument("identifier", metavar="PERSON")
@click.option("--name", required=True, help="As colleagues read it.")
@click.option("--contact", required=True, help="Where notices go, like an e-mail address.")
def person_add(identifier: str, name: str, contact: str) -> None:
    """Add a person, who may do nothing yet."""
    from jobservice.usecases import people

    as_owner(lambda database: people.add_person(database, person=identifier, name=name, contact=contact))
    click.echo(f"Person {identifier} was added. Next: jobservice person grant {identifier} TENANT ROLE.")


@person.command("disable")
@click.argument("identifier", metavar="PERSON")
def person_disable(identifier: str) -> None:
    """End a person's access and every token of theirs, at once."""
    from jobservice.usecases import people

    as_owner(lambda database: people.disable_person(database, person=identifier))
    click.echo(f"Person {identifier} is disabled; every token of theirs has ended.")


@person.command("grant")
@click.argument("identifier", metavar="PERSON")
@click.argument("in_tenant", metavar="TENANT")
@click.argument("role", type=ROLE)
@click.option("--customer", "customers", multiple=True, help="Only this customer's. Repeatable.")
@click.option("--workspace", "workspaces", multiple=True, help="Only this workspace's. Repeatable.")
def person_grant(
    identifier: str, in_tenant: str, role: str, customers: tuple[str, ...], workspaces: tuple[str, ...]
) -> None:
    """Make a person ROLE in TENANT, replacing what they were there."""
    from jobservice.usecases import people

    wanted = people.Grant(
        person=identifier,
        tenant=in_tenant,
        role=Role(role),
        customers=customers or None,
        workspaces=workspaces or None,
    )
    as_owner(lambda database: people.grant(database, wanted))
    click.echo(f"{identifier} is {role} in {in_tenant}.")


@person.command("withdraw")
@click.argument("identifier", metavar="PERSON")
@click.argument("in_tenant", metavar="TENANT")
def person_withdraw(identifier: str, in_tenant: str) -> None:
    """Take from a person what they are in TENANT."""
    from jobservice.usecases import people

    as_owner(lambda database: people.withdraw(database, person=identifier, tenant=in_tenant))
    click.echo(f"{identifier} is nothing in {in_tenant} any more.")


@person.command("list")
@JSON
def person_list(as_json: bool) -> None:
    """Everybody, and what they are where."""
    from jobservice.usecases import people

    rows = as_owner(people.list_people)
    show(rows, ("id", "name", "active", "tenant", "role", "customers", "workspaces", "contact"), as_json)


@click.group()
def token() -> None:
    """Personal access tokens: shown once, kept as a hash (on the server only)."""


@token.command("create")
@click.argument("identifier", metavar="PERSON")
@click.option("--label", default="token", show_default=True, help="What it is for, to tell it from others.")
@click.option("--hours", default=12.0, show_default=True, help="How long it lives; 720 at most.")
@click.option("--role", type=ROLE, help="Only where the person is this. Without it: everything they are.")
@click.option("--tenant", "tenants", multiple=True, help="Only in this tenant. Repeatable.")
def token_create(identifier: str, label: str, hours: float, role: str | None, tenants: tuple[str, ...]) -> None:
    """Make a token for PERSON and print it, this once."""
    from jobservice.usecases import people

    made = as_owner(
        lambda database: people.create_token(
            database,
            person=identifier,
            label=label,
            hours=hours,
            role=None if role is None else Role(role),
            tenants=tenants or None,
        )
    )
    until = made.expires_at.isoformat(timespec="seconds")
    click.echo(f"The token of {identifier}, until {until}, shown this once; its id is {made.id}:", err=True)
    click.echo(made.token)


@token.command("list")
@click.option("--person", "identifier", metavar="PERSON", help="Only theirs.")
@JSON
def token_list(identifier: str | None, as_json: bool) -> None:
    """Tokens by their ids, newest first; never a token itself."""
    from jobservice.usecases import people

    rows = as_owner(lambda database: people.list_tokens(database, person=identifier))
    show(rows, ("id", "person", "label", "state", "role", "tenants", "created_at", "expires_at"), as_json)


@token.command("revoke")
@click.argument("identifier", metavar="TOKEN-ID")
def token_revoke(identifier: str) -> None:
    """End a token, named by its id."""
    from jobservice.usecases import people

    whose = as_owner(lambda database: people.revoke_token(database, token=identifier))
    click.echo(f"A token of {whose} has ended.")


def show(rows: Sequence[Mapping[str, Any]], columns: Sequence[str], as_json: bool) -> None:
    """Print the rows: aligned columns, or one JSON array."""
    if as_json:
        click.echo(json.dumps([{name: row[name] for name in columns} for row in rows], default=_as_text, indent=2))
        return
    cells = [list(columns), *([_cell(row[name]) for name in columns] for row in rows)]
    widths = [max(len(line[place]) for line in cells) for place in range(len(columns))]
    for line in cells:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _cell(value: object) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ",".join(map(plain, map(str, value)))
    return plain(_as_text(value))


def _as_text(value: Any) -> str:
    return str(value.isoformat(timespec="seconds")) if hasattr(value, "isoformat") else str(value)


def plain(text: Iterable[str]) -> str:
    """Without control characters: what the database holds must not steer a terminal."""
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in text)
