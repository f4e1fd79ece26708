"""The duty that seals the trail: in batches under its lease, each head outside before the next, told where nobody said where."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from jobservice.delivery.heads import Heads
from jobservice.store import duties as rows
from jobservice.store.database import Database
from jobservice.usecases.seals import verify
from jobservice.worker.fenced import Lease, LeaseLost, take
from jobservice.worker.sealing import Sealing
from tests.conftest import Clock, People
from tests.usecases.test_seals import others_ended, written

pytestmark = pytest.mark.requirement("MONEY-31")
HOLDER = UUID(int=7)


@pytest.fixture
async def lease(worker_database: Database, people: People) -> Lease:
    """Sealing, leased."""
    duty = Sealing(heads=None)
    async with worker_database.transaction(None) as transaction:
        await rows.add_duty(transaction, duty.name)
    lease = await take(worker_database, duty, HOLDER)
    assert lease is not None
    return lease


async def test_all_that_can_be_sealed_is_and_each_head_lies_outside(
    lease: Lease, database: Database, owner_database: Database, tmp_path: Path
) -> None:
    heads = Heads(folder=tmp_path / "seals")
    duty = Sealing(heads=heads, batch=3)
    assert await duty.wanted(lease.database, HOLDER), "it has not looked at the folder"
    assert await duty.run_once(lease) == {}
    assert not await duty.wanted(lease.database, HOLDER)
    await written(database, 7)
    await others_ended(database)
    assert await duty.wanted(lease.database, HOLDER)
    assert await duty.run_once(lease) == {"sealed": 7}
    assert not await duty.wanted(lease.database, HOLDER)
    assert await duty.run_once(lease) == {}
    (file,) = heads.folder.iterdir()
    assert (stat.S_IMODE(heads.folder.stat().st_mode), stat.S_IMODE(file.stat().st_mode)) == (0o700, 0o600)
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(line["place"], line["count"]) for line in lines] == [(3, 3), (6, 3), (7, 1)]
    found = await verify(owner_database, heads)
    assert (found.entries, found.heads, found.gap) == (7, 3, None)


async def test_a_head_that_a_process_did_not_write_any_more_is_written_by_the_next(
    lease: Lease, database: Database, tmp_path: Path
) -> None:
    heads = Heads(folder=tmp_path / "seals")
    await written(database, 2)
    await others_ended(database)
    heads.folder.touch()  # in the way: nothing can be written there
    with capture_logs() as logs:
        duty = Sealing(heads=heads)
        await duty.run_once(lease)
    assert [line["event"] for line in logs if line.get("alarm")] == ["audit-head-not-kept"]
    heads.folder.unlink()
    assert await duty.wanted(lease.database, HOLDER), "a head is not outside"
    await duty.run_once(lease)
    assert not await duty.wanted(lease.database, HOLDER)
    assert heads.last() == 2
    (file,) = heads.folder.iterdir()
    file.write_text('{"pla')  # the machine stopped in the middle of the line
    await Sealing(heads=heads).run_once(lease)
    assert next(heads.read(heads.sizes()))[0] == 2


async def test_without_a_folder_that_is_said_once_and_heads_are_lines_of_the_log(
    lease: Lease, database: Database
) -> None:
    duty = Sealing(heads=None)
    with capture_logs() as logs:
        for count in (2, 1):
            await written(database, count)
            await others_ended(database)
            await duty.run_once(lease)
    assert [line["event"] for line in logs] == ["audit-heads-not-kept", "audit-head", "audit-head"]
    assert [line["place"] for line in logs[1:]] == [2, 3]
    assert len(logs[1]["link"]) == 64


async def test_a_lease_that_was_lost_seals_nothing(
    lease: Lease, database: Database, worker_database: Database, owner_database: Database, clock: Clock
) -> None:
    await written(database, 2)
    await others_ended(database)
    clock.advance(3_600)
    assert await take(worker_database, Sealing(heads=None), UUID(int=8)) is not None
    with pytest.raises(LeaseLost):
        await Sealing(heads=None).run_once(lease)
    assert (await verify(owner_database, None)).entries == 0
