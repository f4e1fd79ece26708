"""The use cases of the example, run against a call that records what they did to their item."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from importlib.util import find_spec

import pytest

from examples.payments import application, use_cases
from examples.payments.bank.outward import BankOutward
from jobcontract.money import Money
from jobcontract.states import ItemState, OutcomeKind
from jobservice.application import NewPayment, Outcome, WorkItem

NOW = datetime(2026, 3, 10, 9, 0, tzinfo=UTC)
ITEM = WorkItem(
    id="1",
    queue="payments.payouts",
    key="k",
    title="t",
    created=NOW,
    state=ItemState.OPEN,
    payment=None,
    inputs={},
    money_version=1,
)


@dataclass
class RecordingCall:
    """A call by m.ito in leeds; `did` is what the use case did, in order."""

    tenant: str = "leeds"
    person: str = "m.ito"
    now: datetime = NOW
    did: list[tuple[str, object]] = field(default_factory=list)

    async def set_aside(self, until: datetime) -> None:
        self.did.append(("set aside", until))

    async def reopen(self, state: ItemState) -> None:
        self.did.append(("reopen", state))

    async def close(self, state: ItemState) -> None:
        self.did.append(("close", state))

    async def hand_over(self, colleague: str) -> None:
        self.did.append(("hand over", colleague))


async def run(name: str, item: WorkItem = ITEM, /, **inputs: object) -> tuple[Outcome, list[tuple[str, object]]]:
    """Run a registered use case; its outcome and what it did."""
    call = RecordingCall()
    outcome = await application.use_cases[f"payments.{name}"](call, item, **inputs)
    return outcome, call.did


@pytest.mark.parametrize(
    ("name", "inputs", "did", "said"),
    [
        ("reject", {"reason": "paid twice"}, ("close", ItemState.REJECTED), "Rejected: paid twice"),
        ("resolve", {"reason": "credit agreed"}, ("close", ItemState.RESOLVED), "Resolved: credit agreed"),
        (
            "ask-evidence",
            {"question": "which invoice?"},
            ("reopen", ItemState.EVIDENCE_ASKED),
            "Asked for evidence: which invoice?",
        ),
        (
            "hand-over",
            {"colleague": "a.berg", "reason": "on leave"},
            ("hand over", "a.berg"),
            "Handed to a.berg: on leave",
        ),
    ],
)
async def test_each_does_one_thing_and_says_it(
    name: str, inputs: dict[str, object], did: tuple[str, object], said: str
) -> None:
    outcome, done = await run(name, **inputs)
    assert (outcome.kind, outcome.sentence, done) == (OutcomeKind.DONE, said, [did])


async def test_a_note_leaves_the_item_as_it_is() -> None:
    outcome, done = await run("note", text="called them")
    assert (outcome.kind, outcome.sentence, done) == (OutcomeKind.DONE, "Noted: called them", [])


@pytest.mark.parametrize("ahead", [timedelta(seconds=1), timedelta(days=3), use_cases.SET_ASIDE_MOST])
async def test_setting_aside_takes_an_instant_within_90_days(ahead: timedelta) -> None:
    outcome, done = await run("set-aside", until=NOW + ahead, reason="waiting for the supplier")
    assert outcome.kind is OutcomeKind.DONE
    assert done == [("set aside", NOW + ahead)]


@pytest.mark.parametrize(
    ("ahead", "why"),
    [
        (timedelta(0), "has passed"),
        (-timedelta(days=1), "has passed"),
        (use_cases.SET_ASIDE_MOST + timedelta(seconds=1), "is more than 90 days ahead"),
    ],
)
async def test_setting_aside_to_another_instant_is_refused_and_does_nothing(ahead: timedelta, why: str) -> None:
    outcome, done = await run("set-aside", until=NOW + ahead, reason="x")
    assert (outcome.kind, done) == (OutcomeKind.REFUSED, [])
    assert why in outcome.sentence


async def test_handing_over_to_oneself_is_refused() -> None:
    outcome, done = await run("hand-over", colleague="m.ito", reason="x")
    assert (outcome.kind, done) == (OutcomeKind.REFUSED, [])


async def test_releasing_clears_the_payout_and_leaves_the_rest_to_the_bank() -> None:
    payment = NewPayment(
        money=Money(minor=154_522, currency="GBP"),
        payee_id="S-1",
        payee_name="Acme Roofing",
        account="XJ93DEMO00001234",
    )
    outcome, done = await run("release", replace(ITEM, payment=payment))
    assert (outcome.kind, done) == (OutcomeKind.DONE, [])
    assert outcome.sentence == "Cleared: GBP 1,545.22 to …1234 Acme Roofing"


async def test_what_carries_no_payment_is_not_released() -> None:
    outcome, done = await run("release")
    assert (outcome.kind, done) == (OutcomeKind.REFUSED, [])


def test_releasing_has_the_bank_for_its_outside_half_and_dev_starts_one() -> None:
    assert isinstance(application.outwards["payments.release"], BankOutward)
    (bank,) = application.companions
    assert (bank.module, bank.variable) == ("examples.payments.bank", "PAYMENTS_BANK_URL")
    assert find_spec(bank.module) is not None
