"""Owns the statements of alarms: what is looked for over all tenants, the rows, reading and acknowledging them, and what
became of telling others. Decides nothing (`rules/alarms.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.types.json import Jsonb

from jobcontract.operating import AlarmKind
from jobservice.rules.alarms import URGENCY, Condition, Found, Open, WorkerSeen
from jobservice.store.database import Row, Transaction

MOST = 10_000
"""Rows of a tenant that one look counts to; behind that, a count is of at least so many."""
SILENT_MOST = 200
"""Workers that a look reads."""
LeaseKey = Mapping[str, object]
"""`name`, `holder` and `fence` of the duty's lease."""


async def clock(transaction: Transaction) -> tuple[datetime, Sequence[str]]:
    """The database's clock and every tenant."""
    row = await transaction.row("alarms/clock")
    assert row is not None  # noqa: S101  # a select without from has a row
    return row["now"], row["tenants"]


async def late(transaction: Transaction, *, after: float) -> list[Row]:
    """What is due for longer than `after` seconds: tenant, schedule, count, since."""
    return list(await transaction.rows("alarms/late", after=after, most=MOST))


async def missed(transaction: Transaction, *, within: float) -> list[Row]:
    """What a misfire policy decided within so many seconds: tenant, schedule, count, merged, at."""
    return list(await transaction.rows("alarms/missed", within=within))


async def parked(transaction: Transaction) -> list[Row]:
    """Schedules that cannot be computed: tenant, schedule, reason, since."""
    return list(await transaction.rows("alarms/parked", most=MOST))


async def dead(transaction: Transaction) -> list[Row]:
    """Dead letters that nobody put away: tenant, schedule, count, since, recent, before."""
    return list(await transaction.rows("alarms/dead", most=MOST))


async def retrying(transaction: Transaction) -> Mapping[tuple[str, str], int]:
    """How many occurrences wait for another attempt, by tenant and schedule."""
    rows = await transaction.rows("alarms/retrying")
    return {(row["tenant"], row["schedule"]): row["count"] for row in rows}


async def leaving(transaction: Transaction, keys: Sequence[tuple[str, str]], *, ahead: float) -> list[Row]:
    """Of these (tenant, schedule): dead letters that retention removes within `ahead` seconds: tenant, schedule, count,
    at."""
    if not keys:
        return []
    tenants, schedules = [tenant for tenant, _ in keys], [schedule for _, schedule in keys]
    return list(await transaction.rows("alarms/leaving", tenants=tenants, schedules=schedules, ahead=ahead, most=MOST))


async def workers(transaction: Transaction, *, within: float) -> tuple[WorkerSeen, ...]:
    """Workers that did not stop in good order, and were heard of within so many seconds."""
    rows = await transaction.rows("alarms/workers", within=within, most=SILENT_MOST)
    return tuple(WorkerSeen(**row) for row in rows)


async def stops(transaction: Transaction) -> list[Row]:
    """Stops in force: tenant, scope (None: money), name, since, by (a person's id)."""
    return list(await transaction.rows("alarms/stops"))


async def opened(transaction: Transaction) -> tuple[Open, ...]:
    """Every open alarm."""
    rows = await transaction.rows("alarms/open")
    return tuple(Open(**{**row, "kind": AlarmKind(row["kind"])}) for row in rows)


async def add(transaction: Transaction, lease: LeaseKey, conditions: Sequence[Condition], *, tells: bool) -> list[Row]:
    """Open alarms; those that were: id, tenant, kind, subject, schedule, sentence, count."""
    rows = [
        {
            "tenant": each.tenant,
            "kind": each.kind.value,
            "subject": each.subject,
            "schedule": each.schedule,
            "sentence": each.sentence,
            "count": each.count,
        }
        for each in conditions
    ]
    return list(await transaction.rows("alarms/add", **lease, rows=Jsonb(rows), tells=tells)) if rows else []


async def refresh(transaction: Transaction, lease: LeaseKey, found: Sequence[Found]) -> None:
    """Keep that open alarms were found again."""
    rows = [{"id": each.id, "sentence": each.sentence, "count": each.count} for each in found]
    if rows:
        await transaction.run("alarms/refresh", **lease, rows=Jsonb(rows))


