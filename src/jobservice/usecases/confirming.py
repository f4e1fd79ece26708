"""Owns confirming a plan: what is compared, in which order it is refused, what a confirmed plan leaves (MONEY.md 13, 18).

The answer names the first failure of permission, plan state, digest, items, limits, stop, lock, code. Everything is
compared under the locks of the plan, its items (in the order of their ids) and the currencies that go out.
"""

from __future__ import annotations

import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.permissions import Permission
from jobcontract.plan_digest import microseconds
from jobcontract.plans import Confirm, Plan
from jobcontract.states import PlanState
from jobservice.rules import confirming as rules
from jobservice.rules import notices as words
from jobservice.rules.bulk import BulkCommand
from jobservice.rules.limits import exceeded, is_free
from jobservice.rules.queues import UseCase
from jobservice.store import claims as claim_store
from jobservice.store import confirming as store
from jobservice.store import hints, notices
from jobservice.store import items as item_store
from jobservice.store import limits as limit_store
from jobservice.store import money as money_store
from jobservice.store.database import Transaction
from jobservice.store.limits import Counted
from jobservice.store.plans import LockedPlan
from jobservice.usecases.actor import Actor
from jobservice.usecases.audit import record
from jobservice.usecases.coded_acts import act_with_code
from jobservice.usecases.codes import Judged, refuse_code
from jobservice.usecases.held_still import refuse_held
from jobservice.usecases.idempotency import Answered, Deed, Once
from jobservice.usecases.money import refuse_stopped
from jobservice.usecases.plan_views import locked, shown
from jobservice.usecases.service import Service

DIGEST_AUDITED = 16
"""Hexadecimal digits of a digest that are kept in the trail: enough to tell one plan from another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ruled:
    """What the records say of a plan's command."""

    command: BulkCommand
    use_case: UseCase


async def confirm(service: Service, actor: Actor, plan: str, order: Confirm, once: Once) -> Answered:
    """Confirm exactly what was shown, once (`Plan`; it is armed or being applied then).

    Refusal, of these the first: PERMISSION_MISSING, NOT_FOUND, PLAN_STATE, PLAN_DIGEST, PLAN_CHANGED (with `changes`),
    PLAN_UNANSWERED, LIMIT_EXCEEDED, MONEY_STOPPED, WORK_STOPPED, CODE_LOCKED, CODE_WRONG, CODE_USED, CODE_UNREADY. Before
    them, where the code itself is no code or cannot be judged: INVALID_REQUEST, CODE_UNREADABLE.
    """

    async def may(transaction: Transaction) -> bool:
        found, now = await locked(transaction, actor, plan)
        await _refuse_other(transaction, actor, found)
        _refuse_state(found, now)
        return _ruled(service, found).command.confirm_by is not None

    async def work(transaction: Transaction, judged: Judged | None) -> Answered:
        found, now = await locked(transaction, actor, plan)
        await _refuse_other(transaction, actor, found)
        _refuse_state(found, now)
        ruled = _ruled(service, found)
        if not hmac.compare_digest(found.digest.hex(), order.digest):
            raise Refusal(
                ErrorCode.PLAN_DIGEST,
                f"Plan {found.name} is not what you looked at: it was frozen anew, or not all of it was read. Load it "
                "again, every page.",
            )
        await _refuse_changed(transaction, found, ruled)
        await limit_store.lock(transaction, found.id)
        now = await item_store.now(transaction)
        counted = await limit_store.going(transaction, found, now)
        _refuse_limits(ruled.command, counted)
        refuse_stopped(await money_store.switch(transaction))
        await refuse_held(transaction, queue=found.queue, command=found.command)
        single = _refuse_code(found, ruled.command, counted, judged)
        await _write(transaction, service, actor, found, ruled.command, now, single=single)
        return await _answer(transaction, service, actor, found, freed=single)

    deed = Deed(action="confirm-plan", subject=plan, permission=Permission.PAYOUT_RELEASE)
    return await act_with_code(service, actor, deed, once, order.code, may=may, work=work)


async def _refuse_other(transaction: Transaction, actor: Actor, found: LockedPlan) -> None:
    """Refusal PERMISSION_MISSING for anybody's plan but the actor's own."""
    if found.owner != actor.person:
        row = await claim_store.colleague(transaction, found.owner)
        name = found.owner if row is None else row["name"]
        raise Refusal(
            ErrorCode.PERMISSION_MISSING,
            f"Plan {found.name} is {name}'s; only its owner confirms a plan.",
            permission=Permission.PAYOUT_RELEASE,
        )


def plan_state(found: LockedPlan, now: datetime, sentence: str | None = None) -> Refusal:
    """PLAN_STATE: what the plan is, and that this is no state for what was asked."""
    state = found.standing(now)
    said = sentence or rules.state_sentence(found.name, state)
    return Refusal(ErrorCode.PLAN_STATE, said, plan=found.id, name=found.name, state=state.value)


