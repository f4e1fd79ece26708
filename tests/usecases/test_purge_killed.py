"""`jobservice purge` as a process, killed in the middle, while the trail is verified again and again: at no moment is there a gap,
and the next run goes on where the last one was."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from jobservice.store.database import Database
from jobservice.usecases.seals import Verified, verify
from tests.usecases.attic import DAY, Attic
from tests.usecases.test_seals import others_ended, sealed, written

pytestmark = [pytest.mark.long, pytest.mark.timeout(300), pytest.mark.requirement("MONEY-31")]
ENTRIES = 40_000
"""Several transactions of the purge."""
OLD = """
insert into jobs.audit (tenant, action, subject, outcome, detail)
select 'acme', 'claim', 'x-' || n, 'done', '{}' from generate_series(1, %s) as n"""


async def verify_on(database: Database, over: asyncio.Event) -> list[Verified]:
    """What verifying finds, again and again until `over`."""
    found = []
    while not over.is_set():
        found.append(await verify(database, None))
        await asyncio.sleep(0)
    return found


def purge(variables: Mapping[str, str]) -> subprocess.Popen[str]:
    """The command, running."""
    return subprocess.Popen(
        [sys.executable, "-m", "jobservice", "purge", "--json"],
        env=variables,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def kill_in_the_middle(attic: Attic, variables: Mapping[str, str]) -> int:
    """Start it, and kill it as soon as another part of the trail is gone; up to which place it is."""
    before = base(attic)
    process = purge(variables)
    deadline = time.monotonic() + 60
    while base(attic) == before and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.005)
    process.kill()
    process.communicate()
    return base(attic)


def base(attic: Attic) -> int:
    """The place that the trail begins behind."""
    return int(attic.stage.row("select coalesce(max(place), 0) as place from jobs.audit_base")["place"])


@pytest.mark.requirement("LEASE-04")
async def test_a_purge_that_is_killed_while_the_trail_is_verified_leaves_one_that_holds(
    attic: Attic,
    database: Database,
    owner_database: Database,
    worker_database: Database,
    database_url: Callable[[str], str],
) -> None:
    attic.stage.people.connection.execute(OLD.encode(), (ENTRIES,))
    await others_ended(database)
    while await sealed(worker_database, most=500):
        pass
    attic.clock.advance(731 * DAY)
    await written(database, 3)
    variables: dict[str, Any] = {
        **os.environ,
        "JOBSERVICE_DATABASE_URL": database_url("jobs_purge"),
        "JOBSERVICE_APPLICATION": "examples.payments:application",
    }
    over = asyncio.Event()
    verifying = asyncio.create_task(verify_on(owner_database, over))
    try:
        places = [await asyncio.to_thread(kill_in_the_middle, attic, variables) for _ in range(2)]
        last = purge(variables)
        said, complaint = await asyncio.to_thread(last.communicate, timeout=120)
    finally:
        over.set()
        found = await verifying
    assert 0 < places[0] < places[1] < ENTRIES, "killed in the middle, twice"
    assert (last.returncode, complaint) == (0, "")
    assert json.loads(said)["entries"] == ENTRIES - places[1], "it went on where it was"
    assert [each.gap for each in found if each.gap is not None] == []
    assert len({each.purged for each in found}) > 1, "it was verified while it went"
    whole = await verify(owner_database, None)
    assert (whole.gap, whole.purged, whole.entries) == (None, ENTRIES, 0)
    announced = attic.said("purge-audit")
    assert [(tenant, detail["upto"]) for tenant, detail in announced] == [(None, ENTRIES), ("acme", ENTRIES)]
