"""Owns the operations about recoveries: making, reading, changing, confirming and steering them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

from fastapi import Query, Response

from jobcontract import operating_routes as routes
from jobcontract.errors import ErrorCode
from jobcontract.plans import PLAN_PAGE_MOST
from jobcontract.recoveries import (
    ConfirmRecovery,
    Recoveries,
    RecoveryChanged,
    RecoveryDetail,
    RecoveryLeftOuts,
    RecoveryOrder,
    RecoveryRows,
    RecoverySteer,
    ResumeRecovery,
    TakeOutOrder,
)
from jobcontract.states import Turn
from jobservice.api.admission import Admission, Admitted
from jobservice.api.answers import of_acting, of_model
from jobservice.api.endpoints import Endpoint
from jobservice.api.items import CursorText, Limit
from jobservice.usecases import recoveries, recovery_confirming, recovery_reading, recovery_steering

PAGE = 50
"""Recoveries of a page where the request does not say."""
ROWS = 200
"""Rows of a page where the request does not say; as many come with the recovery itself."""
RowLimit = Annotated[int, Query(ge=1, le=PLAN_PAGE_MOST, description="Most rows of the page.")]
TurnQuery = Annotated[Turn | None, Query(description="Only rows that are there.")]


async def make_recovery(admitted: Admitted, order: RecoveryOrder) -> Response:
    """Freeze a set of runs, schedules or jobs to do something to; nothing is done before it is confirmed."""
    return of_acting(await recoveries.make(admitted.context.service, admitted.actor, order, admitted.once))


async def list_recoveries(
    admitted: Admitted, state: Literal["live"] | None = None, cursor: CursorText = None, limit: Limit = PAGE
) -> Response:
    """One page of the tenant's recoveries, the latest first."""
    context, actor = admitted.context, admitted.actor
    scope = _scope(admitted, "recoveries", state or "")
    behind = None
    if cursor is not None:
        at, identifier = context.signer.after(scope, cursor)
        behind = (datetime.fromisoformat(str(at)), str(identifier))
    with context.listings.held(actor.person):
        page = await recovery_reading.list_recoveries(
            context.service, actor, live=state is not None, behind=behind, limit=limit
        )
    following = None
    if page.last is not None:
        following = context.signer.cursor(scope, (page.last[0].isoformat(), page.last[1]))
    return of_model(Recoveries(recoveries=page.recoveries, next=following, now=page.now))


async def read_recovery(admitted: Admitted, recovery: str) -> Response:
    """A recovery with the first of its rows."""
    context, actor = admitted.context, admitted.actor
    with context.listings.held(actor.person):
        found = await recovery_reading.read_rows(context.service, actor, recovery, limit=ROWS)
    following = _signed(admitted, _rows_scope(admitted, found.recovery.id, None), found.last)
    return of_model(RecoveryDetail(recovery=found.recovery, rows=found.rows, next=following, now=found.now))


async def recovery_rows(
    admitted: Admitted, recovery: str, turn: TurnQuery = None, cursor: CursorText = None, limit: RowLimit = ROWS
) -> Response:
    """One page of its rows by number. Pages of one edition, put together, are what the digest is made of."""
    context, actor = admitted.context, admitted.actor
    scope = _rows_scope(admitted, recovery, turn)
    after = 0 if cursor is None else int(context.signer.after(scope, cursor)[0])
    with context.listings.held(actor.person):
        page = await recovery_reading.read_rows(context.service, actor, recovery, turn=turn, after=after, limit=limit)
    following = _signed(admitted, scope, page.last)
    return of_model(RecoveryRows(edition=page.recovery.edition, rows=page.rows, next=following, now=page.now))


async def recovery_left_out(
    admitted: Admitted, recovery: str, cursor: CursorText = None, limit: RowLimit = ROWS
) -> Response:
    """One page of what was in the set and is not in the recovery, each with the reason."""
    context, actor = admitted.context, admitted.actor
    scope = _scope(admitted, "recovery-left-out", recovery)
    after = 0 if cursor is None else int(context.signer.after(scope, cursor)[0])
    with context.listings.held(actor.person):
        page = await recovery_reading.read_left_out(context.service, actor, recovery, after=after, limit=limit)
    return of_model(RecoveryLeftOuts(left_out=page.left_out, next=_signed(admitted, scope, page.last), now=page.now))


async def take_out_of_recovery(admitted: Admitted, recovery: str, order: TakeOutOrder) -> Response:
    """Take rows out of a recovery; it is frozen anew under its name."""
    return of_acting(
        await recoveries.take_out(admitted.context.service, admitted.actor, recovery, order, admitted.once)
    )


async def drop_recovery(admitted: Admitted, recovery: str, order: RecoverySteer) -> Response:
    """Give a recovery up that was not confirmed."""
    return of_acting(await recoveries.drop(admitted.context.service, admitted.actor, recovery, order, admitted.once))


async def confirm_recovery(admitted: Admitted, recovery: str, order: ConfirmRecovery) -> Response:
    """Confirm a recovery: the digest computed over every page of it, and a code where it moves money."""
    context = admitted.context
    async with context.plans.passing(recovery):
        return of_acting(
            await recovery_confirming.confirm(context.service, admitted.actor, recovery, order, admitted.once)
        )


