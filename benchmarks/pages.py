"""Owns measuring a page of a queue: what the database takes for it, and what one API process gives out a second.

The page begins in the middle of the order, among rows of the same score.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import LiteralString
from urllib.parse import quote

import httpx

from benchmarks import processes
from benchmarks.figures import Figure, p95
from benchmarks.ground import LARGE, SMALL, TENANT, Ground, clerk
from benchmarks.load import burst, request
from benchmarks.peer import ROUTE
from examples.payments.items import PAYOUTS
from jobcontract.routes import QUEUE_ITEMS
from jobservice.store import listing
from jobservice.store.database import Transaction
from jobservice.store.statements import statement
from jobservice.store.texts import Texts
from jobservice.usecases.listings import Asked, list_items
from jobservice.usecases.service import Service

PART = "page"
FEW = 10_000
ROUNDS, PAGES = 7, 60
SECONDS = 2.0
CONNECTIONS = 16
MIDDLE = """
select rank, created, id::text
from jobs.items
where tenant = %(tenant)s and queue = %(queue)s and closed_at is null
order by rank, created, id
offset %(offset)s
limit 1
"""
ALIKE = "select count(*) from jobs.items where tenant = %(tenant)s and queue = %(queue)s and rank = %(rank)s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Middle:
    """The place in the middle of a queue, and how many items have its score."""

    rank: int
    created: str
    item: str
    alike: int


@dataclass(slots=True)
class Recorder:
    """Keeps what the store was asked for first: the page's statement and its parameters."""

    name: str = ""
    parameters: dict[str, object] = field(default_factory=dict)


async def measure(ground: Ground) -> AsyncIterator[Figure]:
    """Every figure of a page."""
    await ground.ready(SMALL, FEW)
    await ground.ready(LARGE, ground.rows)
    async for figure in _of_the_server(ground):
        yield figure
    yield await _of_the_api(ground)


async def _of_the_server(ground: Ground) -> AsyncIterator[Figure]:
    called: dict[str, list[float]] = {LARGE: [], SMALL: []}
    planned: dict[str, list[float]] = {LARGE: [], SMALL: []}
    async with ground.service(LARGE) as large, ground.service(SMALL) as small:
        services = ((LARGE, large), (SMALL, small))
        for database, service in services:
            await _round(service, ground, _middle(ground, database))
        for _ in range(ROUNDS):
            for database, service in services:
                calls, plans = await _round(service, ground, _middle(ground, database))
                called[database].append(p95(calls))
                planned[database].append(p95(plans))
    alike = _middle(ground, LARGE).alike
    for what, found in (("planning and execution", planned), ("the use case, binding and commit included", called)):
        yield Figure(
            part=PART,
            what=f"100 rows out of {ground.rows:,} as jobs_api, p95 of the server's time: {what}",
            unit="ms",
            rounds=tuple(found[LARGE]),
            peer=f"out of {FEW:,}",
            peer_rounds=tuple(found[SMALL]),
            at_most=1.5,
            note=f"{alike:,} rows of the same score",
        )


async def _round(service: Service, ground: Ground, middle: Middle) -> tuple[list[float], list[float]]:
    """Milliseconds of some calls of the use case, and of the statement that it ran, by EXPLAIN."""
    actor, asked = ground.actor(clerk(0)), Asked(queue=PAYOUTS, limit=100)
    mark = (await list_items(service, actor, asked, start=f"item:{middle.item}")).next
    calls, plans = [], []
    for _ in range(PAGES):
        with recorded() as record:
            began = time.perf_counter()
            page = await list_items(service, actor, asked, mark=mark)
            calls.append((time.perf_counter() - began) * 1000)
        if len(json.loads(page.json)) != 100:
            raise RuntimeError("the page in the middle does not have 100 rows")
        async with service.database.transaction(actor.tenant) as transaction:
            plans.append(await _explained(transaction, record))
    return calls, plans


async def _explained(transaction: Transaction, record: Recorder) -> float:
    text: LiteralString = "explain (analyze, timing off, summary on, format json) " + statement(record.name)
    async with transaction.connection.cursor() as cursor:
        await cursor.execute(text, record.parameters)
        row = await cursor.fetchone()
    if row is None:
        raise RuntimeError("EXPLAIN said nothing")
    (plan,) = row["QUERY PLAN"]
    return float(plan["Planning Time"]) + float(plan["Execution Time"])


@contextmanager
def recorded() -> Iterator[Recorder]:
    """Within it, the first statement for a page is kept as it was sent: what is explained is what the service runs."""
    record, original = Recorder(), vars(listing)["texts"]

    async def texts(transaction: Transaction, name: str, /, **parameters: object) -> Texts:
        if name == "items/page" and not record.name:
            record.name, record.parameters = name, {"tenant": transaction.tenant, **parameters}
        found: Texts = await original(transaction, name, **parameters)
        return found

    vars(listing)["texts"] = texts
    try:
        yield record
    finally:
        vars(listing)["texts"] = original


async def _of_the_api(ground: Ground) -> Figure:
    token = await ground.token(LARGE, clerk(0))
    middle = _middle(ground, LARGE)
    rates: tuple[list[float], list[float]] = ([], [])
    with (
        processes.api(ground, LARGE, processes.WITH_PEER) as api,
        processes.program("benchmarks.load", (), processes.environ({})) as load,
    ):
        page = request("GET", await _address(api.url, token, middle), token)
        peer = request("GET", _peer_address(middle), token)
        sizes = []
        for seconds in (0.5, *[SECONDS] * ROUNDS):
            for rate, one in zip(rates, (page, peer), strict=True):
                done = burst(load, api.port, seconds, [[one]] * CONNECTIONS)
                rate.append(done.rate)
                sizes.append(done.bytes / done.answers)
    return Figure(
        part=PART,
        what=f"100 rows out of {ground.rows:,}, answers of one API process to {CONNECTIONS} connections",
        unit="/s",
        rounds=tuple(rates[0][1:]),
        peer="a route that returns 100 models",
        peer_rounds=tuple(rates[1][1:]),
        at_least=2.5,
        note=f"{min(sizes) / 1024:.0f} KiB a page",
    )


async def _address(url: str, token: str, middle: Middle) -> str:
    """The address of the page after the middle: as the service itself gives it."""
    path = QUEUE_ITEMS.path.replace("{queue}", PAYOUTS)
    async with httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {token}"}) as client:
        answer = await client.get(path, params={"start": f"item:{middle.item}", "limit": 100})
        answer.raise_for_status()
    return f"{path}?limit=100&cursor={quote(answer.json()['next'], safe='')}"


def _peer_address(middle: Middle) -> str:
    path = ROUTE.path.replace("{queue}", PAYOUTS)
    return f"{path}?rank={middle.rank}&created={quote(middle.created, safe='')}&id={middle.item}"


def _middle(ground: Ground, database: str) -> Middle:
    rows = ground.rows if database == LARGE else FEW
    with ground.superuser(database) as connection:
        found = connection.execute(MIDDLE, {"tenant": TENANT, "queue": PAYOUTS, "offset": rows // 2}).fetchone()
        if found is None:
            raise RuntimeError(f"{database} has no item in the middle")
        rank, created, item = found
        counted = connection.execute(ALIKE, {"tenant": TENANT, "queue": PAYOUTS, "rank": rank}).fetchone()
    return Middle(rank=rank, created=created.isoformat(), item=item, alike=counted[0] if counted else 0)
