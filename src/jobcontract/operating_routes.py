"""Owns the routes of the operator's half: acts on schedules, occurrences and Workers, recoveries, stops, alarms, why,
simulator, runbooks, overview, timeline, and the audit trail's entries. `routes` lists them with all others."""

from __future__ import annotations

from jobcontract.permissions import Permission
from jobcontract.route import Route


def _read(name: str, path: str, permission: Permission = Permission.SCHEDULE_READ) -> Route:
    return Route(name=name, method="GET", path=path, permission=permission)


def _act(name: str, path: str, permission: Permission) -> Route:
    return Route(name=name, method="POST", path=path, permission=permission, acts=True)


RUN_SCHEDULE = _act("run-schedule", "/v1/schedules/{schedule}/run", Permission.SCHEDULE_RUN)
DISABLE_SCHEDULE = _act("disable-schedule", "/v1/schedules/{schedule}/disable", Permission.SCHEDULE_DISABLE)
ENABLE_SCHEDULE = _act("enable-schedule", "/v1/schedules/{schedule}/enable", Permission.SCHEDULE_DISABLE)
ENABLING = _read("enabling", "/v1/schedules/{schedule}/enabling")
SCHEDULE_WHY = _read("schedule-why", "/v1/schedules/{schedule}/why")
OCCURRENCE_WHY = _read("occurrence-why", "/v1/occurrences/{occurrence}/why")
SIMULATE = Route(
    name="simulate", method="POST", path="/v1/schedules/{schedule}/simulate", permission=Permission.SCHEDULE_READ
)
RUNBOOKS = _read("runbooks", "/v1/schedules/{schedule}/runbooks")
REPLAY_OCCURRENCE = _act("replay-occurrence", "/v1/occurrences/{occurrence}/replay", Permission.OCCURRENCE_REPLAY)
DISCARD_OCCURRENCE = _act("discard-occurrence", "/v1/occurrences/{occurrence}/discard", Permission.OCCURRENCE_DISCARD)
MAKE_RECOVERY = _act("make-recovery", "/v1/recoveries", Permission.RECOVERY_MAKE)
RECOVERIES = _read("recoveries", "/v1/recoveries", Permission.RECOVERY_READ)
RECOVERY = _read("recovery", "/v1/recoveries/{recovery}", Permission.RECOVERY_READ)
RECOVERY_ROWS = _read("recovery-rows", "/v1/recoveries/{recovery}/rows", Permission.RECOVERY_READ)
RECOVERY_LEFT_OUT = _read("recovery-left-out", "/v1/recoveries/{recovery}/left-out", Permission.RECOVERY_READ)
TAKE_OUT_OF_RECOVERY = _act("take-out-of-recovery", "/v1/recoveries/{recovery}/take-out", Permission.RECOVERY_MAKE)
DROP_RECOVERY = _act("drop-recovery", "/v1/recoveries/{recovery}/drop", Permission.RECOVERY_MAKE)
CONFIRM_RECOVERY = _act("confirm-recovery", "/v1/recoveries/{recovery}/confirm", Permission.RECOVERY_MAKE)
PAUSE_RECOVERY = _act("pause-recovery", "/v1/recoveries/{recovery}/pause", Permission.RECOVERY_MAKE)
RESUME_RECOVERY = _act("resume-recovery", "/v1/recoveries/{recovery}/resume", Permission.RECOVERY_MAKE)
ABORT_RECOVERY = _act("abort-recovery", "/v1/recoveries/{recovery}/abort", Permission.RECOVERY_MAKE)
STOPS = _read("stops", "/v1/stops", Permission.COLLEAGUE_READ)
STOP_WORK = _act("stop-work", "/v1/stops/stop", Permission.WORK_STOP)
LIFT_STOP = _act("lift-stop", "/v1/stops/lift", Permission.WORK_STOP)
DRAIN_WORKER = _act("drain-worker", "/v1/workers/{worker}/drain", Permission.WORKER_DRAIN)
UNDRAIN_WORKER = _act("undrain-worker", "/v1/workers/{worker}/undrain", Permission.WORKER_DRAIN)
ALARMS = _read("alarms", "/v1/alarms")
ACKNOWLEDGE_ALARM = _act("acknowledge-alarm", "/v1/alarms/{alarm}/acknowledge", Permission.ALARM_ACKNOWLEDGE)
OVERVIEW = Route(name="overview", method="GET", path="/v1/overview")
TIMELINE = _read("timeline", "/v1/timeline", Permission.TIMELINE_READ)
AUDIT_ENTRY = _read("audit-entry", "/v1/audit/{entry}", Permission.AUDIT_READ)
AUDIT_EXPORT = _read("audit-export", "/v1/audit-export", Permission.AUDIT_READ)

OPERATING_ROUTES: tuple[Route, ...] = (
    RUN_SCHEDULE,
    DISABLE_SCHEDULE,
    ENABLE_SCHEDULE,
    ENABLING,
    SCHEDULE_WHY,
    OCCURRENCE_WHY,
    SIMULATE,
    RUNBOOKS,
    REPLAY_OCCURRENCE,
    DISCARD_OCCURRENCE,
    MAKE_RECOVERY,
    RECOVERIES,
    RECOVERY,
    RECOVERY_ROWS,
    RECOVERY_LEFT_OUT,
    TAKE_OUT_OF_RECOVERY,
    DROP_RECOVERY,
    CONFIRM_RECOVERY,
    PAUSE_RECOVERY,
    RESUME_RECOVERY,
    ABORT_RECOVERY,
    STOPS,
    STOP_WORK,
    LIFT_STOP,
    DRAIN_WORKER,
    UNDRAIN_WORKER,
    ALARMS,
    ACKNOWLEDGE_ALARM,
    OVERVIEW,
    TIMELINE,
    AUDIT_ENTRY,
    AUDIT_EXPORT,
)
