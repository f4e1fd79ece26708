"""Twins of recoveries, stops and alarms: what is made says how it is confirmed, confirming reads every row, a code is never
an argument, and what is wrong is said before anything is sent."""

from __future__ import annotations

import pytest

from jobconsole.client.fake import FakeService
from jobconsole.present.recovery_command import order_of
from jobcontract.operating import AlarmKind, RecoveryState, StopScope
from jobcontract.states import Turn
from tests.cli.twins import Typed
from tests.screens.recovery_stage import OLLE, made, night

pytestmark = pytest.mark.requirement("audit-manual-replay", "provide-operational-recovery-procedures")


def at_night(typed: Typed, *, money: bool = False) -> tuple[Typed, FakeService]:
    """The command line in front of the night that went wrong."""
    fake = night(money=money)
    return Typed(fake=fake, patch=typed.patch, folder=typed.folder), fake


def test_a_replay_is_made_shown_confirmed_and_watched(typed: Typed) -> None:
    twins, fake = at_night(typed)
    day = ("--from", "2026-03-02", "--to", "2026-03-02 09:00")
    result = twins("recoveries", "replay", "--schedule", "statements.nightly", *day, "--reason", "x", person="o.lind")
    assert result.exit_code == 0, result.output
    assert "Replay 7 occurrences of statements.nightly" in result.output
    assert "To confirm it: jobconsole recoveries confirm tern-42" in result.output
    assert order_of(made(fake).command) == made(fake).order
    rows = twins("recoveries", "show", "tern-42", "--rows", person="o.lind").output
    assert "3 of 23 not done" in rows
    key = made(fake).rows[0].key
    assert twins("recoveries", "take-out", "tern-42", key, person="o.lind").exit_code == 0
    assert "taken out" in twins("recoveries", "show", "tern-42", "--left-out", person="o.lind").output
    confirmed = twins("recoveries", "confirm", "tern-42", person="o.lind")
    assert confirmed.exit_code == 0, confirmed.output
    assert "6 of 6 rows read." in confirmed.stderr
    for verb, state in (("pause", "paused"), ("resume", "applying")):
        assert f"{state}" in twins("recoveries", verb, "tern-42", "--reason", "why not", person="o.lind").output
    while fake.recoveries.step(made(fake), Turn.DONE):
        pass
    watched = twins("recoveries", "watch", "tern-42", person="o.lind")
    assert (watched.exit_code, "6 of 6" in watched.stderr) == (0, True)
    assert "tern-42" in twins("recoveries", person="o.lind").output


@pytest.mark.requirement("MONEY-1")
def test_money_takes_a_code_that_is_never_an_argument(typed: Typed) -> None:
    twins, fake = at_night(typed, money=True)
    made_by = twins("recoveries", "requeue", "--reason", "the bank is back")
    assert "which asks for the six digits from your phone" in made_by.output
    refused = twins("recoveries", "confirm", "tern-42", "123456")
    assert refused.exit_code == 2
    assert "123456" not in refused.output + refused.stderr
    wrong = twins("recoveries", "confirm", "tern-42", "--code", "-", stdin="999999\n")
    assert (wrong.exit_code, "That code is not right" in wrong.stderr) == (1, True)
    right = twins("recoveries", "confirm", "tern-42", "--code", "-", stdin=f"{fake.bulk.codes.fresh('m.ito')}\n")
    assert right.exit_code == 0, right.stderr
    assert made(fake).state is RecoveryState.APPLYING


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("replay", "--reason", "x"), 2, "say from when"),
        (("replay", "--from", "yesterday", "--occurrence", "a@b", "--reason", "x"), 2, "not both"),
        (("replay", "--from", "soonish", "--reason", "x"), 2, "is not a time"),
        (("disable", "--reason", "x"), 2, "name the schedules"),
        (("disable", "--schedule", "t.x", "--until", "yesterday", "--reason", "x"), 2, "in the past"),
        (("discard", "--schedule", "none.such", "--reason", "x"), 1, "Nothing can go into"),
        (("confirm", "nobody-1"), 2, "There is no recovery nobody-1"),
    ],
)
def test_what_is_wrong_is_said(typed: Typed, words: tuple[str, ...], code: int, sentence: str) -> None:
    twins, fake = at_night(typed)
    result = twins("recoveries", *words, person="o.lind")
    assert result.exit_code == code, result.output
    assert sentence in result.output + result.stderr
    assert not fake.recoveries.all


@pytest.mark.requirement("MONEY-20")
def test_stops_are_listed_set_and_lifted_and_alarms_acknowledged(typed: Typed) -> None:
    twins, fake = at_night(typed)
    assert "Nothing is stopped." in twins("stops").output
    assert "drill" in twins("stops", "stop", "queue", "payments.payouts", "--reason", "drill").output
    fake.stops.put(StopScope.BULK_COMMAND, "payments.release-many", OLLE, "wrong accounts")
    lifted = ("stops", "lift", "bulk-command", "payments.release-many", "--reason", "they are right", "--code", "-")
    assert twins(*lifted, person="m.ito", stdin="000000\n").exit_code == 1
    assert twins(*lifted, person="m.ito", stdin=f"{fake.bulk.codes.fresh('m.ito')}\n").exit_code == 0
    assert twins("stops", "lift", "queue", "payments.payouts", "--reason", "over", person="o.lind").exit_code == 0
    assert not fake.stops.stops
    alarm = fake.alarms.add(AlarmKind.LATE, "statements.nightly", "Late by 12 min.")
    assert "nobody" in twins("alarms").output
    assert "on it" in twins("alarms", "acknowledge", alarm, "--note", "on it", person="o.lind").output
    fake.alarms.clear(alarm)
    over = twins("alarms", "acknowledge", alarm, "--note", "late", person="o.lind")
    assert (over.exit_code, "alarm-cleared" in over.stderr) == (1, True)
