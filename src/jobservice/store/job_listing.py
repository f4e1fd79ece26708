"""Owns the statements that list and count background jobs. Decides nothing about what a filter means.

One thing that is asked for leads: its jobs are walked by an index of their own, from the latest back. The rest is looked
at in the rows, in a bounded stretch of them. Which leads is chosen by a count to a small bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from jobcontract.job_states import JobStatus
from jobservice.store.database import Row, Transaction
from jobservice.store.items import Reach
from jobservice.store.texts import texts

LOOKED = 2_000
"""Most jobs that one page looks at for what seldom meets."""
SPREAD = 5_000
"""Most jobs that one page walks where nothing has to be looked at in them, over all values of what leads."""
AT_FIRST = 8
"""Fewest jobs that are walked of each value at first, where many values lead; more only where the page is short then."""
WIDE = 4
"""How many rows are walked at first for each row of a page, over all values that lead: some have more of the latest."""
ENOUGH = 1_000
"""A thing that has fewer jobs than this leads; else the one that comes first in `_PREFERRED`."""
LEADS_MOST = 1_000
"""Most values that may lead: with more of them everything is walked, and they are looked at in the rows."""
CAUSES_MOST, CAUSES_LOOKED = 500, 20_000
"""Most causes that a search finds, and among how many of the latest it looks."""
CHANGES_MOST = 20_000
"""Most changes that are added to the tallies at a look."""
FIRST = "ffffffff-ffff-ffff-ffff-ffffffffffff"
"""Before every job: listings go backwards."""
_EVER = "00000000-0000-0000-0000-000000000000"
_EVERY_STATUS = tuple(status.value for status in JobStatus)
_STATEMENTS: Mapping[str, str] = {
    "all": "job_listing/all",
    "cancelling": "job_listing/cancelling",
    "causes": "job_listing/causes",
    "exact": "job_listing/exact",
    "failures": "job_listing/failures",
    "kinds": "job_listing/kinds",
    "requesters": "job_listing/requesters",
    "scopes": "job_listing/scopes",
    "unresolved": "job_listing/unresolved",
}
"""By what leads."""
_PREFERRED = ("unresolved", "causes", "failures", "requesters", "scopes", "kinds")


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which jobs of a tenant, within reach; None asks for nothing. `resolutions` of failures, `none` for unresolved;
    `cancelling` is enough beside them. `requesters`: empty text for nobody. `scopes`: customers or workspaces. `words`:
    each is the job's id, identity or failure reference. `older_than` and `younger_than`: when it was requested."""

    reach: Reach
    kinds: tuple[str, ...] | None = None
    statuses: tuple[str, ...] | None = None
    resolutions: tuple[str, ...] | None = None
    cancelling: bool = False
    requesters: tuple[str, ...] | None = None
    scopes: tuple[str, ...] | None = None
    causes: tuple[str, ...] | None = None
    words: tuple[str, ...] | None = None
    older_than: datetime | None = None
    younger_than: datetime | None = None

    @property
    def tallied(self) -> bool:
        """Whether the tallies know how many there are: nothing is asked for but kinds and statuses, or what is unresolved."""
        asked = (self.requesters, self.scopes, self.causes, self.words, self.older_than, self.younger_than)
        whole = self.reach.customers is None and self.reach.workspaces is None
        return (
            whole
            and not self.cancelling
            and all(each is None for each in asked)
            and self.resolutions in (None, ("none",))
        )

    @property
    def of_reach(self) -> bool:
        """Whether an index counts them: those of some customers alone, or of some workspaces alone, and nothing is asked for
        but statuses, or what is unresolved."""
        some = [each for each in (self.reach.customers, self.reach.workspaces) if each is not None]
        whole = replace(self, reach=Reach(customers=None, workspaces=None))
        return (
            len(some) == 1
            and len(some[0]) <= LEADS_MOST
            and whole.tallied
            and self.kinds is None
            and None in (self.statuses, self.resolutions)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """At most one row more than was asked for, the latest first. `horizon`: the job at which looking ended because enough
    were looked at; None: what follows the rows is known."""

    rows: tuple[Row, ...]
    horizon: str | None


async def page(transaction: Transaction, wanted: Wanted, *, before: str, most: int) -> Page:
    """Jobs before one (FIRST: from the latest on), as lines (`jobs.job_lines`)."""
    return await _walk(transaction, wanted, before=before, most=most, rows=True)


async def count(transaction: Transaction, wanted: Wanted, *, most: int) -> Page:
    """As `page` from the latest on, without the lines: each row says only its status and whether it is unresolved."""
    return await _walk(transaction, wanted, before=FIRST, most=most, rows=False)


async def ids(transaction: Transaction, wanted: Wanted, *, before: str, most: int) -> Page:
    """As `page`, without the lines: each row has the job's id as `found`."""
    return await _walk(transaction, wanted, before=before, most=most, rows=False)


async def _walk(transaction: Transaction, wanted: Wanted, *, before: str, most: int, rows: bool) -> Page:
    asked = _parameters(wanted, before)
    name, values = await _lead(transaction, wanted, asked)
    alone = _alone(wanted, name)
    walked = SPREAD if alone and (rows or values == 1) else LOOKED
    most_each = max(1, min(most + 1, walked // max(1, values)) if alone else walked // max(1, values))
    each = min(most_each, max(AT_FIRST, WIDE * (most + 1) // max(1, values))) if alone else most_each
    while True:
        parameters = {**asked, "lead": _lead_values(wanted, name), "each": each, "most": most, "rows": rows}
        if rows:
            found: Sequence[Row] = await transaction.rows(_STATEMENTS[name], **parameters)
        else:
            found = await _without_lines(transaction, _STATEMENTS[name], parameters)
        listed = tuple(row for row in found if row["found"] is not None)
        if len(listed) > most or found[0]["horizon"] is None:
            return Page(rows=listed, horizon=None)
        if each == most_each:
            return Page(rows=listed, horizon=found[0]["horizon"])
        each = min(most_each, 8 * each)


async def _without_lines(transaction: Transaction, name: str, parameters: Mapping[str, Any]) -> Sequence[Row]:
    """The rows of a walk without the columns of lines, of which a thousand rows have nothing."""
    read = await texts(transaction, name, **parameters)
    return [
        {
            "horizon": read.text(row, "horizon") or None,
            "found": read.text(row, "found") or None,
            "found_status": read.text(row, "found_status") or None,
            "found_unresolved": read.text(row, "found_unresolved") == "t",
        }
        for row in range(read.count)
    ]


def _parameters(wanted: Wanted, before: str) -> dict[str, Any]:
    scopes = wanted.scopes
    customers = scopes if scopes is not None else wanted.reach.customers
    workspaces = (
        scopes if scopes is not None else (None if wanted.reach.customers is not None else wanted.reach.workspaces)
    )
    word = None if wanted.words is None else wanted.words[0]
    return {
        "kinds": _array(wanted.kinds),
        "statuses": _array(wanted.statuses),
        "resolutions": _array(wanted.resolutions),
        "cancelling": wanted.cancelling,
        "requesters": _array(wanted.requesters),
        "scopes": _array(scopes),
        "causes": _array(wanted.causes),
        "words": _array(wanted.words),
        "word": word,
        "word_id": None if word is None or not _is_id(word) else word,
        "lead_customers": _array(customers),
        "lead_workspaces": _array(workspaces),
        **wanted.reach.parameters(),
        "before": before if wanted.older_than is None else min(before, first_of(wanted.older_than)),
        "since": _EVER if wanted.younger_than is None else first_of(wanted.younger_than),
    }


def first_of(at: datetime) -> str:
    """The id before all that were made at an instant or later, to the millisecond (RFC 9562, version 7)."""
    return str(UUID(int=max(0, int(at.timestamp() * 1000)) << 80))


def _is_id(word: str) -> bool:
    try:
        return str(UUID(word)) == word
    except ValueError:
        return False


def _array(values: Sequence[str] | None) -> list[str] | None:
    return None if values is None else list(values)


def _candidates(wanted: Wanted) -> dict[str, int]:
    """What may lead, and how many values it has."""
    found: dict[str, int] = {}
    if wanted.causes is not None:
        found["causes"] = len(wanted.causes)
    if wanted.resolutions is not None and not wanted.cancelling:
        found["failures"] = len(wanted.resolutions)
    if wanted.requesters is not None:
        found["requesters"] = len(wanted.requesters)
    if wanted.scopes is not None:
        found["scopes"] = 2 * len(wanted.scopes)
    elif wanted.reach.customers is not None or wanted.reach.workspaces is not None:
        narrowing = wanted.reach.customers if wanted.reach.customers is not None else wanted.reach.workspaces
        found["scopes"] = len(narrowing or ())
    if "scopes" in found and wanted.resolutions == ("none",) and not wanted.cancelling:
        found["unresolved"] = found.pop("scopes")
        found.pop("failures")
    if wanted.kinds is not None or wanted.statuses is not None:
        found["kinds"] = len(wanted.kinds or range(20)) * len(wanted.statuses or _EVERY_STATUS)
    return {name: values for name, values in found.items() if values <= LEADS_MOST}


async def _lead(transaction: Transaction, wanted: Wanted, asked: Mapping[str, Any]) -> tuple[str, int]:
    """What leads, and how many values it has."""
    if wanted.words is not None:
        return "exact", 1
    if wanted.cancelling and wanted.resolutions is None:
        return "cancelling", 1
    candidates = _candidates(wanted)
    if len(candidates) < 2:
        return next(iter(candidates.items()), ("all", 1))
    counted = await transaction.row(
        "job_listing/rarest", **{**asked, "statuses": asked["statuses"] or list(_EVERY_STATUS)}, enough=ENOUGH
    )
    assert counted is not None  # noqa: S101  # it is of one row
    uncounted = {"unresolved"} if wanted.kinds is not None else {"unresolved", "kinds"}
    known = {name: counted[name] for name in candidates if name not in uncounted}
    if known and min(known.values()) < ENOUGH:
        name = min(known, key=lambda each: known[each])
    else:
        name = next(each for each in _PREFERRED if each in candidates)
    return name, candidates[name]


_LED: Mapping[str, frozenset[str]] = {
    "all": frozenset(),
    "cancelling": frozenset({"cancelling"}),
    "failures": frozenset({"resolutions"}),
    "requesters": frozenset({"requesters"}),
    "causes": frozenset({"causes"}),
    "kinds": frozenset({"kinds", "statuses"}),
    "exact": frozenset(),
    "unresolved": frozenset({"resolutions"}),
}
"""What needs no look at the rows, where it leads; of scopes see `_alone`."""


def _alone(wanted: Wanted, name: str) -> bool:
    """Whether nothing has to be looked at in the rows."""
    led = set(_LED.get(name, ()))
    if name == "failures" and wanted.statuses == ("failed",):
        led.add("statuses")
    narrowed = {"customers": wanted.reach.customers, "workspaces": wanted.reach.workspaces}
    if name in ("scopes", "unresolved") and wanted.scopes is not None:
        led.add("scopes")
    elif name in ("scopes", "unresolved"):
        narrowed["customers" if wanted.reach.customers is not None else "workspaces"] = None
    asked = {
        "kinds": wanted.kinds,
        "statuses": wanted.statuses,
        "resolutions": wanted.resolutions,
        "cancelling": wanted.cancelling or None,
        "requesters": wanted.requesters,
        "scopes": wanted.scopes,
        "causes": wanted.causes,
        "words": wanted.words,
        **narrowed,
    }
    return all(value is None or field in led for field, value in asked.items())


def _lead_values(wanted: Wanted, name: str) -> list[str] | None:
    if name == "kinds":
        return list(wanted.statuses or _EVERY_STATUS)
    values = {"failures": wanted.resolutions, "requesters": wanted.requesters, "causes": wanted.causes}.get(name)
    return _array(values)


async def causes(transaction: Transaction, words: Sequence[str]) -> list[str]:
    """Ids of causes whose text has any of the words in it; one more than CAUSES_MOST where there are more."""
    rows = await transaction.rows("job_listing/find_causes", words=list(words), most=CAUSES_MOST, looked=CAUSES_LOOKED)
    return [row["id"] for row in rows]


async def known_kinds(transaction: Transaction) -> list[str]:
    """The kinds that the tenant has jobs of."""
    return [row["kind"] for row in await transaction.rows("job_listing/known_kinds")]


async def statuses(transaction: Transaction, wanted: Wanted, *, most: int) -> dict[str, int]:
    """How many jobs of the wanted kinds there are in each of the wanted statuses, counted to `most` + 1."""
    asked = list(wanted.statuses or _EVERY_STATUS)
    rows = await transaction.rows("job_listing/statuses", kinds=_array(wanted.kinds), statuses=asked, most=most)
    return {row["status"]: int(row["many"]) for row in rows}


async def unresolved(transaction: Transaction, *, most: int) -> int:
    """How many unresolved failures the tenant has, counted to `most` + 1."""
    row = await transaction.row("job_listing/unresolved_count", most=most)
    return 0 if row is None else int(row["many"])


async def reach_statuses(transaction: Transaction, wanted: Wanted, *, most: int) -> tuple[dict[str, int], bool]:
    """How many jobs of each status are in a reach (`Wanted.of_reach`), and whether there may be more of them: of each
    customer or workspace the latest are counted."""
    rows = await transaction.rows("job_listing/reach_statuses", **_of_reach(wanted, most))
    return {row["status"]: int(row["many"]) for row in rows}, any(row["cut"] for row in rows)


async def reach_unresolved(transaction: Transaction, wanted: Wanted, *, most: int) -> tuple[int, bool]:
    """How many unresolved failures are in a reach, and whether there may be more."""
    row = await transaction.row("job_listing/reach_unresolved", **_of_reach(wanted, most))
    return (0, False) if row is None else (int(row["many"]), bool(row["cut"]))


def _of_reach(wanted: Wanted, most: int) -> dict[str, Any]:
    customers, workspaces = wanted.reach.customers, wanted.reach.workspaces
    values = len(dict.fromkeys(customers if customers is not None else workspaces or ()))
    return {
        "lead_customers": None if customers is None else list(dict.fromkeys(customers)),
        "lead_workspaces": None if customers is not None else list(dict.fromkeys(workspaces or ())),
        "each": max(1, min(most + 1, LOOKED // max(1, values))),
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many jobs there are of a status, by the tallies. `folded_at` None: with all that changed since."""

    status: str
    unresolved: bool
    many: int
    folded_at: datetime | None


async def tallies(transaction: Transaction, wanted: Wanted) -> list[Tally]:
    """The tallies of the tenant's jobs of the wanted kinds."""
    rows = await transaction.rows("job_listing/tallies", kinds=_array(wanted.kinds), changes=CHANGES_MOST)
    return [
        Tally(
            status=row["status"],
            unresolved=row["unresolved"],
            many=int(row["many"]),
            folded_at=row["folded_at"] if row["behind"] else None,
        )
        for row in rows
    ]


def everything(wanted: Wanted) -> Wanted:
    """All jobs within the reach of `wanted`."""
    return Wanted(reach=wanted.reach)
