"""Owns the one list of HTTP routes: name, method, path, permission. Service and client both read it from here.

Those of the operator's half stand in `operating_routes`.
"""

from __future__ import annotations

from jobcontract.job_routes import JOB_ROUTES
from jobcontract.operating_routes import OPERATING_ROUTES
from jobcontract.permissions import Permission
from jobcontract.route import Route as Route

KEY_HEADER = "Idempotency-Key"
TENANT_HEADER = "Jobs-Tenant"
REFERENCE_HEADER = "Jobs-Reference"
"""Echoed on every answer; the reference a person gives to an engineer."""
PROBLEM_TYPE = "application/problem+json"


def _plan(name: str, permission: Permission) -> Route:
    """An order about a plan."""
    return Route(
        name=f"{name}-plan", method="POST", path=f"/v1/plans/{{plan}}/{name}", permission=permission, acts=True
    )


ME = Route(name="me", method="GET", path="/v1/me")
COLLEAGUES = Route(name="colleagues", method="GET", path="/v1/colleagues", permission=Permission.COLLEAGUE_READ)
QUEUES = Route(name="queues", method="GET", path="/v1/queues", permission=Permission.QUEUE_READ)
QUEUE_TOTALS = Route(
    name="queue-totals", method="GET", path="/v1/queues/{queue}/totals", permission=Permission.QUEUE_READ
)
QUEUE_VOCABULARY = Route(
    name="queue-vocabulary", method="GET", path="/v1/queues/{queue}/vocabulary", permission=Permission.QUEUE_READ
)
QUEUE_ITEMS = Route(name="queue-items", method="GET", path="/v1/queues/{queue}/items", permission=Permission.QUEUE_READ)
PUSH_ITEM = Route(
    name="push-item", method="POST", path="/v1/queues/{queue}/items", permission=Permission.ITEM_PUSH, acts=True
)
CHANGE_ITEM = Route(
    name="change-item", method="PUT", path="/v1/queues/{queue}/items/{key:path}", permission=Permission.ITEM_PUSH
)
CLAIM_NEXT = Route(
    name="claim-next",
    method="POST",
    path="/v1/queues/{queue}/claim-next",
    permission=Permission.QUEUE_CLAIM,
    acts=True,
)
ITEM = Route(name="item", method="GET", path="/v1/items/{item}", permission=Permission.QUEUE_READ)
EXPLANATION = Route(
    name="explanation", method="GET", path="/v1/items/{item}/explanation", permission=Permission.QUEUE_READ
)
WHAT_IF = Route(name="what-if", method="POST", path="/v1/items/{item}/what-if", permission=Permission.QUEUE_READ)
CLAIM = Route(name="claim", method="POST", path="/v1/items/{item}/claim", permission=Permission.QUEUE_CLAIM, acts=True)
RENEW_CLAIM = Route(
    name="renew-claim", method="POST", path="/v1/items/{item}/renew-claim", permission=Permission.QUEUE_CLAIM, acts=True
)
RELEASE_CLAIM = Route(
    name="release-claim",
    method="POST",
    path="/v1/items/{item}/release-claim",
    permission=Permission.QUEUE_CLAIM,
    acts=True,
)
BREAK_CLAIM = Route(
    name="break-claim",
    method="POST",
    path="/v1/items/{item}/break-claim",
    permission=Permission.QUEUE_CLAIM_BREAK,
    acts=True,
)
ACT = Route(
    name="act",
    method="POST",
    path="/v1/items/{item}/acts/{use_case}",
    permission=Permission.QUEUE_ACT,
    acts=True,
)
MAKE_PLAN = Route(
    name="make-plan",
    method="POST",
    path="/v1/queues/{queue}/plans",
    permission=Permission.PAYOUT_RELEASE,
    acts=True,
)
PLANS = Route(name="plans", method="GET", path="/v1/plans", permission=Permission.PLAN_READ)
PLAN = Route(name="plan", method="GET", path="/v1/plans/{plan}", permission=Permission.PLAN_READ)
PLAN_ITEMS = Route(name="plan-items", method="GET", path="/v1/plans/{plan}/items", permission=Permission.PLAN_READ)
PLAN_EXCLUSIONS = Route(
    name="plan-exclusions", method="GET", path="/v1/plans/{plan}/exclusions", permission=Permission.PLAN_READ
)
PLAN_WARNINGS = Route(
    name="plan-warnings", method="GET", path="/v1/plans/{plan}/warnings", permission=Permission.PLAN_READ
)
PLAN_EXPORT = Route(name="plan-export", method="GET", path="/v1/plans/{plan}/export", permission=Permission.PLAN_READ)
TAKE_OUT = _plan("take-out", Permission.PAYOUT_RELEASE)
KEEP_IN = _plan("keep-in", Permission.PAYOUT_RELEASE)
DROP_PLAN = _plan("drop", Permission.PAYOUT_RELEASE)
CONFIRM_PLAN = _plan("confirm", Permission.PAYOUT_RELEASE)
PAUSE_PLAN = _plan("pause", Permission.PAYOUT_STOP)
RESUME_PLAN = _plan("resume", Permission.PAYOUT_RELEASE)
ABORT_PLAN = _plan("abort", Permission.PAYOUT_STOP)
CODE_STANDING = Route(name="code-standing", method="GET", path="/v1/me/code", permission=Permission.PAYOUT_RELEASE)
MONEY = Route(name="money", method="GET", path="/v1/money", permission=Permission.PLAN_READ)
STOP_MONEY = Route(
    name="stop-money", method="POST", path="/v1/money/stop", permission=Permission.PAYOUT_STOP, acts=True
)
START_MONEY = Route(
    name="start-money", method="POST", path="/v1/money/start", permission=Permission.PAYOUT_RELEASE, acts=True
)
WAS_PAID = Route(
    name="was-paid", method="POST", path="/v1/items/{item}/was-paid", permission=Permission.PAYOUT_RELEASE, acts=True
)
WAS_NOT_PAID = Route(
    name="was-not-paid",
    method="POST",
    path="/v1/items/{item}/was-not-paid",
    permission=Permission.PAYOUT_RELEASE,
    acts=True,
)
SCHEDULES = Route(name="schedules", method="GET", path="/v1/schedules", permission=Permission.SCHEDULE_READ)
SCHEDULE = Route(name="schedule", method="GET", path="/v1/schedules/{schedule}", permission=Permission.SCHEDULE_READ)
NEXT_INSTANTS = Route(
    name="next-instants", method="GET", path="/v1/schedules/{schedule}/next", permission=Permission.SCHEDULE_READ
)
OCCURRENCES = Route(name="occurrences", method="GET", path="/v1/occurrences", permission=Permission.SCHEDULE_READ)
OCCURRENCE = Route(
    name="occurrence", method="GET", path="/v1/occurrences/{occurrence}", permission=Permission.SCHEDULE_READ
)
OCCURRENCE_ITEMS = Route(
    name="occurrence-items",
    method="GET",
    path="/v1/occurrences/{occurrence}/items",
    permission=Permission.SCHEDULE_READ,
)
CANCEL_OCCURRENCE = Route(
    name="cancel-occurrence",
    method="POST",
    path="/v1/occurrences/{occurrence}/cancel",
    permission=Permission.OCCURRENCE_CANCEL,
    acts=True,
)
WORKERS = Route(name="workers", method="GET", path="/v1/workers", permission=Permission.SCHEDULE_READ)
AUDIT = Route(name="audit", method="GET", path="/v1/audit", permission=Permission.AUDIT_READ)
EVENTS = Route(name="events", method="GET", path="/v1/events")
HEALTH = Route(name="health", method="GET", path="/healthz", public=True)
READY = Route(name="ready", method="GET", path="/readyz", public=True)
METRICS = Route(name="metrics", method="GET", path="/metrics", public=True)

