"""Decisions about one turn: what an outcome makes of it, why one did not begin, and an account that adds up."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobcontract.states import ItemState, OutcomeKind, PlanState, Turn
from jobservice.application import Outcome, done, failed, refused, retry, uncertain
from jobservice.rules.items import Content, Payment, Version
from jobservice.rules.turns import (
    Count,
    Found,
    Frozen,
    Why,
    account_text,
    asked,
    ending,
    not_begun,
    outward_key,
    seconds_until,
)

pytestmark = pytest.mark.requirement("MONEY-4")
PAYMENT = Payment(minor=1_000, currency="GBP", payee_id="s-1", payee_name="A Ltd", account="GB29NWBK60161331926819")
CONTENT = Content(title="Roof", payment=PAYMENT, inputs={})
FROZEN = Frozen(item="i-1", number=1, key="K-1", content=CONTENT, money_version=3, fence=2, account_mark="m")
VERSION = Version(number=3, state=ItemState.OPEN, set_aside_until=None, content=CONTENT)
FOUND = Found(
    plan_state=PlanState.APPLYING,
    plan_ours=True,
    window_open=True,
    stopped=None,
    owner="m.ito",
    frozen=FROZEN,
    turn=Turn.NOT_STARTED,
    version=VERSION,
    closed=False,
    held=True,
    pushed_by="p.push",
    payment_changed_by=None,
)


@pytest.mark.parametrize(
    ("outcome", "turn"),
    [
        (done("Paid.", reference="B-1"), Turn.DONE),
        (refused("No."), Turn.REFUSED),
        (failed("Broken."), Turn.FAILED),
        (uncertain("Who knows.", reference="k"), Turn.UNCERTAIN),
        (retry("Later.", after_seconds=7), Turn.WAITING),
    ],
)
def test_each_outcome_is_one_turn(outcome: Outcome, turn: Turn) -> None:
    told = ending(outcome, attempts=1, most=3)
    assert (told.turn, told.sentence, told.reference) == (turn, outcome.sentence, outcome.reference)
    assert told.after_seconds == (7 if turn is Turn.WAITING else None)


@pytest.mark.parametrize(("attempts", "turn"), [(1, Turn.WAITING), (2, Turn.WAITING), (3, Turn.FAILED)])
def test_a_retry_is_capped_and_then_failed(attempts: int, turn: Turn) -> None:
    told = ending(retry("Busy.", after_seconds=5), attempts=attempts, most=3)
    assert told.turn is turn
    assert ("3 attempts" in told.sentence) is (turn is Turn.FAILED)


@pytest.mark.parametrize(("seconds", "kept"), [(0, 1), (-5, 1), (10**9, 86_400)])
def test_a_retry_waits_neither_no_time_nor_for_ever(seconds: float, kept: float) -> None:
    assert ending(retry("Busy.", after_seconds=seconds), attempts=1, most=3).after_seconds == kept


def test_a_sentence_or_reference_that_cannot_be_kept_is_not_kept() -> None:
    told = ending(done("a\0b", reference="\ud800"), attempts=1, most=3)
    assert (told.sentence, told.reference) == ("The application's sentence cannot be shown.", None)
    assert len(ending(done("x" * 9_999), attempts=1, most=3).sentence) == 4_000


@pytest.mark.requirement("MONEY-3")
@pytest.mark.parametrize("answer", [None, retry("Busy.", after_seconds=1), failed("?"), uncertain("?", reference="k")])
def test_only_done_and_refused_settle_what_became_of_a_call(answer: Outcome | None) -> None:
    assert asked(answer, "it was lost.").kind is OutcomeKind.UNCERTAIN
    assert asked(done("It has it."), "").kind is OutcomeKind.DONE
    assert asked(refused("No."), "").kind is OutcomeKind.REFUSED


WHYS: list[tuple[dict[str, Any], Why, str]] = [
    ({"plan_ours": False, "plan_state": PlanState.PAUSED}, Why.LOST, "Another Worker"),
    ({"plan_state": PlanState.PAUSED}, Why.HALTED, "paused"),
    ({"window_open": False}, Why.HALTED, "over"),
    ({"stopped": "A fraud"}, Why.HALTED, "A fraud"),
    ({"turn": Turn.DONE}, Why.PASSED, "done"),
    ({"frozen": replace(FROZEN, fence=9)}, Why.FORGED, "Row 1"),
    ({"closed": True, "version": replace(VERSION, state=ItemState.REJECTED)}, Why.REFUSED, "rejected"),
    ({"version": replace(VERSION, number=4)}, Why.REFUSED, "version 3 → 4"),
    ({"held": False}, Why.REFUSED, "does not hold"),
    ({"pushed_by": "m.ito"}, Why.REFUSED, "pushed it"),
    ({"payment_changed_by": "m.ito"}, Why.REFUSED, "last to change"),
]


@pytest.mark.requirement("MONEY-18")
@pytest.mark.parametrize(("changed", "why", "words"), WHYS)
def test_a_turn_that_did_not_begin_says_why(changed: dict[str, Any], why: Why, words: str) -> None:
    told = not_begun(FROZEN, replace(FOUND, **changed), largest=5_000)
    assert told.why is why
    assert words in told.sentence


@pytest.mark.requirement("MONEY-10")
@pytest.mark.parametrize(("largest", "words"), [(999, "GBP 10.00 is more than the GBP 9.99"), (None, "no limits")])
def test_the_largest_item_is_compared_again(largest: int | None, words: str) -> None:
    assert words in not_begun(FROZEN, FOUND, largest=largest).sentence


@pytest.mark.requirement("MONEY-18")
def test_a_change_is_told_as_before_and_after_and_no_account_whole() -> None:
    other = replace(PAYMENT, minor=9_900, account="GB00OTHER00000000006819")
    version = replace(VERSION, number=4, content=replace(CONTENT, payment=other))
    told = not_begun(FROZEN, replace(FOUND, version=version), largest=99_999).sentence
    assert "amount GBP 10.00 → GBP 99.00" in told
    assert "account …6819 → …6819 (another account)" in told
    assert PAYMENT.account not in told


counts = st.lists(
    st.builds(
        Count,
        turn=st.sampled_from(list(Turn)),
        currency=st.sampled_from(["GBP", "JPY", "KWD"]),
        items=st.integers(1, 50_000),
        out_minor=st.integers(0, 10**12),
        back_minor=st.integers(0, 10**12),
    ),
    min_size=1,
    unique_by=lambda count: (count.turn, count.currency),
)


@given(counts)
def test_the_account_in_words_has_every_item_once(made: list[Count]) -> None:
    planned, *turns = account_text(tuple(made)).splitlines()
    items = [int(line.partition(": ")[2].partition(" item")[0].replace(",", "")) for line in turns]
    assert sum(items) == sum(count.items for count in made)
    assert planned.startswith(f"Planned: {sum(items):,} item{'' if sum(items) == 1 else 's'}, ")
    assert len(turns) == len({count.turn for count in made})


def test_what_comes_back_is_never_netted() -> None:
    count = Count(turn=Turn.DONE, currency="GBP", items=2, out_minor=1_000, back_minor=1_000)
    assert account_text((count,)).splitlines()[1] == "Done: 2 items, GBP 10.00 out, GBP 10.00 back"
    assert account_text((replace(count, items=1),)).splitlines()[1].startswith("Done: 1 item, ")


def test_an_item_has_one_outward_key() -> None:
    assert FROZEN.outward_key == outward_key("i-1") == "jc-i-1"


def test_an_instant_that_has_passed_is_now() -> None:
    now = datetime(2026, 3, 10, tzinfo=UTC)
    assert [seconds_until(each, now) for each in (None, now - timedelta(1), now + timedelta(seconds=3))] == [0, 0, 3]
