"""Owns installing the three monitoring views over another engine's tables, in a schema of their own (requirement families).

They show no arguments, results or errors of that engine's jobs, and are granted to the role jobs_views alone. Writes
nothing into the engine's own schema.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, LiteralString, cast

import psycopg

from jobcontract.ids import is_slug
from jobservice.settings import StartRefused
from jobservice.store.database import reason
from jobservice.store.owner import connect
from jobservice.store.statements import statement


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineTables:
    """What an engine is known by: its tables, and the schema where it puts them as a rule."""

    tables: tuple[str, ...]
    usual_schema: str
    views: tuple[str, str, str]
    """The statements that make the three."""


ENGINES: Mapping[str, EngineTables] = {
    "procrastinate": EngineTables(
        tables=("procrastinate_jobs", "procrastinate_events"),
        usual_schema="public",
        views=("views/procrastinate_query", "views/procrastinate_steps", "views/procrastinate_events"),
    ),
    "dbos": EngineTables(
        tables=("workflow_status", "operation_outputs"),
        usual_schema="dbos",
        views=("views/dbos_query", "views/dbos_steps", "views/dbos_events"),
    ),
}
"""The engines that views can be made for, by name."""
OWN_ENGINE = "jobs_engine"
"""The schema of the engine that carries this service's jobs: views over it would show its names of them (INV-12)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedViews:
    """The views to install. `schema` None: where the engine is as a rule. `customer_field`: the field of a job's arguments
    that names its customer (procrastinate), so that people who see only some customers see those of its jobs."""

    engine: str
    tenant: str
    schema: str | None = None
    into: str | None = None
    application: str | None = None
    customer_field: str | None = None

    @property
    def target(self) -> str:
        """The schema that the views go into."""
        return self.into or f"{self.engine}_views"

    def check(self) -> EngineTables:
        """StartRefused where it cannot be."""
        engine = ENGINES.get(self.engine)
        if engine is None:
            raise StartRefused(f"No views are known for {self.engine}. Engines: {', '.join(sorted(ENGINES))}.")
        if not is_slug(self.tenant):
            raise StartRefused(f"{self.tenant!r} is no id of a tenant, like acme.")
        if self.customer_field is not None and self.engine != "procrastinate":
            raise StartRefused(
                f"{self.engine} keeps arguments in a form that no view can read: leave --customer-field out."
            )
        if self.schema == OWN_ENGINE:
            raise StartRefused(
                f"The schema {OWN_ENGINE} is this service's own: its jobs are listed already, under their own ids. "
                f"Name that of another {self.engine}."
            )
        if self.target == "jobs":
            raise StartRefused("The schema jobs has the service's own views: name another one with --into.")
        return engine


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledViews:
    """What stands now: the schema of the views, that of the engine, and how many jobs they show."""

    schema: str
    engine_schema: str
    jobs: int


def install_views(url: str, wanted: WantedViews) -> InstalledViews:
    """Make or replace the views in one transaction, as a login that may read the engine's tables and make a schema; blocks.

    StartRefused where the engine's tables are not there, the role jobs_views is missing, or the login may not.
    """
    engine = wanted.check()
    with connect(url) as connection:
        try:
            with connection.transaction():
                return _install(connection, wanted, engine)
        except psycopg.errors.InsufficientPrivilege as error:
            raise StartRefused(
                f"This login may not do that: {reason(error)} It has to read {wanted.engine}'s tables and to make a schema."
            ) from error
        except psycopg.errors.UndefinedColumn as error:
            raise StartRefused(
                f"These tables are not those of a {wanted.engine} that views are known for: {reason(error)} "
                f"Nothing was changed."
            ) from error
        except psycopg.errors.UndefinedObject as error:
            raise StartRefused(
                f"{reason(error)} An administrator of the server makes it: create role jobs_views login;"
            ) from error


def _install(connection: psycopg.Connection[Any], wanted: WantedViews, engine: EngineTables) -> InstalledViews:
    engine_schema = wanted.schema or engine.usual_schema
    _find_tables(connection, wanted, engine, engine_schema)
    schemas = {"views_schema": wanted.target, "engine_schema": engine_schema}
    _run_text(connection, "views/create_schema", schemas)
    connection.execute(statement("views/look_in"), schemas)
    connection.execute(statement("views/source_table"))
    connection.execute(
        statement("views/say_source"),
        {
            "engine": wanted.engine,
            "application": wanted.application or wanted.engine,
            "of_tenant": wanted.tenant,
            "customer_field": wanted.customer_field,
        },
    )
    connection.execute(statement("views/drop"))
    for view in engine.views:
        connection.execute(statement(view))
    _run_text(connection, "views/grant_schema", schemas)
    _run_text(connection, "views/grant", schemas)
    row = connection.execute(statement("views/shown")).fetchone()
    return InstalledViews(schema=wanted.target, engine_schema=engine_schema, jobs=0 if row is None else row[0])


def _find_tables(
    connection: psycopg.Connection[Any], wanted: WantedViews, engine: EngineTables, engine_schema: str
) -> None:
    parameters = {"engine_schema": engine_schema, "tables": list(engine.tables)}
    found = {name for (name,) in connection.execute(statement("views/tables_of"), parameters).fetchall()}
    missing = [table for table in engine.tables if table not in found]
    if not missing:
        return
    rows = connection.execute(statement("views/schemas_with"), {"table": engine.tables[0]}).fetchall()
    raise StartRefused(
        f"The schema {engine_schema} of this database has no table {missing[0]}: {wanted.engine} keeps its jobs elsewhere. "
        + _elsewhere([name for (name,) in rows])
    )


def _elsewhere(schemas: Sequence[str]) -> str:
    if not schemas:
        return "Name the database that it uses."
    return f"Here it is in {' and in '.join(schemas)}: name that with --schema."


def _run_text(connection: psycopg.Connection[Any], name: str, parameters: Mapping[str, object]) -> None:
    """Run what the statement gives as text: the server wrote the names into it."""
    row = connection.execute(statement(name), parameters).fetchone()
    assert row is not None  # noqa: S101  # a select without a table gives one row
    connection.execute(cast(LiteralString, row[0]))
