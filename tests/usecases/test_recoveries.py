"""Making, reading, changing and dropping recoveries."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.operating import RecoveryState
from jobservice.usecases import recovery_reading
from tests.conftest import Clock
from tests.usecases.desk import once, refused_with
from tests.usecases.recovery_desk import (
    BATCH,
    DAY,
    GONE,
    HOURLY,
    MONEY,
    NIGHT,
    NIGHTLY,
    SINCE,
    UNTIL,
    RecoveryDesk,
    recovery_desk,
)

HOUR = timedelta(hours=1)


@pytest.fixture
def desk(database: Any, people: Any) -> RecoveryDesk:
    return recovery_desk(database, people)


def counts(recovery: dict[str, Any]) -> dict[str, int]:
    """What is left out, by reason."""
    return {each["reason"]: each["count"] for each in recovery["left_out"]}


async def test_a_stretch_takes_in_what_ended_and_has_something_to_run_again(desk: RecoveryDesk) -> None:
    desk.planned()
    later = desk.dead(at=NIGHT + DAY)
    dead = desk.dead()
    half = desk.completed(HOURLY, NIGHT, refused=1)
    desk.completed(HOURLY, NIGHT + HOUR)
    batch = desk.completed(BATCH, NIGHT, unfinished=2)
    desk.completed(BATCH, NIGHT + HOUR)
    not_selected = desk.completed(BATCH, NIGHT + 2 * HOUR, done=0, selected_all=False)
    desk.hand.occurrence(HOURLY, NIGHT + 2 * HOUR)
    desk.dead(at=NIGHT - DAY)
    desk.dead(at=NIGHT + 3 * DAY)
    desk.dead(GONE)
    desk.dead(HOURLY, NIGHT + 5 * HOUR, discarded_at=NIGHT, discarded_by="o.lind", discard_reason="Old")
    made = await desk.make()
    shown = await desk.shown(made)
    assert [(row.number, row.key, row.row_version) for row in shown.rows] == [
        (1, batch, 1),
        (2, half, 1),
        (3, dead, 1),
        (4, not_selected, 1),
        (5, later, 1),
    ]
    assert counts(made) == {"not-ended": 1, "discarded": 1, "all-done": 2, "unrunnable": 1}
    assert made["words"] == "replay every schedule, 28 Nov 00:00 to 30 Nov 00:00 UTC"
    assert made["count"] == 5
    left = await desk.left_out(made)
    assert left[f"{HOURLY}@2026-11-28T03:00:00Z"] == ("not-ended", "It has not ended: it is scheduled.")
    assert left[f"{HOURLY}@2026-11-28T02:00:00Z"][0] == "all-done"
    assert left[f"{BATCH}@2026-11-28T02:00:00Z"][0] == "all-done"
    assert "No record of this deployment runs r.gone" in left[f"{GONE}@2026-11-28T01:00:00Z"][1]
    assert made["state"] == "open"
    assert made["confirm_by"] is None
    assert made["account"] == []
    assert shown.rows[2].items is not None
    assert shown.rows[2].items.failed == 2
    assert shown.rows[2].items.unfinished == 0
    assert [(each["schedule"], each["count"]) for each in made["schedules"]] == [(BATCH, 2), (HOURLY, 1), (NIGHTLY, 2)]
    assert desk.rows("select action, person, detail ->> 'reason' from jobs.audit") == [
        ("make-recovery", "o.lind", "A missed night")
    ]


@pytest.mark.requirement("MONEY-1", "audit-manual-replay")
async def test_what_moves_money_goes_in_for_finance_alone_and_the_rest_for_operators(desk: RecoveryDesk) -> None:
    desk.planned()
    money = desk.dead(MONEY)
    plain = desk.dead()
    theirs = await desk.make()
    assert [row.key for row in (await desk.shown(theirs)).rows] == [plain]
    assert (counts(theirs), theirs["moves"], theirs["confirm_by"]) == ({"money": 1}, "nothing", None)
    assert (await desk.left_out(theirs))[f"{MONEY}@2026-11-28T01:00:00Z"] == (
        "money",
        "r.release moves money: a person with payout.release (finance) replays it.",
    )
    finance = await desk.make(person="m.ito")
    shown = await desk.shown(finance, "m.ito")
    assert [(row.key, row.moves) for row in shown.rows] == [(money, "money")]
    # The plain one is in the operator's open recovery: that is told before who may have it.
    assert (counts(finance), finance["moves"], finance["confirm_by"]) == ({"in-recovery": 1}, "money", "totp")
    await desk.steer("drop", theirs)
    await desk.steer("drop", finance, "m.ito")
    again = await desk.make(person="k.rao", occurrences=(plain, money))
    assert (counts(again), again["count"]) == ({"permission": 1}, 1)
    assert "(operator) replays it" in (await desk.left_out(again))[f"{NIGHTLY}@2026-11-28T01:00:00Z"][1]


@pytest.mark.parametrize("person", ["s.audit", "s.bell", "p.push", "a.admin"])
async def test_nobody_else_makes_one(desk: RecoveryDesk, person: str) -> None:
    desk.planned()
    desk.dead()
    await refused_with(ErrorCode.PERMISSION_MISSING, desk.make(person=person))
    assert desk.rows("select outcome, person from jobs.audit where action = 'make-recovery'") == [("refused", person)]
    assert desk.rows("select count(*) from jobs.recoveries") == [(0,)]


async def test_a_run_that_is_its_own_item_and_never_came_to_its_end_is_one_item_not_done(desk: RecoveryDesk) -> None:
    """One that selects items has none yet."""
    desk.planned()
    nothing: dict[str, Any] = {"done": 0, "failed": 0, "cause": "worker-lost"}
    itself, selects = desk.dead(**nothing), desk.dead(MONEY, **nothing)
    of_itself = await desk.shown(await desk.make(occurrences=(itself,)))
    of_plans = await desk.shown(await desk.make(person="k.rao", occurrences=(selects,)))
    assert [row.items and row.items.unfinished for row in (*of_itself.rows, *of_plans.rows)] == [1, 0]


async def test_what_is_named_goes_in_though_a_stretch_leaves_it_out(desk: RecoveryDesk, clock: Clock) -> None:
    """Done to the last item, or put away: a person who names it wants it. Two names of one thing are one row."""
    desk.planned()
    desk.planned(GONE, floor_at=NIGHT)
    done, away = desk.completed(), desk.dead(HOURLY, discarded_at=NIGHT, discarded_by="o.lind", discard_reason="Old")
    passed = desk.dead(GONE, NIGHT - HOUR)  # retention is past it, and did not come to remove it yet
    made = await desk.make(
        occurrences=(
            done,
            f"{NIGHTLY}@2026-11-28T02:00:00+01:00",
            away,
            f"{HOURLY}@2026-11-28T09:00:00Z",
            f"{GONE}@2026-11-28T01:00:00Z",
            passed,
            "no name at all",
            "01234567-89ab-7cde-8f01-23456789abcd",
        )
    )
    assert {row.key for row in (await desk.shown(made)).rows} == {done, away}
    left = await desk.left_out(made)
    assert {name: reason for name, (reason, _) in left.items()} == {
        f"{HOURLY}@2026-11-28T09:00:00Z": "unknown",
        f"{GONE}@2026-11-28T01:00:00Z": "removed",
        f"{GONE}@2026-11-28T00:00:00Z": "removed",
        "no name at all": "unknown",
        "01234567-89ab-7cde-8f01-23456789abcd": "unknown",
    }
    assert made["command"] == (
        f"jobconsole recoveries replay --occurrence {done} --occurrence {NIGHTLY}@2026-11-28T02:00:00+01:00 --occurrence"
        f" {away} --occurrence {HOURLY}@2026-11-28T09:00:00Z --occurrence {GONE}@2026-11-28T01:00:00Z --occurrence"
        f" {passed} --occurrence 'no name at all' --occurrence 01234567-89ab-7cde-8f01-23456789abcd --reason 'A missed night'"
    )


@pytest.mark.parametrize("act", ["requeue", "discard"])
async def test_dead_letters_are_found_by_schedule_cause_and_stretch(desk: RecoveryDesk, act: str) -> None:
    desk.planned()
    wanted = desk.dead(HOURLY, cause="over-bound")
    desk.dead(HOURLY, NIGHT + HOUR, cause="failed")
    desk.dead(HOURLY, NIGHT + 9 * DAY, cause="over-bound")
    desk.dead(NIGHTLY, cause="over-bound")
    whole = desk.completed(HOURLY, NIGHT + 2 * HOUR, refused=2)
    made = await desk.make(act, schedules=(HOURLY,), causes=("over-bound",), until=UNTIL)
    assert [row.key for row in (await desk.shown(made)).rows] == [wanted]
    assert made["left_out"] == []
    await desk.steer("drop", made)
    named = await desk.make(act, occurrences=(wanted, whole))
    assert counts(named) == {"not-dead": 1}
    assert (await desk.left_out(named))[f"{HOURLY}@2026-11-28T03:00:00Z"][1] == (
        f"It is completed, and only a dead letter can be {act.rstrip('e')}ed."
    )


async def test_discarding_asks_for_no_record_and_moves_no_money(desk: RecoveryDesk) -> None:
    """What nothing could run any more is what is discarded; and finance, which may not discard, gets none of it."""
    desk.planned(MONEY, disabled_at=NIGHT, disabled_by="o.lind", disabled_reason="Off")
    desk.dead(GONE)
    desk.dead(MONEY)
    made = await desk.make("discard")
    assert (made["count"], made["moves"], made["left_out"]) == (2, "nothing", [])
    await desk.steer("drop", made)
    refusal = await refused_with(ErrorCode.PLAN_EMPTY, desk.make("discard", "m.ito"))
    assert refusal.extra["left_out"] == [{"reason": "permission", "count": 2}]
    assert refusal.detail == "Nothing can go into the recovery: 2 for others, as no money moves."


async def test_a_disabled_schedule_is_left_out_with_who_and_why(desk: RecoveryDesk, clock: Clock) -> None:
    ends = desk.hand.now + HOUR
    desk.planned(NIGHTLY, disabled_at=NIGHT, disabled_by="k.rao", disabled_reason="It floods the bank")
    desk.planned(HOURLY, disabled_at=NIGHT, disabled_by="k.rao", disabled_reason="x", disabled_until=ends)
    desk.dead()
    desk.dead(HOURLY)
    refusal = await refused_with(ErrorCode.PLAN_EMPTY, desk.make())
    assert refusal.extra["left_out"] == [{"reason": "disabled", "count": 2}]
    clock.advance(3_600)
    made = await desk.make()
    assert (await desk.left_out(made)) == {
        f"{NIGHTLY}@2026-11-28T01:00:00Z": (
            "disabled",
            f"{NIGHTLY} was disabled by Kiran Rao: It floods the bank.",
        )
    }


async def test_skipped_instants_go_in_only_where_they_are_asked_for(desk: RecoveryDesk) -> None:
    """By the rhythm, those of the stretch; not one that became an occurrence; never what clock or retention left out."""
    desk.planned()
    desk.skipped(SINCE - 2 * HOUR, SINCE + 2 * HOUR, 5)
    desk.skipped(NIGHT + 5 * HOUR, NIGHT + 5 * HOUR, 1, policy="retention")
    desk.skipped(NIGHT + 6 * HOUR, NIGHT + 6 * HOUR, 1, policy="skipped-hour")
    desk.skipped(NIGHT + 7 * HOUR, NIGHT + 8 * HOUR, 5)
    desk.skipped(NIGHT, NIGHT, 1, GONE)
    desk.skipped(NIGHT, NIGHT, 1, MONEY)
    made_before = desk.completed(HOURLY, SINCE + HOUR)
    dead = desk.dead()
    without = await desk.make()
    assert [row.key for row in (await desk.shown(without)).rows] == [dead]
    assert counts(without) == {"skipped": 2, "unrunnable": 7, "all-done": 1}
    await desk.steer("drop", without)
    made = await desk.make(skipped=True)
    rows = (await desk.shown(made)).rows
    assert [(row.key, row.target, row.state) for row in rows] == [
        (f"{HOURLY}@2026-11-28T00:00:00Z", "skipped-instant", None),
        (dead, "occurrence", "dead-letter"),
        (f"{HOURLY}@2026-11-28T02:00:00Z", "skipped-instant", None),
    ]
    assert counts(made) == {"unrunnable": 7, "all-done": 1}
    assert made_before not in {row.key for row in rows}
    assert any("another one since" in sentence for _, sentence in (await desk.left_out(made)).values())


async def test_a_row_is_in_one_recovery_at_a_time(desk: RecoveryDesk, clock: Clock) -> None:
    desk.planned()
    dead = desk.dead()
    first = await desk.make()
    refusal = await refused_with(ErrorCode.PLAN_EMPTY, desk.make())
    assert refusal.extra["left_out"] == [{"reason": "in-recovery", "count": 1}]
    other = desk.dead(at=NIGHT + DAY)
    second = await desk.make()
    assert (await desk.left_out(second))[f"{NIGHTLY}@2026-11-28T01:00:00Z"][1] == (
        f"It is in recovery {first['name']}, which is not over yet."
    )
    assert [row.key for row in (await desk.shown(second)).rows] == [other]
    clock.advance(1_801)
    assert (await desk.shown(first)).recovery.state is RecoveryState.EXPIRED
    third = await desk.make()
    assert [row.key for row in (await desk.shown(third)).rows] == [dead, other]


async def test_disabling_many_freezes_the_versions_of_schedules(desk: RecoveryDesk) -> None:
    desk.planned(NIGHTLY, version=9, switched=7)
    desk.planned(MONEY, version=9, switched=3)
    desk.planned(HOURLY, disabled_at=NIGHT, disabled_by="k.rao", disabled_reason="Noise.")
    desk.planned(GONE, retired_at=NIGHT)
    until = desk.hand.now + DAY
    made = await desk.make("disable", schedules=(NIGHTLY, MONEY, HOURLY, GONE, "r.batch", NIGHTLY), disable_until=until)
    shown = await desk.shown(made)
    assert [(row.number, row.key, row.row_version, row.moves) for row in shown.rows] == [
        (1, NIGHTLY, 7, "nothing"),
        (2, MONEY, 3, "nothing"),
    ]
    assert counts(made) == {"disabled": 1, "unrunnable": 1, "unknown": 1}
    assert shown.recovery.disable_until == until
    left = await desk.left_out(made)
    assert left[HOURLY][1] == "r.hourly was already disabled by Kiran Rao: Noise."
    await refused_with(ErrorCode.PLAN_EMPTY, desk.make("disable", "m.ito", schedules=(NIGHTLY,)))


async def test_a_set_that_is_too_large_leaves_nothing_behind(desk: RecoveryDesk) -> None:
    small = desk.with_settings(recovery_max_items=2)
    small.planned()
    for hour in range(3):
        small.dead(HOURLY, NIGHT + hour * HOUR)
    refusal = await refused_with(ErrorCode.PLAN_TOO_LARGE, small.make())
    assert "More than 2 things are in the set; a recovery has 2 at most" in refusal.detail
    assert small.rows("select (select count(*) from jobs.recoveries), (select count(*) from jobs.recovery_rows)") == [
        (0, 0)
    ]
    small.skipped(NIGHT + 5 * HOUR, NIGHT + 9 * HOUR, 5)
    await refused_with(ErrorCode.PLAN_TOO_LARGE, small.make(schedules=(HOURLY,), skipped=True))
    made = await small.make(until=NIGHT + 2 * HOUR)
    assert made["count"] == 2


async def test_a_person_has_three_open_ones_at_most_even_where_many_ask_at_once(desk: RecoveryDesk) -> None:
    desk.planned()
    for hour in range(6):
        desk.dead(HOURLY, NIGHT + hour * HOUR)
    stretches = [(NIGHT + hour * HOUR, NIGHT + (hour + 1) * HOUR) for hour in range(6)]
    made = await asyncio.gather(
        *(desk.make(since=since, until=until) for since, until in stretches), return_exceptions=True
    )
    refusals = [each for each in made if isinstance(each, Refusal)]
    assert len(refusals) == 3
    assert {each.kind for each in refusals} == {ErrorCode.PLANS_MAX}
    assert desk.rows("select count(*) from jobs.recoveries") == [(3,)]
    assert "You have 3 open recoveries" in refusals[0].detail


async def test_the_same_request_makes_one(desk: RecoveryDesk) -> None:
    desk.planned()
    desk.dead()
    request = once()
    first, again = await desk.making(request=request), await desk.making(request=request)
    assert (first.status, again.replayed, again.body) == (201, True, first.body)
    assert desk.rows("select count(*) from jobs.recoveries") == [(1,)]


async def test_what_is_taken_out_freezes_the_rest_anew(desk: RecoveryDesk) -> None:
    desk.planned()
    keys = [desk.dead(HOURLY, NIGHT + hour * HOUR) for hour in range(4)]
    made = await desk.make()
    before = desk.digest(made)
    await refused_with(ErrorCode.PERMISSION_MISSING, desk.take_out(made, keys[:1], "k.rao"))
    await refused_with(ErrorCode.NOT_FOUND, desk.take_out(made, [keys[0], "stranger"]))
    await refused_with(ErrorCode.PLAN_EMPTY, desk.take_out(made, keys))
    assert desk.digest(made) == before
    assert (await desk.shown(made)).recovery.count == 4
    taken = await desk.take_out(made, [keys[1], keys[0], keys[0]])
    assert [(row.number, row.key) for row in (await desk.shown(made)).rows] == [(1, keys[2]), (2, keys[3])]
    assert (taken["edition"], taken["count"], counts(taken)) == (2, 2, {"taken-out": 2})
    assert desk.digest(made) != before
    assert [reason for reason, _ in (await desk.left_out(made)).values()] == ["taken-out"] * 2


async def test_its_owner_drops_it_and_nobody_else(desk: RecoveryDesk) -> None:
    desk.planned()
    desk.dead()
    made = await desk.make()
    await refused_with(ErrorCode.PERMISSION_MISSING, desk.steer("drop", made, "m.ito"))
    dropped = await desk.steer("drop", made)
    assert (dropped["state"], dropped["why"], dropped["ended_by"]["id"]) == ("dropped", "To drop", "o.lind")
    await refused_with(ErrorCode.PLAN_STATE, desk.steer("drop", made))
    await refused_with(ErrorCode.PLAN_STATE, desk.take_out(made, ["x"]))
    assert desk.rows("select action from jobs.audit where outcome = 'done' order by id") == [
        ("make-recovery",),
        ("drop-recovery",),
    ]
    assert desk.rows("select topic, ref from jobs.hints where topic = 'recovery'") == [("recovery", made["id"])] * 2


async def test_a_stretch_that_is_none_and_a_time_that_has_passed_are_refused(desk: RecoveryDesk) -> None:
    desk.planned()
    await refused_with(ErrorCode.INVALID_REQUEST, desk.make(since=UNTIL, until=SINCE))
    await refused_with(ErrorCode.INVALID_REQUEST, desk.make("disable", schedules=(NIGHTLY,), disable_until=NIGHT))


async def test_another_tenant_sees_and_changes_nothing(desk: RecoveryDesk) -> None:
    desk.planned()
    desk.dead()
    made = await desk.make()
    theirs = await recovery_reading.list_recoveries(
        desk.service, desk.actor("g.fin"), live=False, behind=None, limit=10
    )
    assert theirs.recoveries == ()
    await refused_with(ErrorCode.NOT_FOUND, desk.shown(made, "g.fin"))
    await refused_with(ErrorCode.NOT_FOUND, desk.confirm(made, "g.fin"))
    await refused_with(ErrorCode.NOT_FOUND, desk.shown(made, "s.bell"))
    await refused_with(ErrorCode.PERMISSION_MISSING, desk.shown(made, "a.admin"))


async def test_the_list_goes_page_by_page_the_latest_first(desk: RecoveryDesk) -> None:
    desk.planned()
    made = []
    for hour in range(3):
        desk.dead(HOURLY, NIGHT + hour * HOUR)
        made.append(await desk.make())
    await desk.steer("drop", made[1])
    actor = desk.actor("s.audit")
    first = await recovery_reading.list_recoveries(desk.service, actor, live=False, behind=None, limit=2)
    rest = await recovery_reading.list_recoveries(desk.service, actor, live=False, behind=first.last, limit=2)
    assert [each.id for each in (*first.recoveries, *rest.recoveries)] == [each["id"] for each in reversed(made)]
    live = await recovery_reading.list_recoveries(desk.service, actor, live=True, behind=None, limit=10)
    assert [each.id for each in live.recoveries] == [made[2]["id"], made[0]["id"]]
