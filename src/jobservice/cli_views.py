"""Owns the command that puts the monitoring views over another engine's tables (requirement families).

Runs where that engine's database is, as a login that may read its tables: not as the service.
"""

from __future__ import annotations

import os

import click

from jobservice.settings import DATABASE_URL, required


@click.group()
def views() -> None:
    """Monitoring views: other engines' jobs beside the service's own (on the server only)."""


@views.command("install")
@click.argument("engine", type=click.Choice(["procrastinate", "dbos"]))
@click.option("--tenant", required=True, help="Whose jobs these are: people of that tenant see them.")
@click.option("--schema", help="Where the engine's tables are. [procrastinate: public, dbos: dbos]")
@click.option("--into", help="The schema for the views. [ENGINE_views]")
@click.option("--application", help="The owning application, as people read it. [ENGINE]")
@click.option("--customer-field", help="The field of a job's arguments that names its customer (procrastinate).")
def views_install(
    engine: str,
    tenant: str,
    schema: str | None,
    into: str | None,
    application: str | None,
    customer_field: str | None,
) -> None:
    """Make the three views over ENGINE's tables, and let the role jobs_views read them and nothing else.

    JOBSERVICE_DATABASE_URL names the database of that engine, with a login that may read its tables.
    """
    from jobservice.monitoring_views import WantedViews, install_views

    wanted = WantedViews(
        engine=engine,
        tenant=tenant,
        schema=schema,
        into=into,
        application=application,
        customer_field=customer_field,
    )
    wanted.check()
    done = install_views(required(os.environ, DATABASE_URL)[DATABASE_URL], wanted)
    click.echo(
        f"The views over {engine}'s tables in {done.engine_schema} are in {done.schema}: {done.jobs:,} jobs of {tenant}. "
        "Next: name this database in JOBSERVICE_JOB_VIEWS of the API, with a login of the role jobs_views."
    )
