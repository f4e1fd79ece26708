"""Owns what the planner of a test's database knows of its tables: nothing, as of a database that nobody ever looked through.
Whatever other tests left behind, or autovacuum counted a moment ago, decides no plan then.
"""

from __future__ import annotations

from typing import Any

import psycopg


def forget_statistics(connection: psycopg.Connection[Any]) -> None:
    """Of all tables and indexes of the service, in the transaction that is open; `connection`: a superuser's."""
    connection.execute(
        "update pg_class set relpages = 0, reltuples = -1"
        " where relnamespace = 'jobs'::regnamespace and relkind in ('r', 'p', 'i', 'I')"
    )
    connection.execute(
        "delete from pg_statistic where starelid in"
        " (select oid from pg_class where relnamespace = 'jobs'::regnamespace)"
    )
