"""Decisions about plans: names, how many, how large, who may change one, what is said of an empty set."""

from __future__ import annotations

import secrets

import pytest

from jobcontract.errors import ErrorCode
from jobcontract.ids import is_slug
from jobcontract.states import Exclusion, PlanState
from jobservice.rules.claims import Allowed, Denied
from jobservice.rules.plans import (
    NAMES_TRIED,
    decide_change,
    decide_count,
    decide_size,
    nothing_left,
    plan_name,
)

pytestmark = pytest.mark.requirement("MONEY-6")


def kind(decision: Allowed | Denied) -> ErrorCode | None:
    return decision.kind if isinstance(decision, Denied) else None


@pytest.mark.requirement("MONEY-9")
def test_names_can_be_said_aloud_and_become_longer_where_many_are_taken() -> None:
    below = secrets.randbelow
    for attempt in range(NAMES_TRIED):
        name = plan_name(attempt, below)
        assert is_slug(name)
        assert len(name.partition("-")[2]) == 2 + attempt // 4
    assert plan_name(0, lambda _: 0) == "auk-10"
    assert plan_name(0, lambda most: most - 1) == "yellowhammer-99"
    assert len({plan_name(0, below) for _ in range(200)}) > 150


def test_as_many_open_plans_as_the_setting_says() -> None:
    assert decide_count(["lark-42"] * 2, 3) == Allowed()
    denied = decide_count(["lark-42", "wren-10", "owl-77"], 3)
    assert kind(denied) is ErrorCode.PLANS_MAX
    assert isinstance(denied, Denied)
    assert "lark-42, wren-10, owl-77" in denied.sentence


@pytest.mark.parametrize(
    ("count", "exact", "said"), [(50_001, True, "50,001 items"), (50_001, False, "More than 50,000")]
)
def test_one_item_too_many_is_refused_with_count_and_setting(count: int, exact: bool, said: str) -> None:
    assert decide_size(50_000, 50_000, exact=exact) == Allowed()
    denied = decide_size(count, 50_000, exact=exact)
    assert isinstance(denied, Denied)
    assert (denied.kind, said in denied.sentence, "plan.max-items" in denied.sentence) == (
        ErrorCode.PLAN_TOO_LARGE,
        True,
        True,
    )


def test_only_its_owner_changes_an_open_plan() -> None:
    for state in PlanState:
        own = kind(decide_change("lark-42", "m.ito", state, actor="m.ito"))
        assert own is (None if state is PlanState.OPEN else ErrorCode.PLAN_STATE)
        assert kind(decide_change("lark-42", "m.ito", state, actor="k.rao")) is ErrorCode.PERMISSION_MISSING


def test_every_reason_has_words() -> None:
    assert nothing_left({}).startswith("Nothing that waits matches")
    told = nothing_left(dict.fromkeys(Exclusion, 1_234))
    assert told.count("1,234") == len(Exclusion)
    assert nothing_left({Exclusion.HELD: 2, Exclusion.CLOSED: 1}) == (
        "Nothing can go into the plan: 1 closed, 2 held by others."
    )
