"""The statements of keys over two connections: one holder of a key at a time, the answer seen once it is committed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from jobservice.store import idempotency
from jobservice.store.idempotency import Kept, Scope

SCOPE = Scope(person="m.ito", method="POST", path="/x", key="k")
KEPT = Kept(digest=b"\x00d", status=201, answer={"item": {"id": "1"}})

pytestmark = pytest.mark.requirement("HTTP-03")


async def test_a_key_is_locked_by_one_transaction_and_free_after_it(database: Any, people: Any) -> None:
    async with database.transaction("acme") as first:
        assert await idempotency.try_lock(first, SCOPE)
        async with database.transaction("acme") as second:
            assert not await idempotency.try_lock(second, SCOPE)
            assert await idempotency.try_lock(second, replace(SCOPE, key="other"))
        async with database.transaction("globex") as foreign:
            assert await idempotency.try_lock(foreign, SCOPE)
    async with database.transaction("acme") as third:
        assert await idempotency.try_lock(third, SCOPE)


async def test_an_answer_is_found_by_its_whole_scope(database: Any, people: Any) -> None:
    async with database.transaction("acme") as transaction:
        await idempotency.keep(transaction, SCOPE, KEPT, seconds=60)
    async with database.transaction("acme") as transaction:
        assert await idempotency.find(transaction, SCOPE) == KEPT
        for other in ({"person": "k.rao"}, {"method": "PUT"}, {"path": "/y"}, {"key": "l"}):
            assert await idempotency.find(transaction, replace(SCOPE, **other)) is None
    async with database.transaction("globex") as transaction:
        assert await idempotency.find(transaction, SCOPE) is None


async def test_an_answer_rolled_back_with_its_work_was_never_given(database: Any, people: Any) -> None:
    async def half_done() -> None:
        async with database.transaction("acme") as transaction:
            await idempotency.keep(transaction, SCOPE, KEPT, seconds=60)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await half_done()
    async with database.transaction("acme") as transaction:
        assert await idempotency.find(transaction, SCOPE) is None
