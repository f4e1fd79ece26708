"""One table of permissions: who may do what, and who can give it (MONEY.md 12 and 24)."""

from __future__ import annotations

import pytest

from jobcontract.permissions import GRANTS, Permission, missing, roles_with
from jobcontract.states import Role

MAY = {
    Role.FINANCE: (
        "queue.read queue.claim queue.claim.break queue.act plan.read payout.release payout.stop colleague.read"
        " schedule.read recovery.make work.stop alarm.acknowledge timeline.read"
        " recovery.read job.read job.resolve"
    ),
    Role.OPERATOR: (
        "queue.read plan.read payout.stop colleague.read schedule.read schedule.run occurrence.cancel occurrence.replay"
        " occurrence.discard schedule.disable recovery.make work.stop worker.drain alarm.acknowledge timeline.read"
        " recovery.read job.read job.submit job.cancel job.retry job.resolve job.reveal"
    ),
    Role.SUPPORT: ("colleague.read recovery.read recovery.make job.read job.cancel job.retry job.resolve job.reveal"),
    Role.AUDITOR: "queue.read plan.read colleague.read audit.read schedule.read timeline.read recovery.read job.read",
    Role.PUSHER: "item.push job.submit",
    Role.ADMINISTRATOR: "colleague.read person.read setting.read",
}


@pytest.mark.requirement("MONEY-24")
@pytest.mark.parametrize("role", list(Role))
def test_what_each_role_may_do(role: Role) -> None:
    assert GRANTS[role] == {Permission(word) for word in MAY[role].split()}


@pytest.mark.requirement("MONEY-12", "MONEY-24")
def test_who_pushes_an_item_can_never_act_on_one_or_release_it() -> None:
    acting = {
        Permission.QUEUE_ACT,
        Permission.QUEUE_CLAIM,
        Permission.QUEUE_CLAIM_BREAK,
        Permission.PAYOUT_RELEASE,
    }
    assert [role for role in Role if Permission.ITEM_PUSH in GRANTS[role] and acting & GRANTS[role]] == []


def test_every_permission_is_somebody_s() -> None:
    assert [permission for permission in Permission if not roles_with(permission)] == []


def test_a_refusal_names_the_permission_the_roles_and_whom_to_ask() -> None:
    assert missing(Permission.QUEUE_READ, "leeds") == (
        "That needs queue.read (finance or operator or auditor). Ask an administrator of leeds to have it granted"
        " on the server."
    )
