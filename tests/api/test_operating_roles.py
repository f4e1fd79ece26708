"""Every act of the operator's half, and every act on jobs, tried by every role: who may is let through to the act, all others are refused and
recorded. The table is written by hand, from the papers and not from the table that the service decides by."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobcontract.job_routes import CANCEL_JOB, JOB_ROUTES
from jobcontract.operating_routes import OPERATING_ROUTES
from tests.api.conftest import Api, key_header, problem_of
from tests.conftest import CAST
from tests.usecases.desk import Desk
from tests.usecases.job_hand import JobHand
from tests.usecases.schedule_desk import ScheduleDesk

NIGHTLY = "statements.nightly"
ARCHIVE = "payments.archive-statements"
START = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
OPERATOR, BOTH = {"operator"}, {"operator", "finance"}
JOBS = {"operator", "support"}
ALL = BOTH | JOBS
MAY: dict[str, set[str]] = {
    "run-schedule": OPERATOR,
    "disable-schedule": OPERATOR,
    "enable-schedule": OPERATOR,
    "replay-occurrence": OPERATOR,
    "discard-occurrence": OPERATOR,
    "make-recovery": ALL,
    "take-out-of-recovery": ALL,
    "drop-recovery": ALL,
    "confirm-recovery": ALL,
    "pause-recovery": ALL,
    "resume-recovery": ALL,
    "abort-recovery": ALL,
    "stop-work": BOTH,
    "lift-stop": BOTH,
    "drain-worker": OPERATOR,
    "undrain-worker": OPERATOR,
    "acknowledge-alarm": BOTH,
    "submit-job": {"operator", "pusher"},
    "cancel-job": JOBS,
    "retry-job": JOBS,
    "resolve-job": ALL,
    "reveal-job": JOBS,
}
NEEDED = {
    "run-schedule": "schedule.run",
    "disable-schedule": "schedule.disable",
    "enable-schedule": "schedule.disable",
    "replay-occurrence": "occurrence.replay",
    "discard-occurrence": "occurrence.discard",
    "stop-work": "work.stop",
    "lift-stop": "work.stop",
    "drain-worker": "worker.drain",
    "undrain-worker": "worker.drain",
    "acknowledge-alarm": "alarm.acknowledge",
    "submit-job": "job.submit",
    "cancel-job": "job.cancel",
    "retry-job": "job.retry",
    "resolve-job": "job.resolve",
    "reveal-job": "job.reveal",
}
"""The permission that a refusal names; of everything about recoveries `recovery.make`."""
REASON: dict[str, Any] = {"reason": "tried by every role"}
STOP = {**REASON, "scope": "queue", "name": "payments.payouts"}
BODIES: dict[str, dict[str, Any]] = {
    "make-recovery": {**REASON, "act": "requeue"},
    "take-out-of-recovery": {"keys": ["x"]},
    "confirm-recovery": {"digest": "0" * 64},
    "stop-work": STOP,
    "lift-stop": STOP,
    "acknowledge-alarm": {"note": "I look after it"},
    "submit-job": {"kind": ARCHIVE, "submission_identity": "tried", "inputs": {"statements": 3}},
}
OF_JOBS = {**REASON, "act": "cancel", "job_filter": "status:pending"}
"""What support makes a recovery of; of runs it may none."""
ACTS = [route for route in (*OPERATING_ROUTES, *JOB_ROUTES) if route.acts]
HOLDERS = {role: person for person, (_, tenant, role) in CAST.items() if tenant == "acme"}


def test_the_table_has_every_acting_route() -> None:
    assert set(MAY) == {route.name for route in ACTS}


@pytest.mark.requirement("provide-operational-recovery-procedures", "audit-manual-replay")
@pytest.mark.parametrize("role", sorted(HOLDERS))
async def test_every_act_is_tried_by_every_role(api: Api, service: Any, role: str) -> None:
    rows = ScheduleDesk(Desk(service, api.people), api.people.connection)
    rows.planned(NIGHTLY)
    first, _ = rows.worker("a7"), rows.worker("b2")
    nowhere = "00000000-0000-4000-8000-000000000000"
    person, client = HOLDERS[role], await api.of(HOLDERS[role])
    hand = JobHand(api.people.connection)
    for number, route in enumerate(ACTS):
        occurrence = rows.occurrence(NIGHTLY, START + timedelta(days=number), "dead-letter")
        parts = {
            "schedule": NIGHTLY,
            "occurrence": occurrence,
            "worker": str(first),
            "recovery": nowhere,
            "alarm": nowhere,
            "job": hand.job("pending" if route is CANCEL_JOB else "failed", ARCHIVE),
        }
        of_jobs = route.name == "make-recovery" and role == "support"
        path = route.path.replace(":path}", "}").format_map(parts)
        before = api.people.connection.execute("select count(*) from jobs.audit where outcome = 'done'").fetchone()
        answer = await client.post(
            path, json=OF_JOBS if of_jobs else BODIES.get(route.name, REASON), headers=key_header()
        )
        if role in MAY[route.name]:
            assert answer.status_code not in (401, 403, 404, 405, 500) or nowhere in path, (route.name, answer.text)
            assert answer.status_code not in (401, 403, 405, 500), (route.name, answer.text)
            continue
        problem = problem_of(answer, 403, "permission-missing")
        assert problem["permission"] == NEEDED.get(route.name, "recovery.make")
        row = api.people.connection.execute(
            "select person, action, outcome from jobs.audit order by id desc limit 1"
        ).fetchone()
        assert row == (person, route.name, "refused")
        after = api.people.connection.execute("select count(*) from jobs.audit where outcome = 'done'").fetchone()
        assert after == before, route.name
    done = api.people.connection.execute(
        "select action from jobs.audit where outcome = 'done' and person = %s order by id", [person]
    ).fetchall()
    if role == "operator":
        acts = ["disable-schedule", "enable-schedule", "replay-occurrence", "discard-occurrence"]
        assert [each for (each,) in done][:4] == acts
        assert {"drain-worker", "undrain-worker"} <= {each for (each,) in done}
    on_jobs = {route.name for route in JOB_ROUTES if route.acts and role in MAY[route.name]}
    assert {each for (each,) in done} & {route.name for route in JOB_ROUTES} == on_jobs
