"""Owns the one question about codes: whether the person who asks can give one now. Never answers with a code or secret."""

from __future__ import annotations

from fastapi import Response

from jobcontract import routes
from jobcontract.plans import CodeStanding
from jobservice.api.admission import Admitted
from jobservice.api.answers import of_model
from jobservice.api.endpoints import Endpoint
from jobservice.usecases import codes


async def code_standing(admitted: Admitted) -> Response:
    """Whether a phone is enrolled, how many tries are left, until when no code is taken."""
    return of_model(await codes.standing(admitted.context.service, admitted.actor))


ENDPOINTS = (
    Endpoint(route=routes.CODE_STANDING, function=code_standing, answer=CodeStanding, summary="How my codes stand"),
)
