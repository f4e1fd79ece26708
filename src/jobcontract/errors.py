"""Owns every failure that crosses the wire: its code, its HTTP status, its title, and the exception that carries it.

    Refusal            a request that was understood and is not done; nothing was changed
      (one class: the code says which; extra members say the rest)

A failure is a value: code, a sentence for a person, a reference (RFC 9457 on the wire).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum


class ErrorCode(Enum):
    """Code, HTTP status and title of each failure."""

    UNAUTHENTICATED = ("unauthenticated", 401, "Sign in first")
    TOKEN_EXPIRED = ("token-expired", 401, "The token is no longer valid")
    TENANT_REQUIRED = ("tenant-required", 400, "Say which tenant")
    TENANT_UNKNOWN = ("tenant-unknown", 403, "Not a tenant of yours")
    PERMISSION_MISSING = ("permission-missing", 403, "Not permitted")
    NOT_FOUND = ("not-found", 404, "Not found")
    METHOD_NOT_ALLOWED = ("method-not-allowed", 405, "Not a method of this address")
    INVALID_REQUEST = ("invalid-request", 422, "The request is not in the expected form")
    BODY_TOO_LARGE = ("body-too-large", 413, "The body is too large")
    CURSOR_INVALID = ("cursor-invalid", 400, "The cursor does not belong to this listing")
    FILTER_INVALID = ("filter-invalid", 422, "The filter cannot be read")
    IDEMPOTENCY_KEY_MISSING = ("idempotency-key-missing", 400, "Idempotency-Key is missing")
    IDEMPOTENCY_KEY_REUSED = ("idempotency-key-reused", 422, "The key was used for another request")
    IDEMPOTENCY_RUNNING = ("idempotency-running", 409, "The first request with this key is still running")
    CLAIMS_DISABLED = ("claims-disabled", 409, "This queue has no claims")
    CLAIM_HELD = ("claim-held", 409, "Held by another person")
    CLAIM_REQUIRED = ("claim-required", 409, "Claim it first")
    CLAIM_LOST = ("claim-lost", 409, "Your claim has ended")
    CLAIM_NOT_HELD = ("claim-not-held", 409, "Nobody holds it")
    CLAIM_CAPPED = ("claim-capped", 409, "A claim cannot be kept longer")
    CLAIMS_MAX = ("claims-max", 409, "You hold as many items as you may")
    COLLEAGUE_UNFIT = ("colleague-unfit", 409, "That colleague cannot take it")
    VERSION_CHANGED = ("version-changed", 409, "The item changed since you looked")
    ITEM_CLOSED = ("item-closed", 409, "The item is closed")
    KEY_TAKEN = ("key-taken", 409, "The business key was used before")
    IN_PLAN = ("in-plan", 409, "It is in a plan")
    PLAN_EMPTY = ("plan-empty", 422, "Nothing can go into the plan")
    PLAN_TOO_LARGE = ("plan-too-large", 422, "More items than a plan may have")
    PLANS_MAX = ("plans-max", 409, "You have as many open plans as you may")
    PLAN_STATE = ("plan-state", 409, "The plan is not in a state for that")
    PLAN_DIGEST = ("plan-digest", 409, "What you looked at is not what the plan holds")
    PLAN_CHANGED = ("plan-changed", 409, "Items changed since the plan was frozen")
    PLAN_UNANSWERED = ("plan-unanswered", 409, "Warnings wait for an answer")
    LIMIT_EXCEEDED = ("limit-exceeded", 409, "More than the limits allow")
    MONEY_STOPPED = ("money-stopped", 409, "Money is stopped")
    CODE_LOCKED = ("code-locked", 409, "Too many wrong codes")
    CODE_WRONG = ("code-wrong", 409, "The code is not right")
    CODE_USED = ("code-used", 409, "The code was used before")
    CODE_UNREADY = ("code-unready", 409, "No phone can confirm yet")
    CODE_UNREADABLE = ("code-unreadable", 503, "The code cannot be checked now")
    NEEDS_PLAN = ("needs-plan", 409, "Money moves only through a confirmed plan")
    OCCURRENCE_NOT_ENDED = ("occurrence-not-ended", 409, "The occurrence has not ended yet")
    OCCURRENCE_REMOVED = ("occurrence-removed", 409, "The occurrence was removed by retention")
    NOT_DEAD_LETTER = ("not-dead-letter", 409, "It is no dead letter that waits for anybody")
    SCHEDULE_DISABLED = ("schedule-disabled", 409, "The schedule is disabled")
    SCHEDULE_NOT_DISABLED = ("schedule-not-disabled", 409, "The schedule is not disabled")
    SCHEDULE_UNFIT = ("schedule-unfit", 409, "The schedule cannot do that")
    GUARD_REFUSED = ("guard-refused", 409, "Its guard does not allow it now")
    RUNS_ELSEWHERE = ("runs-elsewhere", 409, "It does not run in this deployment")
    WORK_STOPPED = ("work-stopped", 409, "A stop is in force")
    WORKER_LAST = ("worker-last", 409, "It is the last Worker that takes work")
    WORKER_ENDED = ("worker-ended", 409, "The Worker has ended")
    ALARM_CLEARED = ("alarm-cleared", 409, "The alarm is over")
    JOB_IDENTITY_TAKEN = ("job-identity-taken", 409, "That submission identity is another job's")
    JOB_INPUTS_UNFIT = ("job-inputs-unfit", 422, "The inputs do not fit the kind")
    JOB_TOO_DEEP = ("job-too-deep", 409, "Jobs submit one another without an end")
    JOB_SETTLED = ("job-settled", 409, "The job is settled")
    JOB_NOT_SETTLED = ("job-not-settled", 409, "The job is not settled yet")
    JOB_NOT_RETRYABLE = ("job-not-retryable", 409, "Jobs of this kind are not retried")
    JOB_NOT_FAILED = ("job-not-failed", 409, "The job did not fail")
    JOB_RESOLVED = ("job-resolved", 409, "The failure is resolved already")
    JOB_ELSEWHERE = ("job-elsewhere", 409, "The job is another engine's")
    JOB_CARRIED = ("job-carried", 409, "A plan carries this job")
    OCCURRENCE_ENDED = ("occurrence-ended", 409, "The occurrence has ended")
    USE_CASE_UNFIT = ("use-case-unfit", 409, "Not possible for this item now")
    TOO_MANY_STREAMS = ("too-many-streams", 429, "Too many live streams")
    TOO_MANY_LISTINGS = ("too-many-listings", 429, "Too many listings at once")
    TIMED_OUT = ("timed-out", 503, "It took too long and was not done")
    STOPPING = ("stopping", 503, "The service is stopping")
    DATABASE_AWAY = ("database-away", 503, "The database cannot be reached")
    INTERNAL = ("internal", 500, "Something went wrong in the service")

    def __init__(self, code: str, status: int, title: str) -> None:
        self.code = code
        self.status = status
        self.title = title


BY_CODE: Mapping[str, ErrorCode] = {kind.code: kind for kind in ErrorCode}


class Refusal(Exception):
    """A request that is not done, and why; nothing was changed. `extra` holds JSON members for the wire."""

    def __init__(self, kind: ErrorCode, detail: str, **extra: object) -> None:
        super().__init__(detail)
        self.kind = kind
        self.detail = detail
        self.extra: Mapping[str, object] = extra
