"""Owns how the fake service judges the inputs of an act by what the use case declares."""

from __future__ import annotations

from datetime import datetime

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.items import ActOrder
from jobcontract.queues import UseCase
from jobcontract.states import InputType


def check_inputs(case: UseCase, order: ActOrder) -> None:
    """Refusal INVALID_REQUEST where the inputs are not those that the use case declares."""
    for name in order.inputs:
        if name not in {declared.name for declared in case.inputs}:
            raise Refusal(ErrorCode.INVALID_REQUEST, f"{case.id} has no input {name}.")
    for declared in case.inputs:
        given = order.inputs.get(declared.name)
        if declared.required and given in (None, ""):
            raise Refusal(ErrorCode.INVALID_REQUEST, f"{case.id} needs {declared.name}.")
        if declared.type is InputType.INSTANT and not _instant(str(given)):
            raise Refusal(ErrorCode.INVALID_REQUEST, f"{declared.name} is not an instant with an offset.")


def _instant(text: str) -> bool:
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00")).tzinfo is not None
    except ValueError:
        return False
