"""Owns the stage of recoveries in tests: a desk where people confirm them, and a Worker's role that carries them out."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from jobservice.rules.keys import PublicKeys
from jobservice.store import duties as duty_rows
from jobservice.store.database import Database
from jobservice.store.occurrence_leases import Runnable
from jobservice.worker.fenced import give_back, take
from jobservice.worker.recovering import Recovering
from jobservice.worker.recovery_proof import RecoveryProof
from jobservice.worker.run_confirmed import proof_by
from tests.occurrence_rows import Holder, completed
from tests.usecases.money_desk import KEYS
from tests.usecases.recovery_desk import HOURLY, MONEY, NIGHTLY, RecoveryDesk

FIRST, SECOND = UUID(int=31), UUID(int=32)


@dataclass
class RecoveryStage:
    """A desk that confirms as the API's role, and a Worker's role that carries out."""

    desk: RecoveryDesk
    database: Database
    proof: RecoveryProof | None = field(default_factory=lambda: RecoveryProof(KEYS.public))

    async def run(self, holder: UUID = FIRST, **changes: Any) -> dict[str, int]:
        """One run of the duty, by itself."""
        duty = replace(Recovering(records=self.desk.service.records, deployment="test", proof=self.proof), **changes)
        async with self.database.transaction(None) as transaction:
            await duty_rows.add_duty(transaction, duty.name)
        lease = await take(self.database, duty, holder, woken=True)
        assert lease is not None
        try:
            return dict(await duty.run_once(lease))
        finally:
            await give_back(lease, whole=True)

    async def proves(self, recovery: dict[str, Any], occurrence: str, keys: PublicKeys | None = None) -> bool:
        """Whether a Worker that has just begun believes that the recovery runs that occurrence."""
        proof = proof_by(RecoveryProof(KEYS.public if keys is None else lambda: keys))
        async with self.database.transaction("acme") as transaction:
            return await proof(transaction, UUID(recovery["id"]), UUID(occurrence))

    def turns(self, recovery: dict[str, Any]) -> list[tuple[Any, ...]]:
        """Rows by number: name, turn, sentence."""
        return self.desk.rows(
            "select name, turn, sentence from jobs.recovery_rows where recovery = %s order by number", recovery["id"]
        )

    async def complete(self, *schedules: str, most: int = 100) -> int:
        """Another Worker runs what waits, and all of it goes well."""
        holder = Holder(database=self.database, runnable=Runnable(everywhere=schedules or (NIGHTLY, HOURLY, MONEY)))
        taken = await holder.take(most=most)
        await holder.settle(*[completed(each) for each in taken])
        return len(taken)
