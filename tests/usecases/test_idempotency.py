"""One key, one deed: repeats, other bodies, first requests still at work, whose key it is (MONEY.md 32)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.permissions import Permission
from jobservice.usecases.idempotency import Answered, Deed, act_once
from tests.usecases.desk import Desk, once, refused_with

pytestmark = pytest.mark.requirement("HTTP-03")

DEED = Deed(action="t.test", subject="x", permission=Permission.QUEUE_CLAIM)


class Work:
    """Counts how often it was done."""

    def __init__(self, kind: ErrorCode | None = None) -> None:
        self.times = 0
        self.kind = kind

    async def __call__(self, _transaction: Any) -> Answered:
        self.times += 1
        if self.kind is not None:
            raise Refusal(self.kind, "No.")
        return Answered(status=200, body={"time": self.times})


async def test_the_second_call_gets_the_first_answer(desk: Desk) -> None:
    work, request, actor = Work(), once(), desk.actor("m.ito")
    first = await act_once(desk.service, actor, DEED, request, work)
    again = await act_once(desk.service, actor, DEED, request, work)
    assert (first.body, again.body, first.replayed, again.replayed) == ({"time": 1}, {"time": 1}, False, True)
    assert work.times == 1


@pytest.mark.requirement("MONEY-32")
async def test_another_body_under_the_key_is_refused(desk: Desk) -> None:
    work, request, actor = Work(), once(), desk.actor("m.ito")
    await act_once(desk.service, actor, DEED, request, work)
    await refused_with(
        ErrorCode.IDEMPOTENCY_KEY_REUSED,
        act_once(desk.service, actor, DEED, replace(request, digest=b"other"), work),
    )
    assert work.times == 1


@pytest.mark.parametrize("part", ["person", "tenant", "method", "path"])
async def test_a_key_belongs_to_its_tenant_person_method_and_path(desk: Desk, part: str) -> None:
    work, request, actor = Work(), once(), desk.actor("m.ito")
    await act_once(desk.service, actor, DEED, request, work)
    if part in ("method", "path"):
        request = replace(request, **{part: "other"})  # type: ignore[arg-type]  # both are text
    else:
        actor = desk.actor("k.rao" if part == "person" else "g.fin")
    assert not (await act_once(desk.service, actor, DEED, request, work)).replayed
    assert work.times == 2


@pytest.mark.requirement("MONEY-32")
async def test_while_the_first_is_at_work_the_second_is_told_so(desk: Desk) -> None:
    request, actor, inner = once(), desk.actor("m.ito"), Work()

    async def work(transaction: Any) -> Answered:
        await refused_with(ErrorCode.IDEMPOTENCY_RUNNING, act_once(desk.service, actor, DEED, request, inner))
        return Answered(status=200, body={})

    await act_once(desk.service, actor, DEED, request, work)
    assert inner.times == 0


async def test_a_refusal_is_judged_anew_and_recorded_each_time(desk: Desk) -> None:
    work, request, actor = Work(ErrorCode.CLAIM_HELD), once(), desk.actor("m.ito")
    for _ in range(2):
        await refused_with(ErrorCode.CLAIM_HELD, act_once(desk.service, actor, DEED, request, work))
    work.kind = None
    assert not (await act_once(desk.service, actor, DEED, request, work)).replayed
    assert desk.audited() == [("m.ito", "t.test", "refused")] * 2


async def test_the_key_is_looked_up_after_permission(desk: Desk) -> None:
    work, request = Work(), once()
    await act_once(desk.service, desk.actor("m.ito"), DEED, request, work)
    demoted = replace(desk.actor("m.ito"), role=desk.actor("o.lind").role)
    await refused_with(ErrorCode.PERMISSION_MISSING, act_once(desk.service, demoted, DEED, request, work))
