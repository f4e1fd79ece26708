"""Wire models: requests are strict, answers outlive a newer service, and the bytes of an item are golden."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from jobcontract.errors import BY_CODE, ErrorCode
from jobcontract.items import ActOrder, BreakClaim, ChangedItem, HeldClaim, Item, NewItem
from jobcontract.routes import ROUTES
from jobcontract.wire import Wire

GOLDEN = (
    '{"id":"0192f0a1-0000-7000-8000-000000000001","queue":"payments.payouts","key":"S-000000000001/1012-00001",'
    '"title":"Operational Materials","created":"2026-11-28T00:00:00Z","state":"open","set_aside_until":null,'
    '"amount":{"minor":-154522,"currency":"GBP","exponent":2},'
    '"payee":{"id":"S-000000000001","name":"A & A ELECTRICAL","account_last4":"1736"},'
    '"inputs":{"invoice":"missing"},'
    '"score":{"value":92,"rule":"payout.release-score","version":3,"parts":[{"input":"amount","shown":"GBP 90,126.13",'
    '"points":48,"words":"over 50,000 counts most"}],"scored_at":"2026-11-29T09:00:00Z","failure":null},"rank":-92,'
    '"money_version":3,"holder":{"id":"m.ito","name":"M. Ito"},'
    '"expires_at":"2026-11-29T10:00:00Z","fence":7,"plan":{"id":"0192f0a1-0000-7000-8000-0000000000aa","name":"lark-42",'
    '"held":true},"about":null}'
)


def test_an_item_reads_and_writes_the_golden_bytes() -> None:
    assert Item.model_validate_json(GOLDEN).model_dump_json() == GOLDEN


def test_a_member_of_a_newer_service_is_ignored_in_an_answer() -> None:
    newer = json.loads(GOLDEN) | {"mood": 82}
    assert Item.model_validate(newer).model_dump_json() == GOLDEN


NEW = {"key": "k", "title": "t", "amount": {"minor": 1, "currency": "GBP"}}


@pytest.mark.parametrize(
    "wrong",
    [
        {"extra": 1},
        {"key": ""},
        {"key": "x" * 201},
        {"title": "a\x00b"},
        {"created": "2026-11-28T00:00:00"},
        {"amount": {"minor": 1.5, "currency": "GBP"}},
        {"amount": {"minor": 1.0, "currency": "GBP"}},
        {"amount": {"minor": "1", "currency": "GBP"}},
        {"amount": {"minor": 2**63, "currency": "GBP"}},
        {"amount": {"minor": 1, "currency": "gbp"}},
        {"payee": {"id": "p", "name": "n", "account": "1234 5678"}},
        {"payee": {"id": "p", "name": "n", "account": "1234567"}},
        {"payee": {"id": "p", "name": "\u200b \u3164", "account": "12345678"}},
        {"title": " "},
        {"title": "\u200b\u2060\ufeff"},
        {"title": "\u3164\u115f\u1160\uffa0\u2800"},
        {"title": "\u0301\ufe0f"},
        {"key": "a\nb"},
        {"key": "a\x7fb"},
        {"key": "a\u2028b"},
        {"key": "."},
        {"key": ".."},
        {"key": "a/../b"},
        {"key": "a/."},
        {"created": 1_700_000_000},
        {"created": 1_700_000_000.5},
        {"created": "1700000000"},
        {"created": "2026-11-28"},
        {"created": "2026-11-28 10:00:00Z"},
        {"inputs": {str(n): "x" for n in range(31)}},
    ],
)
def test_a_push_of_another_form_is_refused(wrong: dict[str, object]) -> None:
    assert NewItem.model_validate_json(json.dumps(NEW)).key == "k"
    with pytest.raises(ValidationError):
        NewItem.model_validate_json(json.dumps(NEW | wrong))


@pytest.mark.parametrize(
    "right",
    [
        {"key": "S-1/2012-00001"},
        {"key": "..."},
        {"key": "a..b/.c"},
        {"key": "Ä b"},
        {"title": "\u200bx"},
        {"title": "支払"},
        {"title": "\U0001f600"},
        {"created": "2026-11-28T10:00:00.5+05:30"},
        {"created": "2026-11-28t10:00:00z"},
        {"payee": {"id": "p", "name": "n", "account": "12345678"}},
    ],
)
def test_a_push_may_hold_what_can_be_seen_and_addressed(right: dict[str, object]) -> None:
    assert NewItem.model_validate_json(json.dumps(NEW | right)).amount is not None


ODD_NUMBERS = ["1", 1.0, True, "1_0", 0, -1, 2**63, None]


@pytest.mark.parametrize("odd", ODD_NUMBERS, ids=repr)
@pytest.mark.parametrize(
    ("model", "name", "rest"),
    [
        (ActOrder, "money_version", {}),
        (ActOrder, "fence", {"money_version": 1}),
        (ChangedItem, "money_version", {"title": "t"}),
        (HeldClaim, "fence", {}),
        (BreakClaim, "fence", {"reason": "r"}),
    ],
)
def test_a_version_or_fence_is_a_whole_number_and_nothing_like_one(
    model: type[Wire], name: str, rest: dict[str, object], odd: object
) -> None:
    model.model_validate(rest | {name: 2**63 - 1})
    if odd is None and (model, name) == (ActOrder, "fence"):
        return  # an act without a claim has none
    with pytest.raises(ValidationError):
        model.model_validate(rest | {name: odd})
    with pytest.raises(ValidationError):
        model.model_validate_json(json.dumps(rest | {name: odd}))


@pytest.mark.parametrize("wrong", [{"money_version": 0}, {"fence": 0}, {"fance": 1}, {"inputs": {"x": ["list"]}}])
def test_an_act_of_another_form_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        ActOrder.model_validate_json(json.dumps({"money_version": 1} | wrong))


def test_every_failure_has_a_code_of_its_own() -> None:
    assert len(BY_CODE) == len(ErrorCode)
    assert all(400 <= kind.status < 600 and kind.title for kind in ErrorCode)


def test_routes_have_names_of_their_own_and_what_acts_is_a_post() -> None:
    assert len({route.name for route in ROUTES}) == len(ROUTES)
    assert len({(route.method, route.path) for route in ROUTES}) == len(ROUTES)
    assert [route.name for route in ROUTES if route.acts and route.method != "POST"] == []
    assert [route.name for route in ROUTES if route.public and (route.acts or route.permission)] == []


@pytest.mark.parametrize("reason", ["", " ", "\t\n ", "x" * 501, "a\x00b"])
def test_a_reason_that_says_nothing_or_cannot_be_kept_is_refused(reason: str) -> None:
    with pytest.raises(ValidationError):
        BreakClaim(fence=1, reason=reason)
    assert BreakClaim(fence=1, reason="  ill ").reason == "ill"
