"""Owns which background jobs of the fake service a filter finds."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.jobs import JobSummary

_AGE = re.compile(r"age([<>])(\d+)([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
Matches = Callable[[JobSummary], bool]


def matching(text: str, now: datetime, tenant: str, person: str) -> Matches:
    """What a filter finds; Refusal FILTER_INVALID."""
    try:
        words = shlex.split(text)
    except ValueError:
        raise _unread(text) from None
    tests = [_test(word, now, tenant, person) for word in words]
    return lambda job: all(test(job) for test in tests)


def _test(word: str, now: datetime, tenant: str, person: str) -> Matches:
    aged = _AGE.fullmatch(word)
    if aged is not None:
        least = now - timedelta(**{_UNITS[aged[3]]: int(aged[2])})
        return (lambda job: job.requested_at < least) if aged[1] == ">" else (lambda job: job.requested_at > least)
    name, colon, given = word.partition(":")
    values = [each.casefold() for each in given.split(",") if each]
    if not colon or name not in _FIELDS or not values:
        raise _unread(word)
    if name == "requester":
        values = [person if each == "me" else each for each in values]
    if name == "tenant":
        return lambda _: tenant in values
    reads = _FIELDS[name]
    if name == "error":
        return lambda job: any(value in (job.failure_summary or "").casefold() for value in values)
    return lambda job: any(value in reads(job) for value in values)


def _scope(job: JobSummary) -> tuple[str, ...]:
    return tuple(each.casefold() for each in (job.customer, job.workspace) if each) or ("none",)


_FIELDS: Mapping[str, Callable[[JobSummary], tuple[str, ...]]] = {
    "status": lambda job: (job.status.value,),
    "kind": lambda job: (job.kind,),
    "error": lambda job: (job.failure_summary or "",),
    "tenant": lambda _: (),
    "requester": lambda job: ("none",) if job.requester is None else (job.requester.id,),
    "scope": _scope,
}


def _unread(word: str) -> Refusal:
    names = ", ".join(_FIELDS)
    return Refusal(ErrorCode.FILTER_INVALID, f"{word[:80]} cannot be read. A filter has {names} and age, like age<3d.")
