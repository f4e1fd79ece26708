"""What is decided and said about recoveries."""

from __future__ import annotations

import shlex
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from jobcontract.errors import ErrorCode
from jobcontract.operating import LeftOut, RecoveryAct, RecoveryState
from jobcontract.permissions import Permission
from jobcontract.recoveries import RecoveryOrder
from jobcontract.states import DeadCause, Moves
from jobservice.rules import recoveries as rules
from jobservice.rules import recovery_jobs
from jobservice.rules.claims import Allowed, Denied
from jobservice.rules.schedules import Confirmed
from tests.schedules import every, schedule

SINCE, UNTIL = datetime(2026, 11, 28, tzinfo=UTC), datetime(2026, 11, 30, tzinfo=UTC)
PLAIN = schedule("s.plain", every(3_600))
MONEY = schedule("s.money", every(3_600), selection=Confirmed(command="pay"))


def order(act: str = "replay", **given: Any) -> RecoveryOrder:
    return RecoveryOrder(act=RecoveryAct(act), **{"reason": "A missed night", **given})


@pytest.mark.requirement("MONEY-1")
@pytest.mark.parametrize("act", RecoveryAct)
def test_only_what_runs_money_again_moves_money(act: RecoveryAct) -> None:
    again = act in (RecoveryAct.REPLAY, RecoveryAct.REQUEUE)
    assert rules.moves_of(act, MONEY) is (Moves.MONEY if again else Moves.NOTHING)
    assert rules.moves_of(act, PLAIN) is Moves.NOTHING
    assert rules.moves_of(act, None) is Moves.NOTHING
    assert rules.permission_for(act, Moves.MONEY) is Permission.PAYOUT_RELEASE
    assert (
        rules.permission_for(act, Moves.NOTHING)
        is {
            RecoveryAct.REPLAY: Permission.OCCURRENCE_REPLAY,
            RecoveryAct.REQUEUE: Permission.OCCURRENCE_REPLAY,
            RecoveryAct.DISCARD: Permission.OCCURRENCE_DISCARD,
            RecoveryAct.DISABLE: Permission.SCHEDULE_DISABLE,
            RecoveryAct.RETRY: Permission.JOB_RETRY,
            RecoveryAct.CANCEL: Permission.JOB_CANCEL,
        }[act]
    )


@pytest.mark.parametrize("state", RecoveryState)
def test_only_its_owner_changes_it_and_only_while_it_is_open(state: RecoveryState) -> None:
    mine = rules.decide_change("lark-42", "o.lind", "Olle Lind", state, actor="o.lind")
    if state is RecoveryState.OPEN:
        assert isinstance(mine, Allowed)
    else:
        assert isinstance(mine, Denied)
        assert (mine.kind, mine.sentence) == (ErrorCode.PLAN_STATE, rules.state_sentence("lark-42", state))
    theirs = rules.decide_change("lark-42", "o.lind", "Olle Lind", state, actor="k.rao")
    assert isinstance(theirs, Denied)
    assert theirs.kind is ErrorCode.PERMISSION_MISSING
    assert "Olle Lind's" in theirs.sentence


def test_counts_and_sizes_are_inclusive() -> None:
    assert isinstance(rules.decide_count(["a", "b"], 3), Allowed)
    denied = rules.decide_count(["a", "b", "c"], 3)
    assert isinstance(denied, Denied)
    assert "You have 3 open recoveries (a, b, c) and may have 3." in denied.sentence
    assert isinstance(rules.decide_size(50_000, 50_000), Allowed)
    large = rules.decide_size(50_001, 50_000)
    assert isinstance(large, Denied)
    assert large.kind is ErrorCode.PLAN_TOO_LARGE


@pytest.mark.parametrize("act", [act for act in RecoveryAct if act not in recovery_jobs.JOB_ACTS])
@pytest.mark.parametrize("reason", [each for each in LeftOut if recovery_jobs.left_words(each) is None])
def test_every_reason_has_a_sentence_and_a_word(reason: LeftOut, act: RecoveryAct) -> None:
    left = rules.Left(
        name="n",
        schedule="s.plain",
        reason=reason,
        state="scheduled",
        disabled_by="Kiran",
        disabled_reason="Noise.",
        recovery="lark-42",
    )
    sentence = rules.left_sentence(left, act)
    assert sentence.endswith(".")
    assert ".." not in sentence
    assert "{" not in sentence
    counted = rules.nothing_left({reason: 1_234}, act)
    assert counted.startswith("Nothing can go into the recovery: 1,234 ")


