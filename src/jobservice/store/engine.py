"""Owns the statements about what the engine keeps of jobs, and those that it writes of many jobs at once. The engine's own
tables are read here, and changed by its own library, but for the version that may run a workflow.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from jobservice.store.database import Transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldJob:
    """A job that a Worker runs: `handle` is the engine's name of it, `fence` that of the run."""

    handle: str
    family: str
    job: str
    fence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """Progress that a running step declared, 0 to 100. `sentence` None: nothing was said."""

    family: str
    job: str
    fence: int
    position: int
    percent: int
    sentence: str | None


async def look(transaction: Transaction, holder: str, held: Sequence[HeldJob]) -> dict[str, bool]:
    """Of these jobs, by handle, those that are to end: True where they are not this run's any more, False where a person
    asked to cancel them."""
    rows = await transaction.rows(
        "engine/look",
        holder=holder,
        handles=[each.handle for each in held],
        families=[each.family for each in held],
        jobs=[each.job for each in held],
        fences=[each.fence for each in held],
    )
    return {row["handle"]: row["lost"] for row in rows}


async def declare(transaction: Transaction, holder: str, declared: Sequence[Declared]) -> frozenset[str]:
    """Write declared progress; ids of the jobs whose progress is written. One that is not this run's any more, is to be
    cancelled, or is just being written by another transaction, is left alone."""
    held = await transaction.rows(
        "engine/hold",
        holder=holder,
        families=[each.family for each in declared],
        jobs=[each.job for each in declared],
        fences=[each.fence for each in declared],
    )
    ids = frozenset(row["job"] for row in held)
    ours = [each for each in declared if each.job in ids]
    await transaction.rows(
        "engine/declare",
        families=[each.family for each in ours],
        jobs=[each.job for each in ours],
        positions=[each.position for each in ours],
        percents=[each.percent for each in ours],
        sentences=[each.sentence for each in ours],
    )
    return ids


async def orphans(transaction: Transaction, *, silent: float, most: int) -> list[str]:
    """Handles of workflows whose Worker does not live: silent for `silent` seconds, stopped, or not known."""
    return [row["handle"] for row in await transaction.rows("engine/orphans", silent=silent, most=most)]


async def strays(transaction: Transaction, holder: str) -> set[str]:
    """Handles of workflows that are marked as running on this Worker."""
    return {row["handle"] for row in await transaction.rows("engine/strays", holder=holder)}


async def adopt(transaction: Transaction, version: str) -> int:
    """Take over what earlier versions of the interpreter were to run; how many."""
    return len(await transaction.rows("engine/adopt", version=version))


async def adoptable(transaction: Transaction, version: str) -> bool:
    """Whether an earlier version of the interpreter was to run something that waits."""
    row = await transaction.row("engine/adoptable", version=version)
    return row is not None and bool(row["adoptable"])


async def finished(transaction: Transaction, *, most: int) -> Collection[str]:
    """Handles of workflows that ended, of jobs that are settled."""
    return [row["handle"] for row in await transaction.rows("engine/finished", most=most)]
