"""Owns the real things of the operator's half that generated requests meet (`test_schema.py`): a schedule that is off or on,
a dead letter, recoveries in each state, two Workers, an entry of the trail, a job. Rows alone; nothing works on them."""

from __future__ import annotations

from typing import Any

from jobcontract import job_routes as jobs
from jobcontract import operating_routes as operating
from jobcontract import routes
from jobcontract.permissions import Permission
from jobcontract.route import Route
from tests.conftest import People
from tests.usecases.job_hand import JobHand

SCHEDULE = "payouts.rescore"
MANUAL = "payments.drill"
KIND = "payments.archive-statements"
PERSON = {
    permission: "o.lind"
    for permission in (
        Permission.SCHEDULE_RUN,
        Permission.SCHEDULE_DISABLE,
        Permission.OCCURRENCE_REPLAY,
        Permission.OCCURRENCE_DISCARD,
        Permission.RECOVERY_MAKE,
        Permission.WORKER_DRAIN,
        Permission.TIMELINE_READ,
        Permission.JOB_SUBMIT,
        Permission.JOB_CANCEL,
        Permission.JOB_RETRY,
        Permission.JOB_REVEAL,
    )
}
STRETCH = {"since": "2026-01-01T00:00:00Z", "until": "2026-01-02T00:00:00Z"}
KEY = "00000000-0000-7000-8000-000000000004"
"""The key of a row of the open recovery."""
REAL: dict[str, dict[str, Any]] = {
    operating.DISABLE_SCHEDULE.name: {"until": None},
    operating.SIMULATE.name: STRETCH | {"down": [], "edit": None},
    operating.REPLAY_OCCURRENCE.name: {"version": None},
    operating.DISCARD_OCCURRENCE.name: {"version": None},
    operating.MAKE_RECOVERY.name: {
        "act": "discard",
        "occurrences": None,
        "schedules": None,
        "causes": None,
        "since": None,
        "until": None,
        "skipped": False,
        "disable_until": None,
        "jobs": None,
        "job_filter": None,
    },
    operating.TAKE_OUT_OF_RECOVERY.name: {"keys": [KEY]},
    operating.RESUME_RECOVERY.name: {"code": None},
    jobs.SUBMIT_JOB.name: {"kind": KIND, "inputs": {"statements": 3}},
    jobs.RESOLVE_JOB.name: {"ticket": None},
}
"""Members without which a request about the real thing cannot be right."""
NEVER = frozenset(
    route.name
    for route in (
        operating.RUN_SCHEDULE,  # by the clock of its guard's windows: `test_runs_by_hand.py`
        operating.CONFIRM_RECOVERY,  # by a digest that nobody generates: `test_recoveries.py`
        operating.LIFT_STOP,  # nothing is stopped: `test_stops.py`
    )
)
"""What no generated request carries out."""
GIVEN_BY_A_PAGE = {
    operating.RECOVERIES.name: ("cursor",),
    operating.RECOVERY_ROWS.name: ("cursor", "turn"),
    operating.RECOVERY_LEFT_OUT.name: ("cursor",),
    operating.TIMELINE.name: ("cursor", "since", "until", "kind"),
    operating.ALARMS.name: ("cursor",),
    routes.AUDIT.name: ("cursor", "since", "until"),
    operating.AUDIT_EXPORT.name: ("since", "until"),
    jobs.JOBS.name: ("cursor", "filter", "source"),
    jobs.JOB_COUNTS.name: ("filter", "source"),
    jobs.JOB.name: ("source",),
    jobs.JOB_EVENTS.name: ("cursor", "source"),
}
QUERY = {operating.TIMELINE.name: STRETCH, jobs.JOBS.name: {}, jobs.JOB_COUNTS.name: {}}
"""Parameters without which a request cannot be right."""
FREE_TEXT = frozenset({routes.AUDIT.name, operating.AUDIT_EXPORT.name, jobs.FIND.name})
"""Their parameters are any text: what is generated as wrong (a list of one text) is right on the wire."""
_STATES = {
    operating.PAUSE_RECOVERY.name: "applying",
    operating.ABORT_RECOVERY.name: "applying",
    operating.RESUME_RECOVERY.name: "paused",
}
_ENDED = frozenset({operating.REPLAY_OCCURRENCE.name, operating.DISCARD_OCCURRENCE.name})


def things(people: People, route: Route, occurrence: str) -> dict[str, str]:
    """What the route is about, made for it: by the names of its path."""
    made = {"schedule": MANUAL if route is operating.RUN_SCHEDULE else SCHEDULE, "occurrence": occurrence}
    off = route in (operating.ENABLE_SCHEDULE, operating.ENABLING)
    people.connection.execute(
        "insert into jobs.schedules (tenant, schedule, definition, planned_until, disabled_at, disabled_by,"
        " disabled_reason) select 'acme', s, 'x', jobs.now(), case when %(off)s then jobs.now() end,"
        " case when %(off)s then 'o.lind' end, case when %(off)s then 'So.' end"
        " from unnest(%(names)s::text[]) as s",
        {"off": off, "names": [SCHEDULE, MANUAL]},
    )
    people.connection.execute(
        "insert into jobs.workers (incarnation, version, host) select jobs.uuid7(), '1', 'h' from generate_series(1, 2)"
    )
    if route.name in _ENDED or route is operating.MAKE_RECOVERY:
        people.connection.execute(
            "update jobs.occurrences set state = 'dead-letter', cause = 'failed', error = 'So.', ended_at = jobs.now()"
        )
    made["worker"] = _one(people, "select incarnation::text from jobs.workers limit 1")
    people.connection.execute(
        "insert into jobs.audit (tenant, person, action, subject, outcome) values ('acme', 'o.lind', 'a', 's', 'done')"
    )
    made["entry"] = _one(people, "select max(id)::text from jobs.audit")
    made["job"] = JobHand(people.connection).job("pending" if route is jobs.CANCEL_JOB else "failed", KIND)
    made["recovery"] = _recovery(people, _STATES.get(route.name, "open"))
    return made


def _recovery(people: People, state: str) -> str:
    found = _one(
        people,
        "insert into jobs.recoveries (tenant, name, act, reason, asked, owner, state, moves, digest, count, frozen_at,"
        " valid_until, confirmed_at) values ('acme', 'lark-7', 'discard', 'So.', '{\"act\": \"discard\", \"reason\": \"So.\"}',"
        " 'o.lind', %(state)s, 'nothing', %(bytes)s, 2, jobs.now(), jobs.now() + '1 hour',"
        " case when %(state)s <> 'open' then jobs.now() end) returning id::text",
        {"state": state, "bytes": bytes(32)},
    )
    for number, key in ((1, KEY), (2, "00000000-0000-7000-8000-000000000005")):
        people.connection.execute(
            "insert into jobs.recovery_rows (recovery, number, tenant, key, target, name, schedule, moves, occurrence,"
            " scheduled_at, state, cause, done, refused, failed, unfinished, selected_all, row_version)"
            " values (%s, %s, 'acme', %s, 'occurrence', 'n', %s, 'nothing', %s, jobs.now(), 'dead-letter', 'failed',"
            " 0, 0, 1, 0, true, 1)",
            (found, number, key, SCHEDULE, key),
        )
    return found


def _one(people: People, query: str, values: dict[str, Any] | None = None) -> str:
    row = people.connection.execute(query.encode(), values).fetchone()
    assert row is not None
    return str(row[0])
