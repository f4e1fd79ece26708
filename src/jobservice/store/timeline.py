"""Owns the statements of the timeline: each source is a range of one index, read from a mark on, at most a page of it. All
that a page asks go in one trip."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from jobservice.store.database import Row, Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """What a page asks of one source (`timeline/NAME`): from `begin` on, in that very instant behind `mark` where there is
    one. `more`: what the source asks for beside that."""

    name: str
    begin: datetime
    mark: str | None
    more: Mapping[str, object] = field(default_factory=dict)


async def stretches(
    transaction: Transaction, asked: Sequence[Stretch], *, until: datetime, most: int
) -> Sequence[Sequence[Row]]:
    """At most `most + 1` rows of each, before `until`, the earliest first; in the order in which they were asked."""
    return await transaction.together(
        [
            (each.name, {"begin": each.begin, "mark": each.mark, "until": until, "most": most, **each.more})
            for each in asked
        ]
    )
