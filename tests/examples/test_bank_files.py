"""The bank file of a plan: settled once whatever happens on the way, and never anything but what the plan released."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from examples.payments import bank_files
from examples.payments.bank.client import BankAway, NoAnswer
from examples.payments.bank.outward import Way
from examples.payments.items import NOTES
from jobcontract.states import OutcomeKind
from jobservice.application import (
    Application,
    FailedJob,
    NewWorkItem,
    PlanPayout,
    done,
    failed,
    refused,
)
from jobservice.application_jobs import JobInputs
from tests.examples.bank import ACCOUNT, RunningBank, an_order, bank_on_a_thread
from tests.examples.steps import LINEAGE, PLAN, run, send

KEY = f"jc-{LINEAGE}-submit"


def payout(number: int, minor: int = 1_000, currency: str = "GBP") -> PlanPayout:
    """A payout that a plan released."""
    return PlanPayout(
        item=f"item-{number}",
        outward_key=f"jc-item-{number}",
        amount_minor=minor,
        currency=currency,
        payee_name="Acme Roofing",
        account=ACCOUNT,
    )


PAYOUTS = (payout(1), payout(2, 2_550), payout(3, -500, "JPY"))


@dataclass
class Filing:
    """A bank that booked the payouts, and the steps that reach it."""

    bank: RunningBank
    application: Application
    way: Way

    @property
    def files(self) -> list[dict[str, object]]:
        """What the bank's ledger has of files."""
        return list(self.bank.ledger()["files"])

    @property
    def submit(self) -> bank_files.SubmitFile:
        """The step that acts outside."""
        return bank_files.SubmitFile(self.way)


@pytest.fixture
async def filing(tmp_path: Path) -> AsyncIterator[Filing]:
    """A bank that booked what the plan released."""
    with bank_on_a_thread(tmp_path / "ledger.jsonl") as bank:
        for each in PAYOUTS:
            assert bank.pay(an_order(each.outward_key, each.amount_minor, each.currency)).status_code == 201
        way, application = Way(bank.url, timeout_seconds=5), Application("t", tmp_path)
        bank_files.register(application, way)
        yield Filing(bank, application, way)
        await way.close()


async def test_a_file_is_settled_acknowledged_and_noted(filing: Filing) -> None:
    filing.bank.script({"do": "late", "of": "file", "seconds": 3_600})
    acknowledged = []

    def meanwhile() -> None:
        acknowledged.append(filing.files)
        filing.bank.script({"do": "silent", "of": "file", "times": 1})

    ran = await run("payments.bank-file", {}, steps=filing.application, payouts=PAYOUTS, meanwhile=meanwhile)
    assert ran.outcomes["collect"] == done("3 payouts: GBP 35.50 out in 2; −JPY 500 back in 1")
    assert ran.outcomes["submit"] == done("The bank took 3 payouts as ST-000001.", reference="ST-000001")
    assert ran.last.kind is OutcomeKind.RETRY, "the bank did not answer the second question"
    assert ran.calls["acknowledge"].told == [(0, "The bank has ST-000001, and has not acknowledged it yet")]
    (file,) = filing.files
    assert [line["key"] for line in file["lines"]] == [each.outward_key for each in PAYOUTS]  # type: ignore[attr-defined]
    assert ACCOUNT not in str(file)


async def test_the_whole_job_ends_with_one_note(filing: Filing) -> None:
    ran = await run("payments.bank-file", {}, steps=filing.application, payouts=PAYOUTS)
    again = await run("payments.bank-file", {}, steps=filing.application, payouts=PAYOUTS)
    assert ran.last == again.last == done("Settled as ST-000001.")
    assert [note.title for note in ran.calls["archive"].pushed.values()] == [
        "Bank file ST-000001: GBP 35.50 out in 2; −JPY 500 back in 1"
    ]
    assert list(ran.calls["archive"].pushed) == list(again.calls["archive"].pushed) == [(NOTES, f"bank-file/{PLAN}")]
    assert len(filing.files) == 1


