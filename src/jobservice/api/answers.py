"""Owns making ready answers: JSON bytes that the framework passes on without a second look."""

from __future__ import annotations

import json

from fastapi import Response
from pydantic import BaseModel

from jobservice.usecases.idempotency import Answered

JSON_TYPE = "application/json"
REPLAYED_HEADER = "Idempotency-Replayed"
"""`true` on the repeated first answer of an acting request."""


def of_model(answer: BaseModel) -> Response:
    """The answer of a question."""
    return Response(answer.model_dump_json(), media_type=JSON_TYPE)


def of_acting(answered: Answered) -> Response:
    """The answer of an acting request, the first one or its repetition."""
    content = json.dumps(answered.body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    headers = {REPLAYED_HEADER: "true"} if answered.replayed else None
    return Response(content, status_code=answered.status, headers=headers, media_type=JSON_TYPE)
