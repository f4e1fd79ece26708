"""Why something does not run: one answer, every cause checked, a total rank; nothing is said twice."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobcontract.operating import WhyKind
from jobcontract.states import DeadCause, OccurrenceState, SkipPolicy
from jobservice.rules.standing import Off
from jobservice.rules.why import why
from jobservice.rules.why_facts import Asked, Facts, Holder, One, Processes, Skipped

NOW = datetime(2026, 11, 30, 12, 4, 1, tzinfo=UTC)
PROCEDURES = pytest.mark.requirement("provide-operational-recovery-procedures")
HOLDER = Holder(
    schedule="s.night",
    scheduled_at=NOW - timedelta(hours=1),
    worker="3f2c0000-0000-0000-0000-000000000000",
    host="a7",
    taken_at=NOW - timedelta(minutes=20),
    expires_at=NOW + timedelta(seconds=30),
    renewed_at=NOW - timedelta(seconds=4),
)
ASKED = Asked(at=NOW - timedelta(minutes=1), by="Olle Lind", reason="bank down")
WORKERS = Processes(live=1, draining=0, silent=0, slots=4, taken=0, beat_at=NOW)
WAITS = One(
    scheduled_at=NOW - timedelta(minutes=5),
    state=OccurrenceState.SCHEDULED,
    due_at=NOW - timedelta(minutes=5),
    miss_at=None,
    attempts=0,
    started_at=None,
    ended_at=None,
    cause=None,
    error=None,
    lease=None,
    cancel=None,
)


def facts(**changes: Any) -> Facts:
    """A due occurrence that nothing holds back, with changes."""
    given: dict[str, Any] = {
        "now": NOW,
        "schedule": "s.night",
        "lock": "s.night",
        "one": WAITS,
        "instant": None,
        "known": True,
        "manual": False,
        "elsewhere": "",
        "attempts": 3,
        "planned": True,
        "planned_until": NOW + timedelta(minutes=1),
        "floor_at": None,
        "retired_at": None,
        "parked": None,
        "off": None,
        "stop": None,
        "holder": None,
        "before": 0,
        "before_name": "",
        "skipped": None,
        "processes": WORKERS,
    }
    return Facts(**{**given, **changes})


def near(least: int = -3, most: int = 3) -> st.SearchStrategy[datetime]:
    """An instant around now."""
    return st.integers(least, most).map(lambda minutes: NOW + timedelta(minutes=minutes))


def maybe(strategy: Any) -> Any:
    """None, or one of them."""
    return st.none() | strategy


@st.composite
def ones(draw: Any) -> One:
    """Occurrences as the table allows them."""
    state = draw(st.sampled_from(list(OccurrenceState)))
    dead = state is OccurrenceState.DEAD_LETTER
    return One(
        scheduled_at=draw(near()),
        state=state,
        due_at=draw(near()),
        miss_at=draw(maybe(near())),
        attempts=draw(st.integers(0, 3)),
        started_at=None,
        ended_at=draw(near(-3, 0)) if state.ended else None,
        cause=draw(st.sampled_from(list(DeadCause))) if dead else None,
        error=draw(maybe(st.just("The bank refused."))),
        lease=HOLDER if state is OccurrenceState.PROCESSING else None,
        cancel=draw(maybe(st.just(ASKED))),
        put_away=dead and draw(st.booleans()),
    )


SKIPPED = Skipped(
    policy=SkipPolicy.MISFIRE_ONCE,
    cause="Not started within 60 s of its time.",
    first_at=NOW - timedelta(hours=2),
    last_at=NOW,
    count=3,
    merged_into=NOW,
    decided_at=NOW,
)
ANY = st.builds(
    facts,
    one=maybe(ones()),
    instant=maybe(near()),
    known=st.booleans(),
    manual=st.booleans(),
    elsewhere=st.sampled_from(["", "in production"]),
    planned=st.booleans(),
    planned_until=maybe(near()),
    floor_at=maybe(near(-3, 0)),
    retired_at=maybe(near(-3, 0)),
    parked=maybe(st.just(ASKED)),
    off=maybe(
        st.builds(Off, at=near(-3, 0), until=maybe(near()), by=st.just("Olle Lind"), reason=st.just("bank down"))
    ),
    stop=maybe(st.just(ASKED)),
    holder=maybe(st.just(HOLDER)),
    before=st.integers(0, 3),
    before_name=st.just("s.other@2026-11-30T12:00:00Z"),
    skipped=maybe(st.just(SKIPPED)),
    processes=st.builds(
        Processes,
        live=st.integers(0, 2),
        draining=st.integers(0, 1),
        silent=st.integers(0, 1),
        slots=st.integers(0, 4),
        taken=st.integers(0, 4),
        beat_at=maybe(near(-3, 0)),
    ),
    of_rhythm=st.booleans(),
    neighbours=st.tuples(maybe(near()), maybe(near())),
    next_at=maybe(near()),
    recovery=st.sampled_from(["", "wren-7"]),
)


@PROCEDURES
@settings(max_examples=150, deadline=None)
@given(known=ANY)
def test_there_is_one_answer_and_every_cause_is_checked_and_ranked(known: Facts) -> None:
    answer = why(known)
    assert sorted(cause.kind for cause in answer.causes) == sorted(WhyKind), "each once"
    applying = [cause for cause in answer.causes if cause.applies]
    assert list(answer.causes[: len(applying)]) == applying, "those that apply first"
    ranks = list(WhyKind)
    for some in (applying, answer.causes[len(applying) :]):
        assert [ranks.index(cause.kind) for cause in some] == sorted(ranks.index(cause.kind) for cause in some)
    assert answer.sentence == (applying[0].sentence if applying else answer.sentence)
    assert answer.sentence.endswith((".", "?", "!"))
    assert all(cause.sentence.startswith("Checked: ") is not cause.applies for cause in answer.causes)
    assert all(cause.evidence or cause.kind is WhyKind.MANUAL for cause in applying), "what applies has its evidence"
    assert not any(cause.evidence or cause.remedy for cause in answer.causes if not cause.applies)
    kinds = {cause.kind for cause in applying}
    assert not {WhyKind.RUNNING, WhyKind.ENDED} <= kinds
    if kinds & {WhyKind.RUNNING, WhyKind.ENDED} and known.one is not None:
        assert kinds <= {WhyKind.RUNNING, WhyKind.ENDED, WhyKind.CANCELLED}, "nothing holds back what runs or ended"
    assert not {WhyKind.NOT_DUE, WhyKind.BACKING_OFF} <= kinds
    assert not {WhyKind.NOT_DUE, WhyKind.LOCK_HELD} <= kinds


@PROCEDURES
def test_a_held_lock_is_told_with_worker_host_end_and_last_renewal() -> None:
    answer = why(facts(holder=HOLDER, before=2))
    assert answer.sentence == (
        "Waiting: the lease is held by worker 3f2c (host a7) until 12:04:31 UTC; it renewed 4 s ago."
    )
    first = answer.causes[0]
    assert first.kind is WhyKind.LOCK_HELD
    assert {each.label: each.value for each in first.evidence}["waiting before it"] == "2"


def test_nothing_that_holds_back_is_an_answer_too() -> None:
    answer = why(facts())
    assert answer.sentence.startswith("Nothing holds it back: it is due since 5 min")
    assert not any(cause.applies for cause in answer.causes)


@PROCEDURES
def test_a_tenants_stop_stands_before_what_else_holds_it() -> None:
    answer = why(facts(stop=ASKED, off=Off(at=NOW, until=None, by="Ada", reason="why"), holder=HOLDER))
    assert [cause.kind for cause in answer.causes if cause.applies] == [
        WhyKind.TENANT_STOPPED,
        WhyKind.DISABLED,
        WhyKind.LOCK_HELD,
    ]
    assert answer.sentence == "All work of the tenant is stopped by Olle Lind since 12:03:01 UTC: bank down."


@pytest.mark.parametrize(
    ("held", "one", "says"),
    [
        ({}, None, "It is not due yet: it runs at 12:09:01 UTC, in 5 min."),
        ({"off": True}, None, "Nothing is due; once it is enabled, it runs next at 12:09:01 UTC, in 5 min."),
        ({"stop": True}, None, "Nothing is due; once the stop is lifted, it runs next at 12:09:01 UTC, in 5 min."),
        (
            {"off": True, "stop": True},
            None,
            "Nothing is due; once the stop is lifted and it is enabled, it runs next at 12:09:01 UTC, in 5 min.",
        ),
        ({"off": True}, WAITS, "Nothing is due; once it is enabled, its time is 12:09:01 UTC, in 5 min."),
    ],
)
def test_of_what_is_disabled_or_stopped_it_does_not_say_that_it_runs(held: Any, one: One | None, says: str) -> None:
    coming = NOW + timedelta(minutes=5)
    off = Off(at=NOW, until=None, by="Olle Lind", reason="bank down") if held.get("off") else None
    stop = ASKED if held.get("stop") else None
    waits = None if one is None else replace(one, due_at=coming)
    answer = why(facts(one=waits, next_at=coming, off=off, stop=stop))
    assert {each.kind: each.sentence for each in answer.causes}[WhyKind.NOT_DUE] == says
