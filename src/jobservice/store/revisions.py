"""Owns the list of migrations that this code ships: one SQL file each, numbered. Runs none of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files

FILE_NAME = re.compile(r"(\d{4})_[a-z0-9_]+\.sql")


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """One SQL file: its number is its revision."""

    revision: str
    name: str
    sql: str


def known_migrations() -> tuple[Migration, ...]:
    """The files shipped with this code, in order."""
    found = []
    for file in files("jobservice.store").joinpath("migrations").iterdir():
        matched = FILE_NAME.fullmatch(file.name)
        if matched is not None:
            found.append(Migration(revision=matched[1], name=file.name, sql=file.read_text("utf-8")))
    return tuple(sorted(found, key=lambda migration: migration.revision))


def code_version() -> str:
    """The revision that this code needs."""
    return known_migrations()[-1].revision
