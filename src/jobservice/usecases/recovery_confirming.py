"""Owns confirming a recovery: what is compared, in which order it is refused, what a confirmed one leaves.

The answer names the first failure of permission, state, digest, rows, money, stop, code (MONEY.md 13). Everything is
compared under the locks of the recovery and of what its rows are about. Confirming acts on nothing: the Worker does.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from datetime import datetime

from pydantic import SecretStr

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.operating import RecoveryState
from jobcontract.permissions import Permission
from jobcontract.plans import PlanChange
from jobcontract.recoveries import ConfirmRecovery, RecoveryChanged
from jobcontract.states import Moves
from jobservice.rules import recoveries as rules
from jobservice.rules import recovery_notices as words
from jobservice.rules.claims import Denied
from jobservice.rules.recovery_jobs import JOB_ACTS
from jobservice.store import hints, notices
from jobservice.store import items as item_store
from jobservice.store import money as money_store
from jobservice.store import recoveries as store
from jobservice.store import recovery_rows as rows
from jobservice.store.database import Transaction
from jobservice.store.recoveries import LockedRecovery
from jobservice.usecases.actor import Actor
from jobservice.usecases.audit import record
from jobservice.usecases.coded_acts import act_with_code
from jobservice.usecases.codes import Judged, refuse_code
from jobservice.usecases.idempotency import Answered, Deed, Once
from jobservice.usecases.money import refuse_stopped
from jobservice.usecases.recovery_freezing import money_of
from jobservice.usecases.recovery_views import changed, locked, wrong_state
from jobservice.usecases.service import Service, refuse

DIGEST_AUDITED = 16
"""Hexadecimal digits of a digest that are kept in the trail: enough to tell one recovery from another."""


async def confirm(service: Service, actor: Actor, recovery: str, order: ConfirmRecovery, once: Once) -> Answered:
    """Confirm exactly what was shown, once (`RecoveryChanged`; it is being applied then).

    Refusal, of these the first: PERMISSION_MISSING, NOT_FOUND, PLAN_STATE, INVALID_REQUEST (a code where none is asked
    for), PLAN_DIGEST, PLAN_CHANGED (with `changes`); where it moves money MONEY_STOPPED, CODE_LOCKED, CODE_WRONG,
    CODE_USED, CODE_UNREADY. Before them, where the code itself cannot be judged: CODE_UNREADABLE.
    """

    async def may(transaction: Transaction) -> bool:
        found = await _own(transaction, actor, recovery)
        return takes_code(found, order.code)

    async def work(transaction: Transaction, judged: Judged | None) -> Answered:
        found = await _own(transaction, actor, recovery)
        if not hmac.compare_digest(found.digest.hex(), order.digest):
            raise Refusal(
                ErrorCode.PLAN_DIGEST,
                f"Recovery {found.name} is not what you looked at: it was frozen anew, or not all of it was read. Load "
                "it again, every page.",
            )
        await _refuse_changed(transaction, service, found)
        if found.moves is Moves.MONEY:
            refuse_stopped(await money_store.switch(transaction))
            refuse_wrong_code(found, judged, since=found.frozen_at)
        await _write(transaction, service, actor, found)
        body = await changed(transaction, service, found.id)
        if found.moves is Moves.MONEY:
            told = words.recovery_confirmed(RecoveryChanged.model_validate(body).recovery)
            await notices.add(
                transaction,
                notices.NewNotice(
                    person=found.owner, kind=told.kind, subject=told.subject, text=told.text, about=found.id
                ),
            )
        return Answered(status=200, body=body)

    deed = Deed(action="confirm-recovery", subject=recovery, permission=Permission.RECOVERY_MAKE)
    return await act_with_code(service, actor, deed, once, order.code, may=may, work=work)


async def _own(transaction: Transaction, actor: Actor, recovery: str) -> LockedRecovery:
    """One's own open recovery, locked, which the actor may still do. Refusal NOT_FOUND, PERMISSION_MISSING, PLAN_STATE."""
    found, now = await locked(transaction, actor, recovery)
    refuse_unfit(actor, found)
    decision = rules.decide_change(found.name, found.owner, found.owner_name, found.standing(now), actor=actor.person)
    if isinstance(decision, Denied):
        raise refuse(decision) if decision.kind is not ErrorCode.PLAN_STATE else wrong_state(found, now)
    return found


