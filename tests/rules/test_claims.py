"""Decisions about claims, over every mode and any history: nobody acts on what another holds."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobcontract.errors import ErrorCode
from jobcontract.states import ClaimMode
from jobservice.rules.claims import (
    Allowed,
    Denied,
    Granted,
    Holding,
    Standing,
    decide_act,
    decide_break,
    decide_claim,
    decide_release,
    decide_renewal,
    decide_room,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LEASE, TOTAL = 60.0, 150.0
PEOPLE = ("a", "b", "c")
FREE = Holding(holder=None, holder_name=None, taken_at=None, expires_at=None, fence=3)

MODES = st.sampled_from(ClaimMode)
ACTORS = st.sampled_from(PEOPLE)
FENCES = st.none() | st.integers(min_value=1, max_value=8)


def held(by: str = "a", *, seconds: float = 30, fence: int = 3, taken: float = -30) -> Holding:
    """A claim that lapses so many seconds after NOW (before it, where negative)."""
    return Holding(
        holder=by,
        holder_name=by.upper(),
        taken_at=NOW + timedelta(seconds=taken),
        expires_at=NOW + timedelta(seconds=seconds),
        fence=fence,
    )


@st.composite
def holdings(draw: st.DrawFn) -> Holding:
    """Free, live, just lapsing, or lapsed."""
    fence = draw(st.integers(min_value=1, max_value=8))
    if draw(st.booleans()):
        return replace(FREE, fence=fence)
    seconds = draw(st.sampled_from([-3_600.0, -0.000_001, 0.0, 0.000_001, 3_600.0]))
    return held(draw(ACTORS), seconds=seconds, fence=fence)


def kind(decided: object) -> ErrorCode | None:
    return decided.kind if isinstance(decided, Denied) else None


@given(holdings(), ACTORS)
def test_an_item_is_free_mine_or_anothers_and_never_two_of_these(holding: Holding, actor: str) -> None:
    standing = holding.standing(actor, NOW)
    live = holding.live(NOW)
    assert (standing is Standing.FREE) == (not live)
    assert (standing is Standing.MINE) == (live and holding.holder == actor)
    assert (standing is Standing.OTHERS) == (live and holding.holder != actor)
    mine = [each for each in PEOPLE if holding.standing(each, NOW) is Standing.MINE]
    assert len(mine) == int(live), "one holder, or none"


@pytest.mark.requirement("state-the-claim-mode")
@given(MODES, holdings(), ACTORS, FENCES)
def test_who_may_act(mode: ClaimMode, holding: Holding, actor: str, carried: int | None) -> None:
    decided = decide_act(mode, holding, now=NOW, actor=actor, carried_fence=carried)
    standing = holding.standing(actor, NOW)
    own = standing is Standing.MINE and carried == holding.fence
    free = standing is Standing.FREE and carried is None
    expected = {
        ClaimMode.DISABLED: True,
        ClaimMode.OPTIONAL: own or free,
        ClaimMode.REQUIRED: own,
    }[mode]
    assert isinstance(decided, Allowed) == expected


@pytest.mark.requirement("state-the-claim-mode")
@given(st.sampled_from([ClaimMode.OPTIONAL, ClaimMode.REQUIRED]), holdings(), ACTORS, FENCES)
def test_nobody_acts_on_what_another_holds_and_is_told_who(
    mode: ClaimMode, holding: Holding, actor: str, carried: int | None
) -> None:
    if holding.standing(actor, NOW) is not Standing.OTHERS:
        return
    decided = decide_act(mode, holding, now=NOW, actor=actor, carried_fence=carried)
    assert isinstance(decided, Denied)
    assert decided.kind in (ErrorCode.CLAIM_HELD, ErrorCode.CLAIM_LOST)
    assert str(holding.holder_name) in decided.sentence


@given(st.lists(st.tuples(ACTORS, st.integers(min_value=0, max_value=200), st.sampled_from(["claim", "break"]))))
def test_fences_only_rise_and_one_person_holds_at_a_time(orders: list[tuple[str, int, str]]) -> None:
    """Any sequence of orders by anybody, at any pace, played as the store writes it."""
    holding, now = replace(FREE, fence=0), NOW
    for actor, wait, order in orders:
        now += timedelta(seconds=wait)
        before = holding
        if order == "claim":
            decided = decide_claim(ClaimMode.REQUIRED, holding, now=now, actor=actor, lease=LEASE, total=TOTAL)
        else:
            decided = decide_break(
                ClaimMode.REQUIRED,
                holding,
                now=now,
                actor=actor,
                carried_fence=holding.fence,
                lease=LEASE,
                total=TOTAL,
            )
        if isinstance(decided, Granted):
            assert order == "break" or not before.live(now), "a claim never takes what somebody holds"
            holding = Holding(
                holder=actor, holder_name=actor, taken_at=now, expires_at=decided.until, fence=holding.fence + 1
            )
            stale = decide_act(
                ClaimMode.REQUIRED, holding, now=now, actor=before.holder or "c", carried_fence=before.fence
            )
            assert isinstance(stale, Denied), "the claim before is worth nothing any more"
        assert holding.fence >= before.fence


@given(st.lists(st.integers(min_value=0, max_value=59), max_size=12))
def test_renewals_only_add_time_and_never_pass_the_cap(waits: list[int]) -> None:
    now, holding = NOW, held(seconds=LEASE, taken=0)
    for wait in waits:
        now += timedelta(seconds=wait)
        decided = decide_renewal(
            ClaimMode.REQUIRED, holding, now=now, actor="a", carried_fence=3, lease=LEASE, total=TOTAL
        )
        assert holding.expires_at is not None
        if isinstance(decided, Denied):
            assert decided.kind is (ErrorCode.CLAIM_CAPPED if holding.live(now) else ErrorCode.CLAIM_LOST)
            continue
        assert holding.expires_at <= decided.until <= NOW + timedelta(seconds=TOTAL)
        assert decided.until <= now + timedelta(seconds=LEASE)
        holding = replace(holding, expires_at=decided.until)


def test_a_renewal_at_the_same_instant_is_no_cap() -> None:
    fresh = held(seconds=LEASE, taken=0)
    decided = decide_renewal(ClaimMode.REQUIRED, fresh, now=NOW, actor="a", carried_fence=3, lease=LEASE, total=TOTAL)
    assert decided == Granted(until=NOW + timedelta(seconds=LEASE))


@pytest.mark.requirement("release-claims-past-their-lease")
@pytest.mark.parametrize(
    ("holding", "carried", "expected"),
    [
        (held("a"), 3, None),
        (held("a"), 2, ErrorCode.CLAIM_LOST),
        (held("a", seconds=0), 3, ErrorCode.CLAIM_LOST),
        (held("b"), 3, ErrorCode.CLAIM_LOST),
        (held("b"), 2, ErrorCode.CLAIM_LOST),
        (FREE, 3, ErrorCode.CLAIM_LOST),
    ],
)
def test_only_the_live_claim_that_is_named_is_renewed_or_released(
    holding: Holding, carried: int, expected: ErrorCode | None
) -> None:
    released = decide_release(ClaimMode.OPTIONAL, holding, now=NOW, actor="a", carried_fence=carried)
    renewed = decide_renewal(
        ClaimMode.OPTIONAL, holding, now=NOW, actor="a", carried_fence=carried, lease=LEASE, total=TOTAL
    )
    assert (kind(released), kind(renewed)) == (expected, expected)


@pytest.mark.parametrize(
    ("holding", "carried", "expected"),
    [
        (held("b"), 3, None),
        (held("b"), 2, ErrorCode.CLAIM_HELD),
        (held("a"), 3, ErrorCode.CLAIM_HELD),
        (held("b", seconds=-1), 3, ErrorCode.CLAIM_NOT_HELD),
        (FREE, 3, ErrorCode.CLAIM_NOT_HELD),
    ],
)
def test_only_the_claim_that_was_seen_is_broken(holding: Holding, carried: int, expected: ErrorCode | None) -> None:
    decided = decide_break(
        ClaimMode.REQUIRED, holding, now=NOW, actor="a", carried_fence=carried, lease=LEASE, total=TOTAL
    )
    assert kind(decided) is expected


def test_a_queue_without_claims_grants_none() -> None:
    orders = (
        decide_claim(ClaimMode.DISABLED, FREE, now=NOW, actor="a", lease=LEASE, total=TOTAL),
        decide_release(ClaimMode.DISABLED, FREE, now=NOW, actor="a", carried_fence=3),
        decide_break(ClaimMode.DISABLED, held("b"), now=NOW, actor="a", carried_fence=3, lease=LEASE, total=TOTAL),
        decide_renewal(ClaimMode.DISABLED, held(), now=NOW, actor="a", carried_fence=3, lease=LEASE, total=TOTAL),
    )
    assert {kind(each) for each in orders} == {ErrorCode.CLAIMS_DISABLED}


@pytest.mark.parametrize(("live", "expected"), [(2, None), (3, ErrorCode.CLAIMS_MAX), (4, ErrorCode.CLAIMS_MAX)])
def test_room_ends_at_the_most(live: int, expected: ErrorCode | None) -> None:
    assert kind(decide_room(live, 3, whose="You hold")) is expected


def test_a_first_lease_longer_than_the_cap_is_capped() -> None:
    decided = decide_claim(ClaimMode.OPTIONAL, FREE, now=NOW, actor="a", lease=900, total=TOTAL)
    assert decided == Granted(until=NOW + timedelta(seconds=TOTAL))
