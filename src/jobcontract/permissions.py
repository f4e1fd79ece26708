"""Owns the one table of permissions: which role has which, and whom to ask for it. The service decides by it in the
query; the console reads it only to grey out a command with its reason."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from jobcontract.states import Role


class Permission(StrEnum):
    """What a role may do; the value is the word shown to a person."""

    QUEUE_READ = "queue.read"
    QUEUE_CLAIM = "queue.claim"
    QUEUE_CLAIM_BREAK = "queue.claim.break"
    QUEUE_ACT = "queue.act"
    PLAN_READ = "plan.read"
    PAYOUT_RELEASE = "payout.release"
    PAYOUT_STOP = "payout.stop"
    ITEM_PUSH = "item.push"
    COLLEAGUE_READ = "colleague.read"
    AUDIT_READ = "audit.read"
    PERSON_READ = "person.read"
    SETTING_READ = "setting.read"
    SCHEDULE_READ = "schedule.read"
    SCHEDULE_RUN = "schedule.run"
    OCCURRENCE_CANCEL = "occurrence.cancel"
    OCCURRENCE_REPLAY = "occurrence.replay"
    OCCURRENCE_DISCARD = "occurrence.discard"
    SCHEDULE_DISABLE = "schedule.disable"
    RECOVERY_MAKE = "recovery.make"
    WORK_STOP = "work.stop"
    WORKER_DRAIN = "worker.drain"
    ALARM_ACKNOWLEDGE = "alarm.acknowledge"
    TIMELINE_READ = "timeline.read"
    RECOVERY_READ = "recovery.read"
    JOB_READ = "job.read"
    JOB_SUBMIT = "job.submit"
    JOB_CANCEL = "job.cancel"
    JOB_RETRY = "job.retry"
    JOB_RESOLVE = "job.resolve"
    JOB_REVEAL = "job.reveal"


GRANTS: Mapping[Role, frozenset[Permission]] = {
    Role.FINANCE: frozenset(
        {
            Permission.QUEUE_READ,
            Permission.QUEUE_CLAIM,
            Permission.QUEUE_CLAIM_BREAK,
            Permission.QUEUE_ACT,
            Permission.PLAN_READ,
            Permission.PAYOUT_RELEASE,
            Permission.PAYOUT_STOP,
            Permission.COLLEAGUE_READ,
            Permission.SCHEDULE_READ,
            Permission.RECOVERY_MAKE,
            Permission.WORK_STOP,
            Permission.ALARM_ACKNOWLEDGE,
            Permission.TIMELINE_READ,
            Permission.RECOVERY_READ,
            Permission.JOB_READ,
            Permission.JOB_RESOLVE,
        }
    ),
    Role.OPERATOR: frozenset(
        {
            Permission.QUEUE_READ,
            Permission.PLAN_READ,
            Permission.PAYOUT_STOP,
            Permission.COLLEAGUE_READ,
            Permission.SCHEDULE_READ,
            Permission.SCHEDULE_RUN,
            Permission.OCCURRENCE_CANCEL,
            Permission.OCCURRENCE_REPLAY,
            Permission.OCCURRENCE_DISCARD,
            Permission.SCHEDULE_DISABLE,
            Permission.RECOVERY_MAKE,
            Permission.WORK_STOP,
            Permission.WORKER_DRAIN,
            Permission.ALARM_ACKNOWLEDGE,
            Permission.TIMELINE_READ,
            Permission.RECOVERY_READ,
            Permission.JOB_READ,
            Permission.JOB_SUBMIT,
            Permission.JOB_CANCEL,
            Permission.JOB_RETRY,
            Permission.JOB_RESOLVE,
            Permission.JOB_REVEAL,
        }
    ),
    Role.SUPPORT: frozenset(
        {
            Permission.COLLEAGUE_READ,
            Permission.RECOVERY_READ,
            Permission.RECOVERY_MAKE,
            Permission.JOB_READ,
            Permission.JOB_CANCEL,
            Permission.JOB_RETRY,
            Permission.JOB_RESOLVE,
            Permission.JOB_REVEAL,
        }
    ),
    Role.AUDITOR: frozenset(
        {
            Permission.QUEUE_READ,
            Permission.PLAN_READ,
            Permission.COLLEAGUE_READ,
            Permission.AUDIT_READ,
            Permission.SCHEDULE_READ,
            Permission.TIMELINE_READ,
            Permission.RECOVERY_READ,
            Permission.JOB_READ,
        }
    ),
    Role.PUSHER: frozenset({Permission.ITEM_PUSH, Permission.JOB_SUBMIT}),
    Role.ADMINISTRATOR: frozenset({Permission.COLLEAGUE_READ, Permission.PERSON_READ, Permission.SETTING_READ}),
}
"""Every role with what it may do, in one tenant."""


IN_NO_TENANT = "is in no tenant. Ask whoever runs the service for a role in one (jobservice person grant)."
"""What is said of a person, after their name, who has no role anywhere: no route gives one (MONEY.md 23)."""


def roles_with(permission: Permission) -> tuple[Role, ...]:
    """The roles that hold `permission`, in the order of `Role`."""
    return tuple(role for role in Role if permission in GRANTS[role])


def missing(permission: Permission, tenant: str) -> str:
    """The sentence of a refusal: what is missing, which roles have it, whom to ask.

    No route changes a role (MONEY.md 23): it is given on the server, by whoever runs the service.
    """
    roles = " or ".join(roles_with(permission))
    return f"That needs {permission} ({roles}). Ask an administrator of {tenant} to have it granted on the server."