ROUTES: tuple[Route, ...] = (
    ME,
    COLLEAGUES,
    QUEUES,
    QUEUE_TOTALS,
    QUEUE_VOCABULARY,
    QUEUE_ITEMS,
    PUSH_ITEM,
    CHANGE_ITEM,
    CLAIM_NEXT,
    ITEM,
    EXPLANATION,
    WHAT_IF,
    CLAIM,
    RENEW_CLAIM,
    RELEASE_CLAIM,
    BREAK_CLAIM,
    ACT,
    MAKE_PLAN,
    PLANS,
    PLAN,
    PLAN_ITEMS,
    PLAN_EXCLUSIONS,
    PLAN_WARNINGS,
    PLAN_EXPORT,
    TAKE_OUT,
    KEEP_IN,
    DROP_PLAN,
    CONFIRM_PLAN,
    PAUSE_PLAN,
    RESUME_PLAN,
    ABORT_PLAN,
    CODE_STANDING,
    MONEY,
    STOP_MONEY,
    START_MONEY,
    WAS_PAID,
    WAS_NOT_PAID,
    SCHEDULES,
    SCHEDULE,
    NEXT_INSTANTS,
    OCCURRENCES,
    OCCURRENCE,
    OCCURRENCE_ITEMS,
    CANCEL_OCCURRENCE,
    WORKERS,
    AUDIT,
    *OPERATING_ROUTES,
    *JOB_ROUTES,
    EVENTS,
    HEALTH,
    READY,
    METRICS,
)
