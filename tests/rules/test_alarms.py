"""Which alarms open, stay and are over: one a subject, few of one that flaps, few of many."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobcontract.operating import AlarmKind, StopScope
from jobservice.rules import alarms
from jobservice.rules.alarms import ONE_BY_ONE, Condition, Open, Thresholds, WorkerSeen, decide, missing, quiet, spike

NOW = datetime(2026, 11, 30, 22, 0, tzinfo=UTC)
LIMITS = Thresholds(late_after=120, missed_for=3_600, spike_least=10, spike_factor=5, silent_after=60, quiet_after=120)


def condition(
    subject: str = "s.one", kind: AlarmKind = AlarmKind.LATE, count: int = 1, tenant: str = "acme"
) -> Condition:
    return Condition(
        tenant=tenant, kind=kind, subject=subject, schedule=subject, count=count, sentence=f"{subject} {count}"
    )


def opened(of: Condition, *, seen: float = 0.0, openings: int = 0) -> Open:
    """An alarm of that condition, found last so many seconds ago."""
    return Open(
        id=f"id-{of.subject}",
        tenant=of.tenant,
        kind=of.kind,
        subject=of.subject,
        count=of.count,
        sentence=of.sentence,
        seen_at=NOW - timedelta(seconds=seen),
        acknowledged=False,
        openings=openings,
    )


def test_what_is_new_opens_what_is_there_stays_and_what_is_gone_is_over() -> None:
    decided = decide(
        [condition("new"), condition("grown", count=3), condition("same")],
        [opened(condition("grown")), opened(condition("same"), seen=5), opened(condition("gone"), seen=120)],
        NOW,
        LIMITS,
    )
    assert [each.subject for each in decided.opened] == ["new"]
    assert [(each.id, each.count, each.changed) for each in decided.found] == [("id-grown", 3, True)]
    assert [each.subject for each in decided.cleared] == ["gone"]


def test_what_is_found_unchanged_says_so_now_and_then() -> None:
    one = condition()
    decided = decide([one], [opened(one, seen=15)], NOW, LIMITS)
    assert [(each.id, each.changed) for each in decided.found] == [("id-s.one", False)]


@pytest.mark.parametrize(
    ("kind", "openings", "seconds"),
    [
        (AlarmKind.LATE, 0, 120),
        (AlarmKind.LATE, 1, 240),
        (AlarmKind.LATE, 4, 1_920),
        (AlarmKind.LATE, 5, 3_600),
        (AlarmKind.SPIKE, 500, 3_600),
        (AlarmKind.WORKER_MISSING, 0, 120),
        (AlarmKind.DEAD_LETTER, 0, 0),
        (AlarmKind.DEAD_LETTER, 1, 120),
        (AlarmKind.PARKED, 2, 240),
        (AlarmKind.MISSED, 0, 0),
        (AlarmKind.STOPPED, 9, 0),
    ],
)
def test_how_long_an_alarm_has_to_be_gone_doubles_with_each_time_it_came_back(
    kind: AlarmKind, openings: int, seconds: float
) -> None:
    assert quiet(kind, openings, 120) == timedelta(seconds=seconds)
    standing = opened(condition(kind=kind), openings=openings, seen=max(0, seconds - 1))
    over = decide([], [standing], NOW, LIMITS).cleared
    assert bool(over) is (seconds == 0)
    assert decide([], [replace(standing, seen_at=NOW - timedelta(seconds=seconds))], NOW, LIMITS).cleared


@settings(max_examples=30, deadline=None)
@given(
    period=st.integers(min_value=2, max_value=60),
    there=st.integers(min_value=1, max_value=59),
    kind=st.sampled_from([AlarmKind.LATE, AlarmKind.DEAD_LETTER, AlarmKind.SPIKE]),
)
def test_who_flaps_opens_few_alarms_whatever_the_rhythm(period: int, there: int, kind: AlarmKind) -> None:
    """Six hours of looks, thirty seconds apart, at something that comes and goes: with the rows that the rule writes."""
    standing: Open | None = None
    opens = 0
    for look in range(720):
        now = NOW + timedelta(seconds=30 * look)
        found = [condition(kind=kind)] if look % period < there else []
        decided = decide(found, [] if standing is None else [standing], now, LIMITS)
        if decided.opened:
            standing = replace(opened(condition(kind=kind)), seen_at=now, openings=opens)
            opens += 1
        elif decided.cleared:
            standing = None
        elif decided.found and standing is not None:
            standing = replace(standing, seen_at=now)
    assert 1 <= opens <= 12


def test_of_many_of_a_kind_some_have_an_alarm_each_and_one_tells_of_the_others() -> None:
    many = [condition(f"s.{number:03}", count=number) for number in range(ONE_BY_ONE + 30)]
    first = decide(many, [], NOW, LIMITS).opened
    assert len(first) == ONE_BY_ONE + 1
    (others,) = [each for each in first if each.schedule is None]
    assert (others.subject, others.count) == ("acme", 30)
    assert others.sentence.startswith("30 more schedules are late")
    assert {each.subject for each in first} >= {f"s.{ONE_BY_ONE + 29:03}", "s.030"}
    small = opened(condition("s.000", count=0))
    kept = decide(many, [small], NOW, LIMITS)
    assert kept.cleared == (), "one that is open stays, however small it is beside the others"
    assert len(kept.opened) == ONE_BY_ONE


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(["acme", "globex"]), st.sampled_from(list(AlarmKind)), st.sampled_from("abcdef")),
        max_size=60,
    ),
    st.lists(
        st.tuples(st.sampled_from(["acme", "globex"]), st.sampled_from(list(AlarmKind)), st.sampled_from("abcdef")),
        max_size=20,
        unique=True,
    ),
)
def test_a_look_never_opens_a_second_one_and_never_clears_what_is_there(
    there: list[tuple[str, AlarmKind, str]], before: list[tuple[str, AlarmKind, str]]
) -> None:
    found = [condition(subject, kind, tenant=tenant) for tenant, kind, subject in there]
    standing = [opened(condition(subject, kind, tenant=tenant), seen=9_999) for tenant, kind, subject in before]
    decided = decide(found, standing, NOW, LIMITS)
    keys = [each.key for each in decided.opened]
    assert len(keys) == len(set(keys))
    assert set(keys).isdisjoint(before)
    assert {each.key for each in decided.cleared}.isdisjoint(there)
    assert {each.key for each in decided.cleared} | set(there) >= set(before)


@pytest.mark.parametrize(
    ("recent", "before", "retrying", "count"),
    [(9, 0, 0, None), (10, 0, 0, 10), (4, 0, 6, 10), (10, 48, 0, 10), (10, 49, 0, None), (50, 240, 0, 50)],
)
def test_a_spike_is_many_and_far_more_than_as_a_rule(
    recent: int, before: int, retrying: int, count: int | None
) -> None:
    found = spike("acme", "s.one", recent=recent, before=before, retrying=retrying, thresholds=LIMITS)
    assert (None if found is None else found.count) == count


def worker(name: str, *, beat: float, started: float = 9_000, draining: bool = False) -> WorkerSeen:
    """One that was heard of, and started, so many seconds ago."""
    return WorkerSeen(
        incarnation=name,
        host="h",
        started_at=NOW - timedelta(seconds=started),
        beat_at=NOW - timedelta(seconds=beat),
        draining=draining,
    )


def test_a_silent_worker_is_missing_until_another_was_started_in_its_place() -> None:
    silent, other = worker("a", beat=300), worker("b", beat=200)
    alive = worker("c", beat=1)
    assert missing([silent, other, alive], NOW, LIMITS) == (silent, other)
    fresh = worker("d", beat=1, started=100)
    assert missing([silent, other, alive, fresh], NOW, LIMITS) == (other,), "one stands for one"
    assert missing([silent, other, alive, fresh, worker("e", beat=2, started=90)], NOW, LIMITS) == ()
    early = worker("f", beat=1, started=250)
    assert missing([silent, other, early], NOW, LIMITS) == (other,), "it was started before the other fell silent"


@pytest.mark.parametrize("seen", [worker("a", beat=59), worker("a", beat=300, draining=True), worker("a", beat=90_000)])
def test_who_lives_drains_or_is_gone_for_a_day_is_not_missed(seen: WorkerSeen) -> None:
    assert missing([seen], NOW, LIMITS) == ()


def test_the_words_are_sentences() -> None:
    said = [
        alarms.late("acme", "s.one", 1, NOW),
        alarms.late("acme", "s.one", 2_000, NOW),
        alarms.missed("acme", "s.one", 3, 2, NOW),
        alarms.missed("acme", "s.one", 1, 0, NOW),
        alarms.parked("acme", "s.one", NOW),
        alarms.dead_letters("acme", "s.one", 1, NOW),
        alarms.leaving("acme", "s.one", 2, NOW),
        alarms.stopped("acme", StopScope.QUEUE, "p.q", "Mina Ito", NOW),
        alarms.stopped("acme", None, "money", None, NOW),
        *(alarms.stopped("acme", scope, "p.q", "Mina Ito", NOW) for scope in StopScope),
        alarms.worker_missing("acme", worker("a", beat=300)),
    ]
    for each in said:
        assert each.sentence[0].isupper() or each.sentence.startswith(("s.one", "1 ", "2", "3 "))
        assert each.sentence.endswith(".")
        assert "None" not in each.sentence
    assert said[0].sentence == "1 run is due and not started of s.one, the first since 2026-11-30 22:00:00 UTC."
    assert "1 skipped, 2 done by a later run" in said[2].sentence
    assert said[8].sentence.startswith(
        "Money of acme is stopped since 2026-11-30 22:00:00 UTC, by whoever runs the server"
    )
