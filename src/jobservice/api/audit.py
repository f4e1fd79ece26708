"""Owns the operation that reads the audit trail."""

from __future__ import annotations

from fastapi import Response

from jobcontract import routes
from jobcontract.audit import AuditPage
from jobcontract.errors import ErrorCode
from jobservice.api.admission import Admitted
from jobservice.api.answers import of_model
from jobservice.api.endpoints import Endpoint
from jobservice.api.items import PAGE, CursorText, Limit
from jobservice.usecases import audit


async def list_audit(admitted: Admitted, cursor: CursorText = None, limit: Limit = PAGE) -> Response:
    """One page of the tenant's audit trail, newest first."""
    context, actor = admitted.context, admitted.actor
    scope = ("audit", actor.tenant, actor.person, str(limit))
    after = None if cursor is None else int(context.signer.after(scope, cursor)[0])
    with context.listings.held(actor.person):
        page = await audit.list_audit(context.service, actor, after, limit)
    following = None if page.last is None else context.signer.cursor(scope, (page.last,))
    return of_model(AuditPage(entries=page.entries, next=following, as_of=page.as_of))


ENDPOINTS = (
    Endpoint(
        route=routes.AUDIT,
        function=list_audit,
        answer=AuditPage,
        summary="The audit trail",
        refusals=(ErrorCode.CURSOR_INVALID, ErrorCode.TOO_MANY_LISTINGS),
    ),
)
