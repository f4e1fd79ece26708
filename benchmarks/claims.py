"""Owns measuring claim next: at the use case with all its writes, beside a bare update over the same index, beside the
same writes in one statement, beside itself with the head of the queue claimed, and over HTTP.

Sixteen clerks at a time, each with a connection of the pool; when one holds enough, the next clerk goes on.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from itertools import count
from typing import Any
from uuid import uuid4

from psycopg import AsyncConnection
from psycopg_pool import AsyncConnectionPool

from benchmarks import processes
from benchmarks.claims_sql import BARE, CLAIMED, ONE_STATEMENT
from benchmarks.figures import Figure
from benchmarks.ground import CLERKS, Ground, clerk
from benchmarks.load import burst, request
from examples.payments.items import PAYOUTS
from jobcontract.items import ClaimNextOrder
from jobcontract.routes import CLAIM_NEXT
from jobservice.bootstrap.dev import OWNER
from jobservice.usecases.claims import claim_next
from jobservice.usecases.idempotency import Once
from jobservice.usecases.service import Service

PART = "claim next"
DATABASE = "claims"
CONNECTIONS = 16
ROUNDS, SECONDS = 7, 1.0
HEAD = 20_000
TENANTS: Mapping[str, int] = {"bare": 80_000, "one": 60_000, "case": 25_000, "head": HEAD + 25_000, "http": 6_000}
"""Each way has a tenant of its own, so that none finds the rows that another one took."""
HELD_MOST = 50
"""Items that a clerk takes before the next one goes on: what the example lets a person hold."""

Claim = Callable[[int], Awaitable[str | None]]
"""Claims one item for a clerk; its id, or None where nothing is free."""


@dataclass(slots=True)
class Way:
    """One way of claiming: its rounds, and every item that it gave out."""

    tenant: str
    claim: Claim
    rates: list[float] = field(default_factory=list)
    items: Counter[str] = field(default_factory=Counter)
    _turn: Any = field(default_factory=count)

    async def round(self, seconds: float) -> float:
        """Claim on all connections for some seconds; claims a second."""
        began = time.perf_counter()
        until = began + seconds
        before = self.items.total()
        await asyncio.gather(*(self._work(number, until) for number in range(CONNECTIONS)))
        return (self.items.total() - before) / (time.perf_counter() - began)

    async def _work(self, number: int, until: float) -> None:
        """One connection after the other: clerk `number`, `number` + 16 ... have their turns."""
        while time.perf_counter() < until:
            turn = next(self._turn) // CONNECTIONS // HELD_MOST * CONNECTIONS
            item = await self.claim((number + turn) % CLERKS)
            if item is None:
                raise RuntimeError(f"no item of {self.tenant} is free any more: the benchmark needs more of them")
            self.items[item] += 1


async def measure(ground: Ground) -> AsyncIterator[Figure]:
    """Every figure of claim next."""
    await ground.make(DATABASE, TENANTS, held={"head": HEAD})
    async with AsyncExitStack() as stack:
        service = await stack.enter_async_context(ground.service(DATABASE, most=CONNECTIONS))
        pool = await stack.enter_async_context(_owners(ground))
        ways = {
            "bare": Way(tenant="bare", claim=_statement(pool, BARE, "bare")),
            "one": Way(tenant="one", claim=_statement(pool, ONE_STATEMENT, "one")),
            "case": Way(tenant="case", claim=_use_case(service, ground, "case")),
            "head": Way(tenant="head", claim=_use_case(service, ground, "head")),
        }
        for way in ways.values():
            await way.round(SECONDS / 2)
        for _ in range(ROUNDS):
            for way in ways.values():
                way.rates.append(await way.round(SECONDS))
    for figure in _compared(ways):
        yield figure
    over_http, taken = await _over_http(ground)
    yield over_http
    yield _twice(ground, ways, taken)


def _compared(ways: Mapping[str, Way]) -> tuple[Figure, ...]:
    case, head = tuple(ways["case"].rates), tuple(ways["head"].rates)
    what = f"the use case, {CONNECTIONS} pooled connections"

    def beside(rates: tuple[float, ...], peer: str, name: str, least: float, what: str = what) -> Figure:
        peers = tuple(ways[name].rates)
        return Figure(part=PART, what=what, unit="/s", rounds=rates, peer=peer, peer_rounds=peers, at_least=least)

    return (
        beside(case, "bare UPDATE ... RETURNING over the same index", "bare", 0.25),
        beside(case, "the same writes in one autocommitted statement", "one", 0.35),
        beside(head, "nothing claimed", "case", 0.9, f"{what}, the first {HEAD:,} claimed by others"),
    )


def _owners(ground: Ground) -> AsyncConnectionPool[AsyncConnection[tuple[Any, ...]]]:
    """A pool of the owner's: no row security, nothing that has to be bound."""
    return AsyncConnectionPool(
        ground.url(OWNER, DATABASE),
        min_size=CONNECTIONS,
        max_size=CONNECTIONS,
        open=False,
        kwargs={"autocommit": True},
    )


