"""Owns reading the named SQL statements: one statement a file, `sql/<noun>/<name>.sql`. Never builds SQL from parts.

Comments and indentation are for people: without them a statement is short enough for the driver to remember how its
parameters are written (it remembers up to 4,096 characters), and less is sent.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import LiteralString


@cache
def statement(name: str) -> LiteralString:
    """Statement `noun/name` without lines of comment; FileNotFoundError where there is none."""
    text = files("jobservice.store").joinpath("sql", *f"{name}.sql".split("/")).read_text("utf-8")
    lines = (line.strip() for line in text.splitlines())
    kept = "\n".join(line for line in lines if line and not line.startswith("--"))
    return kept