def refuse_unfit(actor: Actor, found: LockedRecovery) -> None:
    """Refusal PERMISSION_MISSING where the actor may not do by themselves what its rows do."""
    actor.require(rules.permission_for(found.act, found.moves))


def takes_code(found: LockedRecovery, code: SecretStr | None) -> bool:
    """Whether it takes a code. Refusal INVALID_REQUEST for one that was sent where none is asked for."""
    if found.moves is Moves.MONEY:
        return True
    if code is not None:
        raise Refusal(
            ErrorCode.INVALID_REQUEST,
            f"Recovery {found.name} moves no money and takes no code. Send it without one; nothing was counted.",
        )
    return False


async def _refuse_changed(transaction: Transaction, service: Service, found: LockedRecovery) -> None:
    """Refusal PLAN_CHANGED; what the rows are about stays locked. Jobs go on by themselves: what drifted by its turn is told
    then, and no reason to refuse all others."""
    differ: Sequence[rules.ChangedRow] = ()
    count = 0
    if found.act not in JOB_ACTS:
        await rows.lock_targets(transaction, found.id)
        now = await item_store.now(transaction)
        differ, count = await rows.changed(transaction, found.id, runs=found.act in rules.RUNS_AGAIN, now=now)
    all_told = [rules.told(row) for row in differ]
    if not differ and found.moves is Moves.MONEY:
        all_told = await _money_changes(transaction, service, found)
        count = len(all_told)
    if all_told:
        raise Refusal(
            ErrorCode.PLAN_CHANGED,
            rules.changed_sentence(all_told, count),
            changes=[each.model_dump() for each in all_told],
            count=count,
        )


async def _money_changes(transaction: Transaction, service: Service, found: LockedRecovery) -> list[PlanChange]:
    """What confirmed plans hold waiting now, where it is not what the recovery shows."""
    now_held = await money_of(transaction, service, found)
    return rules.money_changes(found.money, now_held)


def refuse_wrong_code(found: LockedRecovery, judged: Judged | None, *, since: datetime | None = None) -> None:
    """Refusal CODE_LOCKED ... where the code is not right, or older than `since`; CODE_WRONG where none came."""
    if judged is None:
        raise Refusal(
            ErrorCode.CODE_WRONG,
            f"Recovery {found.name} takes the six digits from your phone; none came. Nothing was counted.",
        )
    timely = judged if since is None else judged.not_before(since)
    if not timely.right:
        raise refuse_code(timely)


async def _write(transaction: Transaction, service: Service, actor: Actor, found: LockedRecovery) -> None:
    """The signature, the state, the trail and the hint."""
    signature = None
    if found.moves is Moves.MONEY:
        if service.keys is None:
            raise Refusal(ErrorCode.CODE_UNREADABLE, "This process has no key ring, so it cannot sign a confirmation.")
        signature = service.keys.sign(found.id, found.digest)
    now = await item_store.now(transaction)
    version = await store.confirm(transaction, found, now=now, signature=signature)
    if version is None:
        raise wrong_state(found, now, rules.state_sentence(found.name, RecoveryState.EXPIRED))
    detail = {
        "name": found.name,
        "act": found.act.value,
        "reason": found.reason,
        "count": found.count,
        "money": [dict(each) for each in found.money],
        "digest": found.digest.hex()[:DIGEST_AUDITED],
        "code": "totp" if found.moves is Moves.MONEY else "none needed",
    }
    await record(transaction, actor, "confirm-recovery", found.id, detail)
    await hints.add_recovery(transaction, recovery=found.id, version=version)