def _statement(pool: AsyncConnectionPool[AsyncConnection[tuple[Any, ...]]], text: str, tenant: str) -> Claim:
    async def claim(number: int) -> str | None:
        path = CLAIM_NEXT.path.replace("{queue}", PAYOUTS)
        named = {"tenant": tenant, "queue": PAYOUTS, "person": clerk(number), "path": path, "key": uuid4().hex}
        async with pool.connection() as connection:
            row = await (await connection.execute(text.encode(), named)).fetchone()
        return None if row is None else str(row[0])

    return claim


def _use_case(service: Service, ground: Ground, tenant: str) -> Claim:
    async def claim(number: int) -> str | None:
        path = CLAIM_NEXT.path.replace("{queue}", PAYOUTS)
        once = Once(method="POST", path=path, key=uuid4().hex, digest=bytes(32))
        actor = ground.actor(clerk(number), tenant)
        answered = await claim_next(service, actor, PAYOUTS, ClaimNextOrder(), once)
        item = answered.body["item"]
        return None if item is None else str(item["id"])

    return claim


async def _over_http(ground: Ground) -> tuple[Figure, int]:
    people = range(CONNECTIONS)
    tokens = [await ground.token(DATABASE, clerk(number)) for number in people]
    path = CLAIM_NEXT.path.replace("{queue}", PAYOUTS)
    rates, taken = [], 0
    with (
        processes.api(ground, DATABASE) as api,
        processes.program("benchmarks.load", (), processes.environ({})) as load,
    ):
        for _ in range(3):
            orders = [
                [
                    request("POST", path, token, b"{}", Idempotency_Key=uuid4().hex, Jobs_Tenant="http")
                    for _ in range(100)
                ]
                for token in tokens
            ]
            done = burst(load, api.port, SECONDS, orders, once=True)
            rates.append(done.rate)
            taken += done.answers
    what = f"over HTTP, one API process, {CONNECTIONS} connections"
    return Figure(part=PART, what=what, unit="/s", rounds=tuple(rates)), taken


def _twice(ground: Ground, ways: Mapping[str, Way], taken: int) -> Figure:
    """Items given out twice by the use case, as its answers and as the tables say."""
    given = Counter[str]()
    for name in ("case", "head"):
        given.update(ways[name].items)
    answers = given.total() + taken
    with ground.superuser(DATABASE) as connection:
        row = connection.execute(CLAIMED).fetchone()
    claims, items = row if row is not None else (0, 0)
    twice = sum(many - 1 for many in given.values()) + (claims - items) + abs(claims - answers)
    return Figure(
        part=PART,
        what=f"of {answers:,} claims by the use case: given out twice, or not in the tables",
        unit="items",
        rounds=(float(twice),),
        at_most=0,
    )
