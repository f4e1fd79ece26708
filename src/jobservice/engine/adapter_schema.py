"""Owns the engine library's tables: made and brought to the version that this release needs, by the owner, in a schema of
their own. Never gives a right: `store/sql/engine/grant_*.sql` do, after it.
"""

from __future__ import annotations

import logging

from dbos import DBOS, SQLAlchemyDatasource
from psycopg.conninfo import conninfo_to_dict
from sqlalchemy import URL

SCHEMA = "jobs_engine"
"""Where the library's tables are: beside the account, so that one transaction writes both."""


def address(url: str) -> URL:
    """A libpq address, in either of its two forms, as the library's connections want it. May hold a password."""
    said = {name: str(value) for name, value in conninfo_to_dict(url).items()}
    user, password, database = said.pop("user", None), said.pop("password", None), said.pop("dbname", None)
    return URL.create("postgresql", username=user, password=password, database=database, query=said)


def make_schema(url: str) -> None:
    """Make what is missing, and nothing where all is there; blocks. Raises what the library or the driver raises."""
    logging.getLogger("dbos").setLevel(logging.ERROR)  # it tells every statement, and the address
    where = address(url).render_as_string(hide_password=False)
    DBOS.migrate(where, schema=SCHEMA)
    SQLAlchemyDatasource.migrate(where, schema=SCHEMA)
