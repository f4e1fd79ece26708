"""Owns the operations about who is signed in. Never answers with a token."""

from __future__ import annotations

from fastapi import Response

from jobcontract import routes
from jobcontract.permissions import GRANTS, Permission
from jobcontract.session import Colleagues, Person, Session, TenantRole
from jobservice.api.admission import Admitted
from jobservice.api.answers import of_model
from jobservice.api.endpoints import Endpoint
from jobservice.usecases import session


async def me(admitted: Admitted) -> Response:
    """The signed-in person, every tenant of theirs with what they may do there, and how long the token lives."""
    signed_in = admitted.signed_in
    return of_model(
        Session(
            person=Person(id=signed_in.person, name=signed_in.name),
            tenants=tuple(
                TenantRole(
                    tenant=membership.tenant,
                    name=membership.name,
                    role=membership.role,
                    permissions=tuple(one for one in Permission if one in GRANTS[membership.role]),
                )
                for membership in signed_in.memberships
            ),
            token_expires_at=signed_in.expires_at,
            deployment=admitted.context.service.deployment,
            now=signed_in.now,
        )
    )


async def colleagues(admitted: Admitted) -> Response:
    """All active people of the tenant."""
    return of_model(await session.list_colleagues(admitted.context.service, admitted.actor))


ENDPOINTS = (
    Endpoint(route=routes.ME, function=me, answer=Session, summary="Who am I"),
    Endpoint(route=routes.COLLEAGUES, function=colleagues, answer=Colleagues, summary="People of the tenant"),
)
