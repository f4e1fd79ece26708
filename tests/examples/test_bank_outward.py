"""What a payment at the bank means to the service: tried again only where it is certain that nothing was booked."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from examples.payments.bank.client import AddressRefused, BankAway, NoAnswer
from examples.payments.bank.outward import URL_NAME, BankOutward
from jobcontract.money import Money
from jobcontract.states import OutcomeKind
from jobservice.application import NewPayment, Outward, OutwardOrder, WorkItem, done, failed, refused, retry
from tests.examples.bank import ACCOUNT, RunningBank, bank_on_a_thread
from tests.examples.test_use_cases import ITEM

PAYMENT = NewPayment(
    money=Money(minor=154_522, currency="GBP"), payee_id="S-1", payee_name="Acme Roofing", account=ACCOUNT
)
PAID = "Paid: GBP 1,545.22 to …1234 Acme Roofing, bank booking BK-000001."


def outward_order(payment: NewPayment | None = PAYMENT, key: str = "leeds/1") -> OutwardOrder:
    """The order of an item with that payment."""
    item: WorkItem = replace(ITEM, payment=payment, key="S-1/0042")
    return OutwardOrder(key=key, tenant="leeds", item=item)


@pytest.fixture
def bank(tmp_path: Path) -> Iterator[RunningBank]:
    """A bank with an empty ledger."""
    with bank_on_a_thread(tmp_path / "ledger.jsonl") as running:
        yield running


@pytest.fixture
async def outward(bank: RunningBank) -> AsyncIterator[BankOutward]:
    """The way to it."""
    way = BankOutward(bank.url)
    seam: Outward = way
    assert seam is way
    yield way
    await way.close()


async def test_a_payment_is_done_with_the_banks_reference(outward: BankOutward, bank: RunningBank) -> None:
    assert await outward.send(outward_order()) == done(PAID, reference="BK-000001")
    assert await outward.send(outward_order()) == done(PAID, reference="BK-000001")
    assert await outward.look_up("leeds/1") == done("The bank has it as booking BK-000001.", reference="BK-000001")
    assert [(booking["minor"], booking["reference"]) for booking in bank.ledger()["bookings"]] == [
        (154_522, "S-1/0042")
    ]


@pytest.mark.requirement("MONEY-01")
async def test_yen_and_credits_are_booked_as_they_stand(outward: BankOutward, bank: RunningBank) -> None:
    yen = replace(PAYMENT, money=Money(minor=3_702, currency="JPY"))
    credit = replace(PAYMENT, money=Money(minor=-500, currency="KWD"))
    assert (await outward.send(outward_order(yen, "y"))).sentence.startswith("Paid: JPY 3,702 to …1234")
    assert (await outward.send(outward_order(credit, "c"))).sentence.startswith("Paid: −KWD 0.500 to …1234")
    told = [(booking["minor"], booking["exponent"]) for booking in bank.ledger()["bookings"]]
    assert told == [(3_702, 0), (-500, 3)]


async def test_a_refusal_is_for_good(outward: BankOutward, bank: RunningBank) -> None:
    bank.script({"do": "refuse", "reason": "Account closed."})
    no = refused("The bank refused it: Account closed.")
    assert await outward.send(outward_order()) == no
    assert await outward.look_up("leeds/1") == no


async def test_a_busy_bank_is_tried_again(outward: BankOutward, bank: RunningBank) -> None:
    bank.script({"do": "busy", "seconds": 30})
    assert await outward.send(outward_order()) == retry("The bank is busy; it booked nothing.", after_seconds=30.0)


@pytest.mark.parametrize(("rule", "known"), [("lose-before", None), ("lose-after", "BK-000001")])
async def test_a_lost_answer_is_uncertain_and_asked_about_once(
    outward: BankOutward, bank: RunningBank, rule: str, known: str | None
) -> None:
    bank.script({"do": rule})
    outcome = await outward.send(outward_order())
    assert (outcome.kind, outcome.reference) == (OutcomeKind.UNCERTAIN, "leeds/1")
    assert outcome.sentence.endswith("Whether it was paid is not known.")
    assert bank.ledger()["deliveries"] == {"leeds/1": 1}
    found = await outward.look_up("leeds/1")
    assert (found and found.reference) == known
    bank.script({"do": "silent"})
    with pytest.raises(NoAnswer):
        await outward.look_up("leeds/1")


async def test_a_bank_that_takes_too_long_is_uncertain(bank: RunningBank) -> None:
    bank.script({"do": "slow", "seconds": 60})
    way = BankOutward(bank.url, timeout_seconds=0.2)
    outcome = await way.send(outward_order())
    assert (outcome.kind, outcome.reference) == (OutcomeKind.UNCERTAIN, "leeds/1")
    await way.close()


async def test_a_bank_that_cannot_be_reached_is_tried_again(tmp_path: Path) -> None:
    with bank_on_a_thread(tmp_path / "ledger.jsonl") as gone:
        way = BankOutward(gone.url)
    sentence = f"The bank at {gone.url} cannot be reached (ConnectError). Nothing was sent."
    assert await way.send(outward_order()) == retry(sentence, after_seconds=5.0)
    with pytest.raises(BankAway):
        await way.look_up("leeds/1")
    await way.close()


async def test_a_key_with_other_content_is_never_taken_for_paid(outward: BankOutward, bank: RunningBank) -> None:
    await outward.send(outward_order())
    more = replace(PAYMENT, money=Money(minor=154_523, currency="GBP"))
    assert await outward.send(outward_order(more)) == failed(
        "The bank booked this key before, as BK-000001, with other content; it booked nothing now. "
        "Look at that booking first."
    )
    assert bank.booked == ["leeds/1"]


async def test_after_a_refusal_a_corrected_account_is_looked_at_anew(outward: BankOutward, bank: RunningBank) -> None:
    bank.script({"match": {"account": PAYMENT.account}, "do": "refuse", "reason": "Account closed."})
    await outward.send(outward_order())
    corrected = replace(PAYMENT, account=f"{PAYMENT.account[:-4]}9876")
    outcome = await outward.send(outward_order(corrected))
    assert (outcome.kind, outcome.reference) == (OutcomeKind.DONE, "BK-000001")
    assert await outward.look_up("leeds/1") == done("The bank has it as booking BK-000001.", reference="BK-000001")


async def test_what_the_bank_cannot_read_has_failed(outward: BankOutward) -> None:
    outcome = await outward.send(outward_order(key="a/../b"))
    assert outcome == failed(
        "The bank does not take the order: `key` has no control characters, and no `.` or `..` between slashes. "
        "Nothing was booked."
    )
    assert await outward.send(outward_order(None)) == failed("The item carries no payment; nothing was sent.")


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("", f"No bank is set: {URL_NAME} is its address, like https://bank.example. Nothing was paid."),
        (
            "http://bank.example",
            f"{URL_NAME} is not taken: accounts go over https, or to loopback alone. Nothing was paid.",
        ),
    ],
)
async def test_without_an_address_nothing_is_sent(monkeypatch: pytest.MonkeyPatch, url: str, sentence: str) -> None:
    monkeypatch.setenv(URL_NAME, url)
    assert await BankOutward().send(outward_order()) == failed(sentence)
    with pytest.raises(AddressRefused):
        await BankOutward().look_up("leeds/1")


async def test_the_address_is_that_of_the_environment(bank: RunningBank, monkeypatch: pytest.MonkeyPatch) -> None:
    way = BankOutward()
    monkeypatch.setenv(URL_NAME, bank.url)
    assert (await way.send(outward_order())).kind is OutcomeKind.DONE
    await way.close()


async def test_no_log_line_holds_an_account(
    outward: BankOutward, bank: RunningBank, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG)
    for rule in ("busy", "lose-after", "refuse", "twice"):
        bank.script({"do": rule})
        await outward.send(outward_order(key=rule))
    told = caplog.text + "".join(capfd.readouterr())
    assert "/payments" in told
    assert ACCOUNT not in told