@pytest.mark.parametrize(
    ("rule", "sent", "known"),
    [
        ({"do": "refuse", "reason": "Past the cut-off"}, OutcomeKind.REFUSED, "refused"),
        ({"do": "busy", "seconds": 7}, OutcomeKind.RETRY, None),
        ({"do": "lose-before"}, OutcomeKind.UNCERTAIN, None),
        ({"do": "lose-after"}, OutcomeKind.UNCERTAIN, "ST-000001"),
        ({"do": "twice"}, OutcomeKind.DONE, "ST-000001"),
        ({"do": "slow", "seconds": 0.01}, OutcomeKind.DONE, "ST-000001"),
    ],
)
async def test_however_the_bank_behaves_a_second_sending_settles_once(
    filing: Filing, rule: dict[str, object], sent: OutcomeKind, known: str | None
) -> None:
    filing.bank.script({"of": "file", "times": 1, **rule})
    ran = await run("payments.bank-file", {}, steps=filing.application, payouts=PAYOUTS)
    assert ran.outcomes["submit"].kind is sent
    asked = await filing.submit.look_up(KEY)
    if known is None:
        assert asked is None
    elif known == "refused":
        assert asked == refused("The bank refused the file: Past the cut-off.")
    else:
        assert asked == done(f"The bank has it as {known}.", reference=known)
    assert (await send(filing.submit, ran.calls["submit"])).reference == "ST-000001"
    assert [file.get("settlement") for file in filing.files] == ["ST-000001"]


async def test_what_the_bank_did_not_book_so_or_settled_before_is_refused_whole(filing: Filing) -> None:
    odd = {
        "Line 1 names a payment that was not booked.": (payout(9),),
        "Line 2 is GBP 25.51, and booking BK-000002 is GBP 25.50.": (PAYOUTS[0], payout(2, 2_551)),
    }
    for sentence, payouts in odd.items():
        ran = await run("payments.bank-file", {}, steps=filing.application, payouts=payouts)
        assert ran.last == refused(f"The bank refused the file: {sentence} Nothing of it is settled.")
    assert (
        await run("payments.bank-file", {}, steps=filing.application, payouts=PAYOUTS)
    ).last.kind is OutcomeKind.DONE
    more = await run("payments.bank-file", {}, steps=filing.application, payouts=PAYOUTS[:2])
    assert more.last.sentence.startswith("The bank settled another file under this key, as ST-000001")
    order = {"key": "other", "lines": [{"key": "jc-item-1", "minor": 1_000, "currency": "GBP", "exponent": 2}]}
    answer = filing.bank.http.post("/files", json=order)
    assert (answer.status_code, answer.json()["refused"]) == (
        402,
        "Line 1: booking BK-000001 was settled by ST-000001.",
    )


async def test_payouts_that_changed_since_the_file_was_written_are_not_sent(filing: Filing) -> None:
    ran = await run("payments.bank-file", {}, steps=filing.application, payouts=PAYOUTS[:2])
    changed = await send(filing.submit, replace(ran.calls["submit"], results={"write": {"digest": "sha256:0"}}))
    assert changed == failed("The plan's payouts are not those of the file that was written; nothing was sent.")
    assert (await run("payments.bank-file", {}, steps=filing.application)).last.kind is OutcomeKind.REFUSED


async def test_a_bank_that_is_away_is_tried_again_and_an_answer_that_cannot_be_read_is_uncertain(
    filing: Filing, tmp_path: Path
) -> None:
    ran = await run("payments.bank-file", {}, steps=filing.application, payouts=PAYOUTS)
    away = bank_files.SubmitFile(Way("http://127.0.0.1:9", timeout_seconds=2))
    assert (await send(away, ran.calls["submit"])).kind is OutcomeKind.RETRY
    with pytest.raises(BankAway):
        await away.look_up(KEY)
    filing.bank.script({"do": "silent", "of": "file"})
    with pytest.raises(NoAnswer):
        await filing.submit.look_up(KEY)


@dataclass
class Failed:
    """A job that failed."""

    step: str | None
    pushed: dict[str, NewWorkItem]
    tenant: str = "leeds"
    job: str = "job-1"
    kind: str = "payments.bank-file"
    subject: str = "amber-fox"
    summary: str = "The bank refused it."
    reference: str = "4f2a91bc"
    inputs: JobInputs = None  # type: ignore[assignment]  # nothing reads them

    async def push(self, queue: str, item: NewWorkItem) -> str:
        self.pushed[item.key] = item
        return f"{queue}/{item.key}"

    async def submit(self, kind: str, submission_identity: str, inputs: JobInputs) -> str:
        raise AssertionError(f"a failure submits nothing: {kind} {submission_identity} {inputs}")


@pytest.mark.requirement("INV-08")
async def test_a_failure_leaves_a_note_that_says_what_is_left() -> None:
    for step, left in (("submit", "stays held"), ("acknowledge", "ask it before"), (None, "given nothing")):
        job = Failed(step, {})
        seam: FailedJob = job
        assert (await bank_files.bank_file_failed(seam)).kind is OutcomeKind.DONE
        ((key, note),) = job.pushed.items()
        assert (key, note.title) == ("bank-file-failed/job-1", "Bank file of plan amber-fox failed")
        assert left in str(note.payload["left"])
        assert (note.payload["reason"], note.payload["reference"]) == (job.summary, job.reference)
