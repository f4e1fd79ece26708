"""Owns reading the named SQL statements: one statement a file, `sql/<noun>/<name>.sql`. Never builds SQL from parts."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import LiteralString


@cache
def statement(name: str) -> LiteralString:
    """The text of statement `noun/name`; FileNotFoundError where there is none."""
    return files("jobservice.store").joinpath("sql", *f"{name}.sql".split("/")).read_text("utf-8")