def _refuse_state(found: LockedPlan, now: datetime) -> None:
    if found.standing(now) is not PlanState.OPEN:
        raise plan_state(found, now)


def _ruled(service: Service, found: LockedPlan) -> _Ruled:
    """What the records say now. Refusal PLAN_STATE where that is not what the plan was made for."""
    command = service.records.bulk.get(found.command)
    use_case = service.records.use_cases.get(found.use_case)
    if command is None or use_case is None or use_case.version != found.use_case_version:
        raise Refusal(
            ErrorCode.PLAN_STATE,
            f"What {found.command} does has changed since plan {found.name} was made. Make a new plan.",
            plan=found.id,
            name=found.name,
            state=found.state.value,
        )
    return _Ruled(command=command, use_case=use_case)


async def _refuse_changed(transaction: Transaction, found: LockedPlan, ruled: _Ruled) -> None:
    """Refusal PLAN_CHANGED, PLAN_UNANSWERED; the items stay locked."""
    await store.lock_items(transaction, found.id)
    changed = await store.changed_rows(transaction, found, ruled.use_case.states, most=rules.CHANGED_TOLD)
    if changed.rows:
        all_told = [each for row in changed.rows for each in rules.told(row)]
        raise Refusal(
            ErrorCode.PLAN_CHANGED,
            rules.changed_sentence(all_told, changed.count),
            changes=[each.model_dump() for each in all_told],
            count=changed.count,
        )
    waiting = await store.unanswered(transaction, found.id)
    if waiting:
        wait = "1 warning waits" if waiting == 1 else f"{waiting:,} warnings wait"
        raise Refusal(
            ErrorCode.PLAN_UNANSWERED,
            f"{wait} for an answer: take the item out, or keep it in with a reason.",
            to_answer=waiting,
        )


def _refuse_limits(command: BulkCommand, counted: Sequence[Counted]) -> None:
    broken = exceeded(command.limits, [each.going for each in counted])
    if broken is not None:
        raise Refusal(ErrorCode.LIMIT_EXCEEDED, broken.sentence, **broken.members())


def _refuse_code(found: LockedPlan, command: BulkCommand, counted: Sequence[Counted], judged: Judged | None) -> bool:
    """Whether the plan is a single release that the setting frees. Refusal CODE_LOCKED ... where its code is not right,
    CODE_WRONG where it takes one and none came."""
    if judged is not None:
        timely = judged.not_before(found.frozen_at)
        if not timely.right:
            raise refuse_code(timely)
        return False
    if command.confirm_by is None:
        return False
    if found.count == 1 and len(counted) == 1 and is_free(command, counted[0].going, counted[0].freed):
        return True
    raise Refusal(
        ErrorCode.CODE_WRONG,
        f"Plan {found.name} takes the six digits from your phone; none came. Nothing was counted.",
    )


async def _write(
    transaction: Transaction,
    service: Service,
    actor: Actor,
    found: LockedPlan,
    command: BulkCommand,
    now: datetime,
    *,
    single: bool,
) -> None:
    """The hold, the sums, the signature, the state, the trail and the hints."""
    if service.keys is None:
        raise Refusal(ErrorCode.CODE_UNREADABLE, "This process has no key ring, so it cannot sign a confirmation.")
    until = now + timedelta(seconds=service.records.settings.plan_window)
    held = await store.hold(transaction, found, until=until)
    if held != found.count:
        raise RuntimeError(f"plan {found.id} holds {held} of {found.count} items")
    await limit_store.add(transaction, found, now, single=single)
    armed = rules.armed_until(command, found.totals, now)
    version = await store.confirm(
        transaction,
        found,
        now=now,
        armed_until=armed,
        apply_until=until,
        signature=service.keys.sign(found.id, found.digest),
    )
    if version is None:
        await refuse_held(transaction, queue=found.queue, command=found.command)
        raise RuntimeError(f"plan {found.id} is no longer as it was locked")
    detail = {
        "name": found.name,
        "command": found.command,
        "count": found.count,
        "totals": [dict(total) for total in found.totals],
        "digest": found.digest.hex()[:DIGEST_AUDITED],
        "code": "none needed" if command.confirm_by is None else "freed" if single else command.confirm_by.value,
        "armed_until": None if armed is None else armed.isoformat(),
    }
    await record(transaction, actor, "confirm-plan", found.id, detail)
    await hints.add_plan(transaction, queue=found.queue, plan=found.id, version=version)
    await hints.add_items(transaction, queue=found.queue, version=microseconds(now))


async def _answer(
    transaction: Transaction, service: Service, actor: Actor, found: LockedPlan, *, freed: bool
) -> Answered:
    """The plan as it stands, and the notice to whoever confirmed it."""
    body = await shown(transaction, service, actor, found.id)
    told = words.plan_confirmed(Plan.model_validate(body), freed=freed)
    notice = notices.NewNotice(person=found.owner, kind=told.kind, subject=told.subject, text=told.text, about=found.id)
    await notices.add(transaction, notice)
    return Answered(status=200, body=body)
