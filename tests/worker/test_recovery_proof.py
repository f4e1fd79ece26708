"""What the Worker believes of a recovery, row by row: never more than was confirmed, and without reading all rows each time."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg import AsyncConnection
from psycopg.rows import dict_row

from jobservice.store import recovery_rows
from jobservice.store.database import Database, Row, Transaction
from jobservice.worker import recovery_proof
from jobservice.worker.recovery_proof import RecoveryProof, Unconfirmed
from tests.usecases.money_desk import KEYS
from tests.usecases.recovery_desk import DAY, MONEY, NIGHT, RecoveryDesk, recovery_desk
from tests.worker.recoveries_stage import RecoveryStage

pytestmark = pytest.mark.requirement("MONEY-1", "MONEY-19")

MANY = 5
SETTINGS = settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
SHOWN = (
    "select number, key, target, name, moves, row_version, state, coalesce(refused + failed + unfinished, 0) as not_done,"
    " schedule, scheduled_at, occurrence, job from jobs.recovery_rows where recovery = %s order by number"
)
HEAD = (
    "select owner, act, reason, frozen_at, disable_until, count, money, digest, signing_key, signature, confirmed_at, moves"
    " from jobs.recoveries where id = %s"
)
OF_A_ROW = (
    "key = key || 'x'",
    "name = name || 'x'",
    "moves = 'nothing'",
    "row_version = row_version + 1",
    "state = 'completed'",
    "refused = 0, unfinished = 0, failed = coalesce(failed, 0) + 1",
    "schedule = 'r.other'",
    "scheduled_at = scheduled_at + interval '1 day'",
    "occurrence = jobs.uuid7()",
    "occurrence = null",
    "target = 'skipped-instant'",
    "target = 'skipped-instant', key = name",
    "number = number + 100",
)
HARMLESS = ("turn = 'running'", "turn = 'done', ended_at = jobs.now()", "sentence = 'So.'", "error = 'So.'")
OF_THE_HEAD = (
    "reason = 'Other'",
    "owner = 'k.rao'",
    "count = count + 1",
    "act = 'requeue'",
    "money = '[{}]'",
    "digest = sha256('x')",
    "signature = sha256('x')",
    "signing_key = 'k9'",
    "frozen_at = frozen_at + interval '1 s'",
)
ADD = (
    "insert into jobs.recovery_rows (recovery, number, tenant, key, target, name, schedule, moves, row_version) select"
    " recovery, (select max(number) + 1 from jobs.recovery_rows), tenant, jobs.uuid7()::text, target, name, schedule, moves, 1 from"
    " jobs.recovery_rows where recovery = %s and key = %s"
)
ACTED_ON = frozenset({"schedule", "scheduled_at", "occurrence", "job"})
"""Columns that do not go through the digest, and have to say what key and name do."""
CHANGE = "update jobs.recovery_rows set {} where recovery = %s and key = %s"
CHANGES = st.one_of(
    st.tuples(st.sampled_from([CHANGE.format(each) for each in (*OF_A_ROW, *HARMLESS)]), st.integers(0, MANY - 1)),
    st.tuples(st.just("delete from jobs.recovery_rows where recovery = %s and key = %s"), st.integers(0, MANY - 1)),
    st.tuples(st.just(ADD), st.integers(0, MANY - 1)),
    st.tuples(
        st.sampled_from(
            [f"update jobs.recoveries set {each} where id = %s and %s::text is not null" for each in OF_THE_HEAD]
        ),
        st.just(0),
    ),
)


@dataclass(frozen=True)
class Confirmed:
    """A recovery of payouts that was confirmed with a code: its id, the keys of its rows, and who may write past everything."""

    id: str
    keys: Sequence[str]
    connection: AsyncConnection[Any]

    @property
    def transaction(self) -> Transaction:
        """What a proof reads in."""
        return Transaction(self.connection, "acme")

    async def shown(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The head, and the rows by key, in all that was confirmed of them."""
        head = await (await self.connection.execute(HEAD, [self.id])).fetchone()
        rows = await (await self.connection.execute(SHOWN, [self.id])).fetchall()
        assert head is not None
        return head, {row["key"]: row for row in rows}

    async def believed(self, proof: RecoveryProof, key: str) -> bool:
        """Whether a row is."""
        try:
            return await proof.row(self.transaction, self.id, key) is not None
        except Unconfirmed:
            return False


