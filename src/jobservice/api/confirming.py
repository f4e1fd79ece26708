"""Owns the operations that confirm and steer a plan, and those that end an uncertain payout."""

from __future__ import annotations

from fastapi import Response

from jobcontract import routes
from jobcontract.errors import ErrorCode
from jobcontract.plans import AbortPlan, Confirm, PausePlan, Plan, ResumePlan, Settled, WasNotPaid, WasPaid
from jobservice.api.admission import Admitted
from jobservice.api.answers import of_acting
from jobservice.api.endpoints import Endpoint
from jobservice.usecases import confirming, steering, uncertain


async def confirm_plan(admitted: Admitted, plan: str, order: Confirm) -> Response:
    """Confirm a plan: the digest computed over every page of it, and the code from the phone."""
    context = admitted.context
    async with context.plans.passing(plan):
        return of_acting(await confirming.confirm(context.service, admitted.actor, plan, order, admitted.once))


async def pause_plan(admitted: Admitted, plan: str, order: PausePlan) -> Response:
    """Let no further item of a plan begin."""
    return of_acting(await steering.pause(admitted.context.service, admitted.actor, plan, order, admitted.once))


async def resume_plan(admitted: Admitted, plan: str, order: ResumePlan) -> Response:
    """Go on with a paused plan."""
    context = admitted.context
    async with context.plans.passing(plan):
        return of_acting(await steering.resume(context.service, admitted.actor, plan, order, admitted.once))


async def abort_plan(admitted: Admitted, plan: str, order: AbortPlan) -> Response:
    """End a confirmed plan; items without a turn are given back."""
    return of_acting(await steering.abort(admitted.context.service, admitted.actor, plan, order, admitted.once))


async def was_paid(admitted: Admitted, item: str, order: WasPaid) -> Response:
    """Say of an uncertain payout that it went out. `item` is the review item that asks about it."""
    return of_acting(await uncertain.was_paid(admitted.context.service, admitted.actor, item, order, admitted.once))


async def was_not_paid(admitted: Admitted, item: str, order: WasNotPaid) -> Response:
    """Say of an uncertain payout that it did not go out, with the code of a person other than the plan's owner."""
    return of_acting(await uncertain.was_not_paid(admitted.context.service, admitted.actor, item, order, admitted.once))


_CODE = (
    ErrorCode.CODE_LOCKED,
    ErrorCode.CODE_WRONG,
    ErrorCode.CODE_USED,
    ErrorCode.CODE_UNREADY,
    ErrorCode.CODE_UNREADABLE,
)
_CLAIMED = (
    ErrorCode.CLAIM_HELD,
    ErrorCode.CLAIM_REQUIRED,
    ErrorCode.CLAIM_LOST,
    ErrorCode.ITEM_CLOSED,
    ErrorCode.USE_CASE_UNFIT,
)

ENDPOINTS = (
    Endpoint(
        route=routes.CONFIRM_PLAN,
        function=confirm_plan,
        answer=Plan,
        summary="Confirm a plan",
        refusals=(
            ErrorCode.PLAN_STATE,
            ErrorCode.PLAN_DIGEST,
            ErrorCode.PLAN_CHANGED,
            ErrorCode.PLAN_UNANSWERED,
            ErrorCode.LIMIT_EXCEEDED,
            ErrorCode.MONEY_STOPPED,
            ErrorCode.WORK_STOPPED,
            *_CODE,
        ),
    ),
    Endpoint(
        route=routes.PAUSE_PLAN,
        function=pause_plan,
        answer=Plan,
        summary="Pause a plan",
        refusals=(ErrorCode.PLAN_STATE,),
    ),
    Endpoint(
        route=routes.RESUME_PLAN,
        function=resume_plan,
        answer=Plan,
        summary="Resume a plan",
        refusals=(ErrorCode.PLAN_STATE, ErrorCode.MONEY_STOPPED, ErrorCode.WORK_STOPPED, *_CODE),
    ),
    Endpoint(
        route=routes.ABORT_PLAN,
        function=abort_plan,
        answer=Plan,
        summary="Abort a plan",
        refusals=(ErrorCode.PLAN_STATE,),
    ),
    Endpoint(
        route=routes.WAS_PAID,
        function=was_paid,
        answer=Settled,
        summary="An uncertain payout was paid",
        refusals=_CLAIMED,
    ),
    Endpoint(
        route=routes.WAS_NOT_PAID,
        function=was_not_paid,
        answer=Settled,
        summary="An uncertain payout was not paid",
        refusals=(*_CLAIMED, *_CODE),
    ),
)