def test_reasons_name_who_why_and_what() -> None:
    def told(reason: LeftOut, act: RecoveryAct = RecoveryAct.REPLAY, **given: Any) -> str:
        return rules.left_sentence(rules.Left(name="n", schedule="s.x", reason=reason, **given), act)

    assert told(LeftOut.MONEY) == "s.x moves money: a person with payout.release (finance) replays it."
    assert told(LeftOut.PERMISSION, RecoveryAct.DISCARD) == (
        "s.x moves no money: a person with occurrence.discard (operator) discards it."
    )
    assert told(LeftOut.DISABLED, disabled_by="Kiran", disabled_reason="Noise.") == "s.x was disabled by Kiran: Noise."
    assert told(LeftOut.DISABLED) == "s.x was disabled by somebody: no reason is known."
    assert told(LeftOut.IN_RECOVERY, recovery="lark-42") == "It is in recovery lark-42, which is not over yet."
    assert rules.nothing_left({}, RecoveryAct.REPLAY) == "Nothing is there to replay. Nothing can go into a recovery."


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            order(schedules=("statements.nightly",), since=SINCE, until=UNTIL),
            "replay statements.nightly, 28 Nov 00:00 to 30 Nov 00:00 UTC",
        ),
        (
            order(since=SINCE - timedelta(days=400), until=UNTIL + timedelta(seconds=5), skipped=True),
            "replay every schedule, 24 Oct 2025 00:00 to 30 Nov 2026 00:00:05 UTC, with skipped instants",
        ),
        (
            order("requeue", causes=(DeadCause.FAILED, DeadCause.CANCELLED)),
            "requeue every schedule, dead because of failed or cancelled",
        ),
        (order("discard", since=SINCE), "discard every schedule, from 28 Nov 2026 00:00 UTC"),
        (
            order("disable", schedules=("a", "b", "c", "d"), disable_until=UNTIL),
            "disable a, b, c and 1 more, until 30 Nov 2026 00:00 UTC",
        ),
        (order(occurrences=("x@2026-11-28T01:00:00Z",)), "replay x@2026-11-28T01:00:00Z"),
    ],
)
def test_an_order_in_words(given: RecoveryOrder, words: str) -> None:
    assert rules.order_words(given) == words


@settings(max_examples=80, deadline=None)
@given(
    reason=st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=30),
    names=st.lists(st.text(alphabet="ab'\" $;-", min_size=1, max_size=9), max_size=3),
    skipped=st.booleans(),
)
def test_the_command_says_the_whole_order_and_nothing_else(reason: str, names: list[str], skipped: bool) -> None:
    """Whatever was typed, a shell hands the very words on."""
    try:
        asked = order(reason=reason, schedules=tuple(names) or None, since=SINCE, until=UNTIL, skipped=skipped)
    except ValidationError:
        return
    words = shlex.split(rules.order_command(asked))
    expected = ["jobconsole", "recoveries", "replay"]
    for name in names:
        expected += ["--schedule", name]
    expected += ["--from", "2026-11-28T00:00:00Z", "--to", "2026-11-30T00:00:00Z"]
    expected += ["--skipped"] if skipped else []
    assert words == [*expected, "--reason", asked.reason]


def test_the_command_of_other_acts() -> None:
    given = order("disable", schedules=("a",), disable_until=UNTIL + timedelta(microseconds=1))
    assert rules.order_command(given) == (
        "jobconsole recoveries disable --schedule a --until 2026-11-30T00:00:00.000001Z --reason 'A missed night'"
    )
    given = order("discard", causes=(DeadCause.FAILED,))
    assert rules.order_command(given) == "jobconsole recoveries discard --cause failed --reason 'A missed night'"


def changed(**given: Any) -> rules.ChangedRow:
    base = {
        "number": 1,
        "key": "k",
        "name": "n",
        "state_before": "dead-letter",
        "state_now": "dead-letter",
        "version_before": 1,
        "version_now": 1,
        "disabled_by": None,
    }
    return rules.ChangedRow(**{**base, **given})


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (changed(version_now=2), ("version", "1", "2")),
        (changed(state_now="completed", version_now=3), ("state", "dead-letter", "completed")),
        (changed(state_now=None, version_now=None), ("state", "dead-letter", "removed")),
        (changed(disabled_by="Kiran"), ("schedule", "enabled", "disabled by Kiran")),
        (changed(disabled_by="Kiran", version_now=2), ("version", "1", "2")),
    ],
)
def test_a_change_is_told_by_what_says_most(row: rules.ChangedRow, said: tuple[str, str, str]) -> None:
    told = rules.told(row)
    assert (told.field, told.before, told.after) == said
    assert rules.changed_sentence([told], 1).startswith(f"1 row is not as the recovery shows: 1 n, {told.field}: ")


def test_money_that_waits_is_compared_by_currency() -> None:
    def held(currency: str, out: int, count: int) -> dict[str, Any]:
        return {"currency": currency, "exponent": 2, "out_minor": out, "count": count}

    assert rules.money_changes([held("GBP", 100, 1)], [held("GBP", 100, 1)]) == []
    changes = rules.money_changes([held("GBP", 100, 1), held("EUR", 5, 1)], [held("GBP", 100, 2), held("JPY", 7, 1)])
    assert [(each.item, each.before, each.after) for each in changes] == [
        ("EUR", "EUR 0.05 in 1", "nothing"),
        ("GBP", "GBP 1.00 in 1", "GBP 1.00 in 2"),
        ("JPY", "nothing", "JPY 7 in 1"),
    ]