async def pause_recovery(admitted: Admitted, recovery: str, order: RecoverySteer) -> Response:
    """Let no further row of a recovery begin."""
    return of_acting(
        await recovery_steering.pause(admitted.context.service, admitted.actor, recovery, order, admitted.once)
    )


async def resume_recovery(admitted: Admitted, recovery: str, order: ResumeRecovery) -> Response:
    """Go on with a paused recovery."""
    context = admitted.context
    async with context.plans.passing(recovery):
        return of_acting(
            await recovery_steering.resume(context.service, admitted.actor, recovery, order, admitted.once)
        )


async def abort_recovery(admitted: Admitted, recovery: str, order: RecoverySteer) -> Response:
    """End a confirmed recovery; rows that have not started never do."""
    return of_acting(
        await recovery_steering.abort(admitted.context.service, admitted.actor, recovery, order, admitted.once)
    )


def _scope(admitted: Admission, listing: str, *asked: str) -> tuple[str, ...]:
    """All that a cursor of this listing is good for."""
    return (listing, admitted.actor.tenant, admitted.actor.person, *asked)


def _rows_scope(admitted: Admission, recovery: str, turn: Turn | None) -> tuple[str, ...]:
    return _scope(admitted, "recovery-rows", recovery, "" if turn is None else turn.value)


def _signed(admitted: Admission, scope: tuple[str, ...], number: int | None) -> str | None:
    return None if number is None else admitted.context.signer.cursor(scope, (number,))


_CODE = (
    ErrorCode.MONEY_STOPPED,
    ErrorCode.CODE_LOCKED,
    ErrorCode.CODE_WRONG,
    ErrorCode.CODE_USED,
    ErrorCode.CODE_UNREADY,
    ErrorCode.CODE_UNREADABLE,
)
_PAGED = (ErrorCode.NOT_FOUND, ErrorCode.CURSOR_INVALID, ErrorCode.TOO_MANY_LISTINGS)
_CHANGED = (ErrorCode.NOT_FOUND, ErrorCode.PLAN_STATE)

ENDPOINTS = (
    Endpoint(
        route=routes.MAKE_RECOVERY,
        function=make_recovery,
        answer=RecoveryChanged,
        status=201,
        summary="Make a recovery",
        refusals=(
            ErrorCode.FILTER_INVALID,
            ErrorCode.PLAN_TOO_LARGE,
            ErrorCode.PLANS_MAX,
            ErrorCode.PLAN_EMPTY,
        ),
    ),
    Endpoint(
        route=routes.RECOVERIES,
        function=list_recoveries,
        answer=Recoveries,
        summary="Recoveries",
        refusals=(ErrorCode.CURSOR_INVALID, ErrorCode.TOO_MANY_LISTINGS),
    ),
    Endpoint(
        route=routes.RECOVERY,
        function=read_recovery,
        answer=RecoveryDetail,
        summary="One recovery with the first of its rows",
        refusals=(ErrorCode.NOT_FOUND, ErrorCode.TOO_MANY_LISTINGS),
    ),
    Endpoint(
        route=routes.RECOVERY_ROWS,
        function=recovery_rows,
        answer=RecoveryRows,
        summary="A page of a recovery's rows",
        refusals=_PAGED,
    ),
    Endpoint(
        route=routes.RECOVERY_LEFT_OUT,
        function=recovery_left_out,
        answer=RecoveryLeftOuts,
        summary="A page of what is left out of a recovery",
        refusals=_PAGED,
    ),
    Endpoint(
        route=routes.TAKE_OUT_OF_RECOVERY,
        function=take_out_of_recovery,
        answer=RecoveryChanged,
        summary="Take rows out of a recovery",
        refusals=(*_CHANGED, ErrorCode.PLAN_EMPTY),
    ),
    Endpoint(
        route=routes.DROP_RECOVERY,
        function=drop_recovery,
        answer=RecoveryChanged,
        summary="Drop a recovery",
        refusals=_CHANGED,
    ),
    Endpoint(
        route=routes.CONFIRM_RECOVERY,
        function=confirm_recovery,
        answer=RecoveryChanged,
        summary="Confirm a recovery",
        refusals=(*_CHANGED, ErrorCode.PLAN_DIGEST, ErrorCode.PLAN_CHANGED, *_CODE),
    ),
    Endpoint(
        route=routes.PAUSE_RECOVERY,
        function=pause_recovery,
        answer=RecoveryChanged,
        summary="Pause a recovery",
        refusals=_CHANGED,
    ),
    Endpoint(
        route=routes.RESUME_RECOVERY,
        function=resume_recovery,
        answer=RecoveryChanged,
        summary="Resume a recovery",
        refusals=(*_CHANGED, *_CODE),
    ),
    Endpoint(
        route=routes.ABORT_RECOVERY,
        function=abort_recovery,
        answer=RecoveryChanged,
        summary="Abort a recovery",
        refusals=_CHANGED,
    ),
)
