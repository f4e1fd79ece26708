"""The statements that take a filter, under the API's role: `jobs.matches` changes no plan's way through its index."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from jobcontract.filter_names import QueueNames, judge_names
from jobcontract.filters import parse
from jobcontract.money import EXPONENTS
from jobcontract.states import InputType
from jobservice.rules.filters import condition
from tests.store.test_items import fill, scans
from tests.store.test_listing import WAYS, page_of

INPUTS = {"invoice": InputType.TEXT}
ALL = (
    'amount>1 currency:GBP holder:me,free age>1m score<80 input.invoice:"it\'s",none state:open acme "b c"',
    "score:none holder:free",
    "amount<=5",
)
REACH: dict[str, object] = {"customers": None, "workspaces": None}
WHERE = {"queue": "t.payouts", **REACH}


def wanted(text: str) -> Jsonb:
    """The condition of a filter, as a statement takes it."""
    filter_ = parse(text)
    currency = judge_names(filter_, QueueNames(money=True, inputs=INPUTS, currencies=("GBP",)))
    return Jsonb(dict(condition(filter_, currency=currency, inputs=INPUTS, person="m.ito") or {}))


@pytest.mark.requirement("MONEY-03")
async def test_a_filter_changes_no_way_through_an_index(
    database: Any, people: Any, superuser: psycopg.Connection[Any]
) -> None:
    fill(superuser)
    for name, sign in WAYS:
        for text in ALL:
            page = page_of("waiting", filter=wanted(text), **REACH)
            (scan,) = await scans(database, name, filtered=True, **page)
            assert (scan.node, scan.walked) == ("Index Scan", "items_waiting"), text
            assert f"ROW(rank, created, id) {sign} ROW(" in scan.condition
            assert "matches" not in scan.filter, "one expression, put into the statement and folded"
            assert "->>" not in scan.filter, "what the filter does not say folds away"
        page = page_of("waiting", filter=wanted("amount>1"), **REACH) | {"currency": "GBP"}
        (scan,) = await scans(database, name, filtered=True, **page)
        assert (scan.node, scan.walked) == ("Index Scan", "items_amounts")
        assert f"ROW(amount_rank, created, id) {sign} ROW(" in scan.condition
    found = await scans(database, "items/currencies", **WHERE)
    assert {each.walked for each in found} == {"items_amounts"}, found
    now = datetime.now(UTC)
    (mine,) = await scans(database, "items/mine", person="m.ito", now=now, filter=None, **WHERE)
    assert mine.walked == "items_held"
    values = {"now": now, "rows": 1_000, "longest": 60, "most": 20}
    (first,) = await scans(database, "items/input_values", **WHERE, **values)
    assert (first.node, first.walked) == ("Index Scan", "items_waiting")
    counting = {"view": "waiting", "now": now, "filter": None, "most": 10_000, "exponents": Jsonb(dict(EXPONENTS))}
    (counted,) = await scans(database, "items/totals", **WHERE, **counting)
    assert "matches" not in counted.filter
