"""A registered function takes exactly what its record declares, or the check says how it differs."""

from __future__ import annotations

from datetime import datetime

import pytest

from jobservice import records
from jobservice.application import Call, Outcome, WorkItem, done
from tests.records.applications import an_application


async def _sync_like(call: Call, item: WorkItem, reason: str) -> Outcome:
    return done(f"{call} {item} {reason}")


async def _untyped(call: Call, item: WorkItem, *, reason) -> Outcome:  # type: ignore[no-untyped-def]  # the point
    return done(f"{call} {item} {reason}")


async def _wrong_type(call: Call, item: WorkItem, *, reason: datetime) -> Outcome:
    return done(f"{call} {item} {reason}")


async def _one_more(call: Call, item: WorkItem, *, reason: str, when: datetime) -> Outcome:
    return done(f"{call} {item} {reason} {when}")


def _not_async(call: Call, item: WorkItem, *, reason: str) -> Outcome:
    return done(f"{call} {item} {reason}")


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (_sync_like, "does not take `call, item`"),
        (_untyped, "something else than str"),
        (_wrong_type, "something else than str"),
        (_one_more, "takes when"),
        (_not_async, "is not an `async def`"),
    ],
)
def test_a_signature_must_take_exactly_what_the_record_declares(function: object, said: str) -> None:
    _, findings = records.check(an_application(reject=function))
    assert [finding.code for finding in findings] == ["use-case-signature"]
    assert said in findings[0].sentence