async def confirmed(desk: RecoveryDesk, many: int) -> dict[str, Any]:
    """A recovery of so many dead letters that move money, which m.ito confirmed."""
    desk.planned()
    for night in range(many):
        desk.dead(MONEY, NIGHT + night * DAY)
    made = await desk.make(person="m.ito", until=NIGHT + (many + 1) * DAY)
    return await desk.confirm(made, "m.ito", code=desk.money.code())


@pytest.fixture
async def recovery(database: Database, people: Any, database_url: Callable[[str], str]) -> AsyncIterator[Confirmed]:
    made = await confirmed(recovery_desk(database, people), MANY)
    url = database_url("postgres")
    async with await AsyncConnection.connect(url, row_factory=dict_row, autocommit=True) as connection:
        rows = await (await connection.execute(SHOWN, [made["id"]])).fetchall()
        yield Confirmed(made["id"], [row["key"] for row in rows], connection)


@SETTINGS
@given(changes=st.lists(CHANGES, max_size=3), known=st.booleans(), due=st.booleans())
async def test_a_row_is_believed_just_where_it_is_what_was_confirmed(
    recovery: Confirmed, changes: list[tuple[str, int]], known: bool, due: bool
) -> None:
    """With all rows read before (`known`) and none (`due`: they are to be read again): what a step acts on is compared at
    each step, all the others whenever they are read."""
    proof = RecoveryProof(KEYS.public, again=0.0 if due else 3_600.0)
    async with recovery.connection.transaction(force_rollback=True):
        head, rows = await recovery.shown()
        if known:
            assert all([await recovery.believed(proof, key) for key in recovery.keys])
        for change, number in changes:
            await recovery.connection.execute(change, [recovery.id, recovery.keys[number]])
        head_now, rows_now = await recovery.shown()
        digested = {
            key: {name: value for name, value in row.items() if name not in ACTED_ON} for key, row in rows_now.items()
        }
        was = {key: {name: value for name, value in row.items() if name not in ACTED_ON} for key, row in rows.items()}
        whole = head == head_now and (digested == was or (known and not due))
        for key in {*rows, *rows_now}:
            as_confirmed = key in rows and rows_now.get(key) == rows[key]
            assert await recovery.believed(proof, key) is (whole and as_confirmed), key


async def test_the_rows_of_a_recovery_are_read_once_and_again_after_a_while(
    recovery: Confirmed, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, now = 0, 1_000.0
    hashed = recovery_rows.hashed

    async def counted(transaction: Transaction, recovery_id: str) -> AsyncIterator[Sequence[Row]]:
        nonlocal read
        async for chunk in hashed(transaction, recovery_id):
            read += len(chunk)
            yield chunk

    monkeypatch.setattr(recovery_rows, "hashed", counted)
    monkeypatch.setattr(recovery_proof, "monotonic", lambda: now)
    proof = RecoveryProof(KEYS.public)
    for key in recovery.keys:
        assert await recovery.believed(proof, key)
    assert read == MANY
    now += recovery_proof.AGAIN_SECONDS
    for key in recovery.keys:
        assert await recovery.believed(proof, key)
    assert read == 2 * MANY
    monkeypatch.setattr(recovery_proof, "KEPT", 0)
    proof = RecoveryProof(KEYS.public)
    for key in recovery.keys:
        assert await recovery.believed(proof, key)
    assert read == (2 + MANY) * MANY, "no more are kept than have room"


async def test_a_row_that_was_taken_out_is_missed_within_a_while_and_at_the_end(
    database: Database, worker_database: Database, people: Any
) -> None:
    desk = recovery_desk(database, people).with_settings(recovery_at_once=1)
    stage = RecoveryStage(desk=desk, database=worker_database)
    made = await confirmed(desk, 2)
    assert await stage.run() == {"begun": 1}
    desk.one("delete from jobs.recovery_rows where number = 2 returning 1")
    await stage.complete(MONEY)
    assert await stage.run() == {"settled": 1}
    shown = (await desk.shown(made)).recovery
    assert shown.state == "paused", "nobody is told that all had their turn"
    assert (shown.why or "").startswith("Its rows are not those that were confirmed")


async def test_which_row_was_changed_is_said_where_it_was_read_before(recovery: Confirmed) -> None:
    proof = RecoveryProof(KEYS.public, again=0.0)
    assert await recovery.believed(proof, recovery.keys[0])
    await recovery.connection.execute(CHANGE.format("name = 'x'"), [recovery.id, recovery.keys[3]])
    with pytest.raises(Unconfirmed, match=r"^Row 4, x, is not as it was confirmed"):
        await proof.row(recovery.transaction, recovery.id, recovery.keys[0])
