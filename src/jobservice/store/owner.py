"""Owns the connection of who owns the database, for what a person starts: migrating, and publishing views. Never a pool's."""

from __future__ import annotations

from typing import Any

import psycopg

from jobservice.settings import StartRefused
from jobservice.store.database import reason, server_too_old


def connect(url: str) -> psycopg.Connection[Any]:
    """A connection to a PostgreSQL that is new enough; StartRefused with the reason otherwise (no password in it)."""
    try:
        connection = psycopg.connect(url, connect_timeout=10, options="-c timezone=UTC", application_name="migrate")
    except psycopg.Error as error:
        raise StartRefused(f"The database cannot be reached: {reason(error)}") from error
    too_old = server_too_old(connection.info.server_version)
    if too_old is not None:
        connection.close()
        raise StartRefused(too_old)
    return connection
