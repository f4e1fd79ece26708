"""Owns the peer of a page: the API as it is, with one route beside its own that returns models built in Python.

Sign-in, binding, middleware, transaction and rows are those of the real route. Exists in the benchmark alone.
Run as `python -m benchmarks.peer api ...`, like `jobservice api ...`.
"""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Response
from psycopg.rows import dict_row
from pydantic import BaseModel

from jobcontract.items import Item
from jobcontract.money import EXPONENTS
from jobcontract.permissions import Permission
from jobcontract.routes import Route
from jobservice.api import admission, app
from jobservice.api.admission import Admitted
from jobservice.api.answers import of_model
from jobservice.api.endpoints import Endpoint
from jobservice.bootstrap import api as bootstrap
from jobservice.cli import commands

ROUTE = Route(name="peerItems", method="GET", path="/v1/peer/{queue}/items", permission=Permission.QUEUE_READ)
ROWS = """
select i.*, coalesce(p.name, i.holder) as holder_name
from jobs.items as i
left join jobs.people as p on p.id = i.holder
where
    i.tenant = %(tenant)s
    and i.queue = %(queue)s
    and i.closed_at is null
    and (i.set_aside_until is null or i.set_aside_until <= %(now)s)
    and (i.rank, i.created, i.id) > (%(rank)s::bigint, %(created)s::timestamptz, %(id)s::uuid)
order by i.rank, i.created, i.id
limit 100
"""


class PeerPage(BaseModel):
    """A hundred items."""

    items: tuple[Item, ...]


async def peer_items(admitted: Admitted, queue: str, rank: int, created: str, id: str) -> Response:
    """A page after a place, row by row through a model."""
    context, actor = admitted.context, admitted.actor
    with context.listings.held(actor.person):
        async with context.service.database.transaction(actor.tenant) as transaction:
            now = transaction.began_at
            place = {"tenant": actor.tenant, "queue": queue, "now": now, "rank": rank, "created": created, "id": id}
            async with transaction.connection.cursor(row_factory=dict_row) as cursor:
                await cursor.execute(ROWS, place)
                rows = await cursor.fetchall()
    return of_model(PeerPage(items=tuple(Item.model_validate(members_of(row, now)) for row in rows)))


def members_of(row: dict[str, Any], now: Any) -> dict[str, Any]:
    """The members of an item, from its columns."""
    live = row["expires_at"] is not None and row["expires_at"] > now
    return {
        "id": str(row["id"]),
        "queue": row["queue"],
        "key": row["business_key"],
        "title": row["title"],
        "created": row["created"],
        "state": row["state"],
        "set_aside_until": None,
        "amount": _amount(row),
        "payee": _payee(row),
        "inputs": row["inputs"],
        "score": _score(row),
        "rank": row["rank"],
        "money_version": row["money_version"],
        "holder": {"id": row["holder"], "name": row["holder_name"]} if live else None,
        "expires_at": row["expires_at"] if live else None,
        "fence": row["fence"],
    }


def _amount(row: dict[str, Any]) -> dict[str, Any] | None:
    if row["amount_minor"] is None:
        return None
    currency = row["currency"]
    return {"minor": row["amount_minor"], "currency": currency, "exponent": EXPONENTS[currency]}


def _payee(row: dict[str, Any]) -> dict[str, Any] | None:
    if row["payee_id"] is None:
        return None
    return {"id": row["payee_id"], "name": row["payee_name"], "account_last4": row["account"][-4:]}


def _score(row: dict[str, Any]) -> dict[str, Any] | None:
    if row["score_rule"] is None:
        return None
    return {
        "value": row["score"],
        "rule": row["score_rule"],
        "version": row["score_version"],
        "parts": row["score_parts"] or [],
        "scored_at": row["scored_at"],
        "failure": row["score_failure"],
    }


ENDPOINT = Endpoint(route=ROUTE, function=peer_items, answer=PeerPage, summary="A page, row by row through a model")


def create_app(*arguments: Any, **named: Any) -> FastAPI:
    """The application with the peer among its routes."""
    admission.BY_NAME = {**admission.BY_NAME, ROUTE.name: ROUTE}
    app.ENDPOINTS = (*app.ENDPOINTS, ENDPOINT)
    return app.create_app(*arguments, **named)


def main() -> None:
    """Run the service's command line with the peer in its API."""
    vars(bootstrap)["create_app"] = create_app
    commands(prog_name="benchmarks.peer")


if __name__ == "__main__":
    main()
