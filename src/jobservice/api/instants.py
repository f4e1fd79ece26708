"""Owns how an instant is written in a query: by RFC 3339 and no other way."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import AwareDatetime, BeforeValidator

from jobcontract.occurrence_names import read_instant


def _read(given: object) -> object:
    """The instant (UTC); ValueError with a sentence where `given` is not one."""
    if given is None or isinstance(given, datetime):
        return given
    found = read_instant(str(given))
    if found is None:
        raise ValueError("must be an instant with its offset, like 2026-10-26T01:30:00Z")
    return found


QueryInstant = Annotated[AwareDatetime, BeforeValidator(_read)]
"""An instant of a query, UTC. A number of seconds is none."""
