"""Owns the operations that read the audit trail: pages of it under a filter, one entry, the trail as CSV."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Annotated, Any

from fastapi import Path, Query, Response

from jobcontract import operating_routes, routes
from jobcontract.audit import BY_ITSELF, AuditDetail, AuditPage
from jobcontract.csv_text import MEDIA_TYPE
from jobcontract.errors import ErrorCode
from jobcontract.ids import KEY_MAX
from jobservice.api.admission import Admitted
from jobservice.api.answers import of_model
from jobservice.api.endpoints import Endpoint
from jobservice.api.instants import QueryInstant
from jobservice.api.items import PAGE, CursorText, Limit
from jobservice.store.audit import Wanted
from jobservice.usecases import audit, audit_reading

ENTRY_MAX = 2**63 - 1
Word = Annotated[str | None, Query(min_length=1, max_length=KEY_MAX)]
Since = Annotated[QueryInstant | None, Query(description="Written then or later.")]
Until = Annotated[QueryInstant | None, Query(description="Written before then.")]
Person = Annotated[
    str | None,
    Query(min_length=1, max_length=KEY_MAX, description=f"Of this person; `{BY_ITSELF}`: of the service by itself."),
]
EntryId = Annotated[int, Path(ge=0, le=ENTRY_MAX, description="The entry's number.")]


def _wanted(person: str | None, **words: Any) -> Wanted:
    """What the request asks for of the trail."""
    by_itself = person == BY_ITSELF
    return Wanted(person=None if by_itself else person, by_itself=by_itself, **words)


async def list_audit(
    admitted: Admitted,
    since: Since = None,
    until: Until = None,
    person: Person = None,
    action: Word = None,
    subject: Word = None,
    outcome: Word = None,
    schedule: Word = None,
    cursor: CursorText = None,
    limit: Limit = PAGE,
) -> Response:
    """One page of the tenant's audit trail, newest first."""
    context, actor = admitted.context, admitted.actor
    asked = _wanted(
        person, since=since, until=until, action=action, subject=subject, outcome=outcome, schedule=schedule
    )
    written = [f"{name}={value}" for name, value in asdict(asked).items()]
    scope = ("audit", actor.tenant, actor.person, str(limit), *written)
    after = None
    if cursor is not None:
        at, entry = context.signer.after(scope, cursor)
        after = (datetime.fromisoformat(str(at)), int(entry))
    with context.listings.held(actor.person):
        page = await audit.list_audit(context.service, actor, after, limit, asked)
    following = None
    if page.last is not None:
        following = context.signer.cursor(scope, (page.last[0].isoformat(), page.last[1]))
    return of_model(AuditPage(entries=page.entries, next=following, as_of=page.as_of, looked_to=page.looked_to))


async def read_entry(admitted: Admitted, entry: EntryId) -> Response:
    """One entry with what was there before and after, and its seal."""
    return of_model(await audit_reading.read_entry(admitted.context.service, admitted.actor, entry))


async def export_audit(
    admitted: Admitted,
    since: Since = None,
    until: Until = None,
    person: Person = None,
    action: Word = None,
    subject: Word = None,
    outcome: Word = None,
    schedule: Word = None,
) -> Response:
    """The trail as CSV (UTF-8 with its mark), newest first, up to a bound that its last line tells of."""
    context, actor = admitted.context, admitted.actor
    asked = _wanted(
        person, since=since, until=until, action=action, subject=subject, outcome=outcome, schedule=schedule
    )
    with context.listings.held(actor.person):
        content = await audit_reading.export_audit(context.service, actor, asked)
    return Response(content, media_type=MEDIA_TYPE, headers={"Content-Disposition": 'attachment; filename="audit.csv"'})


ENDPOINTS = (
    Endpoint(
        route=routes.AUDIT,
        function=list_audit,
        answer=AuditPage,
        summary="The audit trail",
        refusals=(ErrorCode.CURSOR_INVALID, ErrorCode.TOO_MANY_LISTINGS),
    ),
    Endpoint(
        route=operating_routes.AUDIT_ENTRY,
        function=read_entry,
        answer=AuditDetail,
        summary="One entry of the audit trail",
        refusals=(ErrorCode.NOT_FOUND,),
    ),
    Endpoint(
        route=operating_routes.AUDIT_EXPORT,
        function=export_audit,
        media="text/csv",
        summary="The audit trail as CSV",
        refusals=(ErrorCode.TOO_MANY_LISTINGS,),
    ),
)
