"""Owns the statements of the timeline: each source is a range of one index, read from a mark on, at most a page of it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from jobservice.store.database import Row, Transaction


async def source(
    transaction: Transaction,
    name: str,
    *,
    begin: datetime,
    mark: str | None,
    until: datetime,
    most: int,
    more: Mapping[str, object],
) -> list[Row]:
    """At most `most + 1` rows of one source (`timeline/NAME`), the earliest first: from `begin` on, in that very instant
    behind `mark` where there is one, before `until`. `more`: what the source asks for beside that."""
    return list(await transaction.rows(name, begin=begin, mark=mark, until=until, most=most, **more))
