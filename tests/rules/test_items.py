"""Content of items: what is refused, when a version rises, how a change is told."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobcontract.items import Change
from jobcontract.money import EXPONENTS
from jobcontract.states import ClaimMode, ItemState
from jobservice.rules.items import (
    Content,
    Payment,
    Version,
    changes,
    created_faults,
    payload_size,
    payment_faults,
    standing_state,
    text_faults,
)
from jobservice.rules.queues import Queue

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
PAYMENT = Payment(minor=1_234, currency="JPY", payee_id="s-1", payee_name="S Ltd", account="GB29NWBK6819")
VERSION = Version(
    number=1,
    state=ItemState.OPEN,
    set_aside_until=None,
    content=Content(title="T", payment=PAYMENT, inputs={"invoice": "I"}),
)
MONEY = Queue(
    id="q.money", title="Q", claim=ClaimMode.REQUIRED, money=True, inputs=(), use_cases=(), lease_seconds=60.0
)


def changed(**parts: Any) -> Version:
    assert VERSION.content.payment is not None
    return replace(VERSION, content=replace(VERSION.content, payment=replace(PAYMENT, **parts)))


@pytest.mark.parametrize(
    ("until", "state"), [(1, ItemState.SET_ASIDE), (0, ItemState.OPEN), (-1, ItemState.OPEN), (None, ItemState.OPEN)]
)
def test_an_item_is_set_aside_until_its_very_instant(until: int | None, state: ItemState) -> None:
    moment = None if until is None else NOW + timedelta(microseconds=until)
    assert standing_state(ItemState.OPEN, moment, NOW) is state
    assert standing_state(ItemState.REJECTED, moment, NOW) is ItemState.REJECTED


@pytest.mark.requirement("MONEY-01")
@given(st.sampled_from(sorted(EXPONENTS)), st.integers(min_value=-(2**63) + 1, max_value=2**63 - 1))
def test_any_amount_but_zero_of_any_listed_currency_is_legal(currency: str, minor: int) -> None:
    faults = list(payment_faults(MONEY, replace(PAYMENT, minor=minor, currency=currency)))
    assert bool(faults) == (minor == 0)


@pytest.mark.parametrize(
    "wrong",
    [{"currency": "jpy"}, {"currency": "XXX"}, {"account": "1234567"}, {"account": "GB29 NWBK"}, {"minor": 2**63}],
)
def test_a_wrong_payment_is_named(wrong: dict[str, Any]) -> None:
    assert len(list(payment_faults(MONEY, replace(PAYMENT, **wrong)))) == 1


def test_money_and_queue_have_to_agree() -> None:
    assert "needs `amount`" in next(payment_faults(MONEY, None))
    assert "carries no money" in next(payment_faults(replace(MONEY, money=False), PAYMENT))


@pytest.mark.requirement("MONEY-01")
@pytest.mark.parametrize(
    ("after", "told"),
    [
        (changed(minor=1_500, currency="KWD"), Change(field="amount", before="JPY 1,234", after="KWD 1.500")),
        (changed(minor=-1), Change(field="amount", before="JPY 1,234", after="−JPY 1")),
        (changed(payee_name="Z"), Change(field="payee", before="S Ltd (s-1)", after="Z (s-1)")),
        (changed(account="DE00XXXX4321"), Change(field="account", before="…6819", after="…4321")),
        (changed(account="DE00XXXX6819"), Change(field="account", before="…6819", after="…6819 (another account)")),
        (replace(VERSION, state=ItemState.REJECTED), Change(field="state", before="open", after="rejected")),
        (
            replace(VERSION, set_aside_until=NOW),
            Change(field="set aside until", before="none", after="2026-03-01 12:00 UTC"),
        ),
        (
            replace(VERSION, content=replace(VERSION.content, inputs={})),
            Change(field="input invoice", before="I", after="none"),
        ),
        (
            replace(VERSION, content=replace(VERSION.content, inputs={"invoice": "I", "ok": True})),
            Change(field="input ok", before="none", after="yes"),
        ),
    ],
)
def test_a_change_is_told_before_and_after(after: Version, told: Change) -> None:
    assert changes(VERSION, after) == (told,)
    assert "NWBK" not in str(changes(VERSION, after))


VERSIONS = st.builds(
    Version,
    number=st.just(2),
    state=st.sampled_from([ItemState.OPEN, ItemState.EVIDENCE_ASKED]),
    set_aside_until=st.none(),
    content=st.builds(
        Content,
        title=st.sampled_from("TU"),
        payment=st.none() | st.builds(replace, st.just(PAYMENT), minor=st.sampled_from([1, 2])),
        inputs=st.dictionaries(st.sampled_from("ab"), st.sampled_from(["x", "y"])),
    ),
)


@given(VERSIONS, VERSIONS)
def test_nothing_is_told_exactly_where_nothing_changed(before: Version, after: Version) -> None:
    assert (changes(before, after) == ()) == (before == after)


def nested(levels: int) -> dict[str, Any]:
    return {"a": json.loads("[" * (levels - 1) + "]" * (levels - 1))}


@pytest.mark.requirement("PG-01")
def test_a_payload_is_measured_in_bytes_and_bounded_in_depth() -> None:
    assert payload_size({"t": "é" * 4_100}) == len('{"t": ""}') + 8_200
    assert payload_size(nested(20)) is not None
    assert payload_size(nested(40)) is None
    assert payload_size(nested(900)) is None


@pytest.mark.parametrize(
    "wrong", ["a\x00", float("nan"), ["\ud800"], {"k\x00": 1}, {1, 2}, pytest.param(10**5_000, id="huge")]
)
def test_what_cannot_be_kept_is_refused(wrong: Any) -> None:
    assert payload_size({"a": wrong}) is None


def test_texts_and_dates_have_bounds() -> None:
    assert list(text_faults(key="k" * 200, title="t" * 200, customer=None)) == []
    assert len(list(text_faults(key="", title="t" * 201, customer="c\x00"))) == 3
    assert list(text_faults(title="\u200b \u3164")) == ["`title` must hold a character that can be seen."]
    assert "can be seen" in next(text_faults(payee_name=" "))
    for key in ("a\nb", "..", "a/./b"):
        assert "part of an address" in next(text_faults(key=key))
    assert list(created_faults(NOW)) == []
    assert len(list(created_faults(NOW.replace(tzinfo=None)))) == 1
    assert len(list(created_faults(NOW.replace(year=9999)))) == 1
