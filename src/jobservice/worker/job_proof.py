"""Owns what the Worker believes of a job that moves money: that a confirmed plan submitted it, and for a retry that a
confirmed recovery made it (MONEY.md 1, 19). A row that was written past the service runs nothing.

Asked before each step that moves money. Never writes, never asks the outside world.
"""

from __future__ import annotations

from jobcontract.job_states import Carrier
from jobcontract.operating import RecoveryAct, RecoveryTarget
from jobcontract.states import Moves
from jobservice.records import RecordSet
from jobservice.rules.confirmations import Confirmation, disbelief
from jobservice.rules.keys import PublicKeys, Signature
from jobservice.rules.turns import Frozen
from jobservice.store import plan_jobs as store
from jobservice.store import turns
from jobservice.store.database import Row, Transaction
from jobservice.worker.recovery_proof import RecoveryProof, Unconfirmed

_PAST = "somebody wrote past the service."


async def proven_job(
    transaction: Transaction, *, family: str, job: str, records: RecordSet, proof: RecoveryProof
) -> str | None:
    """Why a step of this job may not move money, in a sentence; None where the job is believed. `proof` is of recoveries,
    and kept between steps.

    Reads every row of the plan: a step moves the money of all of them. The transaction is of the job's tenant, and may be
    read-only.
    """
    row = await store.submitted(transaction, family, job)
    if row is None:
        return "The job is not there any more."
    if (why := _unlike(row, records)) is not None:
        return why
    if row["retry_of"] is not None and (why := await _unproven_retry(transaction, row, proof)) is not None:
        return why
    return await _unproven_plan(transaction, row, records, proof.keys())


def _unlike(row: Row, records: RecordSet) -> str | None:
    """Why the rows of the job and of the first one of its lineage are not what a plan submits."""
    kind = records.job_kinds.get(row["kind"])
    if kind is None or kind.submitted_by is None or row["carrier"] != Carrier.ENGINE:
        return f"No bulk command submits jobs of kind {row['kind']}: nobody could confirm it."
    if row["first_plan"] is None or row["first_retry_of"] is not None:
        return f"No confirmed plan submitted it: {_PAST}"
    if row["plan"] not in (None, row["first_plan"]) or row["first_kind"] != row["kind"]:
        return f"It is not of the plan of the job that it is a retry of: {_PAST}"
    if row["first_identity"] != row["first_plan"]:
        return f"It is not the one job of its plan: {_PAST}"
    if row["inputs"] or row["first_inputs"]:
        return f"It has inputs, and a plan gives none: {_PAST}"
    return None


async def _unproven_retry(transaction: Transaction, row: Row, proof: RecoveryProof) -> str | None:
    recovery = row["recovery"]
    if recovery is None:
        return "It is a retry that no recovery made: what moves money is retried by one that was confirmed with a code."
    try:
        retries = await proof.row(transaction, recovery, row["retry_of"])
    except Unconfirmed as why:
        return f"The recovery that it names is not what was confirmed with a code: {_PAST} {why}"
    wanted = (RecoveryAct.RETRY, RecoveryTarget.JOB, Moves.MONEY)
    if retries is None or (retries.act, retries.target, retries.moves) != wanted:
        return f"The recovery that it names does not retry the job that it is a retry of: {_PAST}"
    return None


async def _unproven_plan(transaction: Transaction, row: Row, records: RecordSet, keys: PublicKeys) -> str | None:
    plan = await store.confirmed(transaction, row["first_plan"])
    if plan is None:
        return "The plan that it names was never confirmed, or is not there."
    command = records.bulk.get(plan["command"])
    if command is None or command.submits != row["kind"]:
        return f"The plan that it names is of {plan['command']}, which submits no job of kind {row['kind']}."
    if plan["accounted_at"] is None:
        return f"Plan {plan['name']} has not ended: its job is submitted when it has."
    try:
        doubt = disbelief(_confirmation(transaction, plan), await _rows(transaction, plan["id"]), keys)
    except (ValueError, KeyError, TypeError, AttributeError):  # whatever a row written past the service makes of it
        doubt = "Its rows cannot be read."
    return None if doubt is None else f"Plan {plan['name']} is not believed. {doubt}"


def _confirmation(transaction: Transaction, plan: Row) -> Confirmation:
    if transaction.tenant is None:
        raise ValueError("a job is proven in a transaction of its tenant")
    return Confirmation(
        plan=plan["id"],
        tenant=transaction.tenant,
        owner=plan["owner"],
        command=plan["command"],
        use_case=plan["use_case"],
        use_case_version=plan["use_case_version"],
        parameters=plan["parameters"],
        frozen_at=plan["frozen_at"],
        count=plan["count"],
        salt=bytes(plan["salt"]),
        digest=bytes(plan["digest"]),
        signature=Signature(key_id=plan["signing_key"], signature=bytes(plan["signature"])),
    )


async def _rows(transaction: Transaction, plan: str) -> list[Frozen]:
    rows: list[Frozen] = []
    while more := await turns.rows(transaction, plan, after=rows[-1].number if rows else 0):
        rows += [each.frozen for each in more]
    return rows