async def clear(transaction: Transaction, lease: LeaseKey, over: Sequence[Open]) -> list[Row]:
    """Write that alarms are over; those that were: id, tenant, kind, subject, opened_at, cleared_at."""
    if not over:
        return []
    return list(await transaction.rows("alarms/clear", **lease, ids=[each.id for each in over]))


async def count(transaction: Transaction, figures: Mapping[str, int]) -> None:
    """Keep figures for the metrics."""
    await transaction.run("alarms/count", rows=Jsonb([{"name": n, "value": v} for n, v in figures.items()]))


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many alarms are open, and what is known of Workers: when one that may live, and any, was heard of last."""

    open: int
    unacknowledged: int
    beat_at: datetime | None
    last_at: datetime | None
    now: datetime


async def counts(transaction: Transaction) -> Counts:
    """Of the transaction's tenant."""
    row = await transaction.row("alarms/counts")
    assert row is not None  # noqa: S101  # an aggregate has a row
    return Counts(**row)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPlace:
    """Behind which open alarm a page begins."""

    urgency: int
    at: datetime
    id: str


async def listed_open(transaction: Transaction, behind: OpenPlace, *, most: int) -> list[Row]:
    """Open alarms behind a place, the most urgent first, and one more than `most`."""
    place = {"urgency": behind.urgency, "at": behind.at, "id": behind.id}
    return list(await transaction.rows("alarms/listed_open", kinds=list(URGENCY), most=most + 1, **place))


async def listed_cleared(transaction: Transaction, behind: tuple[datetime, str], *, most: int) -> list[Row]:
    """Alarms that are over behind a place, the latest first, and one more than `most`."""
    return list(await transaction.rows("alarms/listed_cleared", at=behind[0], id=behind[1], most=most + 1))


async def one(transaction: Transaction, identifier: str) -> Row | None:
    """One alarm of the tenant."""
    return await transaction.row("alarms/one", id=identifier) if _readable(identifier) else None


async def lock(transaction: Transaction, identifier: str) -> bool:
    """Lock one alarm; whether there is such a one."""
    return _readable(identifier) and await transaction.row("alarms/lock", id=identifier) is not None


async def acknowledge(transaction: Transaction, identifier: str, *, by: str, note: str, version: int) -> bool:
    """Write who looks after a locked, open alarm; False where it is not as it was read."""
    row = await transaction.row("alarms/acknowledge", id=identifier, by=by, note=note, version=version)
    return row is not None


def _readable(identifier: str) -> bool:
    try:
        return str(UUID(identifier)) == identifier
    except ValueError:
        return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What is told of an alarm, taken for one attempt, the `tries`-th. `telling`: opened, acknowledged, cleared."""

    id: str
    tenant: str
    kind: str
    subject: str
    schedule: str | None
    sentence: str
    count: int
    opened_at: datetime
    acknowledged_at: datetime | None
    cleared_at: datetime | None
    telling: str
    tries: int
    now: datetime


async def take_message(transaction: Transaction, *, first_pause: float, longest_pause: float) -> Message | None:
    """The message that is due longest; it is due again after a pause (seconds) that doubles with each attempt."""
    row = await transaction.row("alarms/take_message", first=first_pause, longest=longest_pause)
    return None if row is None else Message(**row)


async def told(transaction: Transaction, message: Message, outcome: str, words: str | None = None) -> str | None:
    """Keep what became of a message (`sent`, `given-up`), and what is told next; its tenant, None where it was told
    meanwhile."""
    row = await transaction.row("alarms/told", **_of(message), outcome=outcome, words=words)
    return None if row is None else row["tenant"]


async def not_told(transaction: Transaction, message: Message, words: str) -> str | None:
    """Keep why an attempt failed; its tenant."""
    row = await transaction.row("alarms/not_told", **_of(message), words=words)
    return None if row is None else row["tenant"]


async def waiting(transaction: Transaction) -> int:
    """How many alarms wait to be told of."""
    row = await transaction.row("alarms/waiting")
    return 0 if row is None else int(row["waiting"])


def _of(message: Message) -> dict[str, object]:
    return {"id": message.id, "telling": message.telling, "tries": message.tries}
