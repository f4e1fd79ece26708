"""Owns the bank file of a plan: the instruction to settle what the plan released.

The bank books each payout as it is released and holds it in clearing. When the plan has ended, a job writes one file of all of
them and gives it to the bank once, under a key that is equal in every retry; the bank settles each booking once.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Sequence

from examples.payments.bank.client import AddressRefused, BankAway, Busy, NoAnswer, NotUnderstood, RefusedByBank
from examples.payments.bank.file_client import Filed, OtherFile, Settled, look_up, settle
from examples.payments.bank.files import FileLine, FileOrder
from examples.payments.bank.outward import AWAY_SECONDS, Way
from examples.payments.items import NOTES
from examples.payments.releases import totals
from jobcontract.ids import NAME_MAX
from jobcontract.money import Money
from jobservice.application import (
    Application,
    FailedJob,
    NewWorkItem,
    Outcome,
    Patience,
    PlanPayout,
    StepCall,
    StepOrder,
    done,
    failed,
    refused,
    retry,
    uncertain,
)

SUBMIT = "submit"
"""The step that gives the file to the bank: what comes after asks by its key."""
LOOKS = 60
"""How often one attempt asks whether the bank has acknowledged the file."""
LOOK_SECONDS = 1.0
_LEFT = {
    "collect": "The bank was given nothing. What the plan released is booked and held in clearing.",
    "write": "The bank was given nothing. What the plan released is booked and held in clearing.",
    SUBMIT: "Whether the bank settles the file is in the reason. What it does not settle stays held in clearing.",
    "acknowledge": "The bank has the file, and has not acknowledged it: ask it before anything else is done.",
    "archive": "The bank has acknowledged the file; only the note of it is missing.",
}


def lines_of(payouts: Sequence[PlanPayout]) -> tuple[FileLine, ...]:
    """The lines of the file: each payout by the key that it was booked under. No name and no account."""
    return tuple(
        FileLine(key=each.outward_key, money=Money(minor=each.amount_minor, currency=each.currency)) for each in payouts
    )


def digest_of(lines: Sequence[FileLine]) -> str:
    """What tells one content of a file from another."""
    text = json.dumps([line.message() for line in lines], separators=(",", ":"), sort_keys=True)
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"


async def collect(call: StepCall) -> Outcome:
    """Count what the plan released, in each currency."""
    payouts = await call.released()
    if not payouts:
        return refused("The plan released nothing; there is nothing to settle.")
    sums = totals(Money(minor=each.amount_minor, currency=each.currency) for each in payouts)
    call.keep(payouts=len(payouts), totals=sums)
    return done(f"{_payouts(len(payouts))}: {sums}")


async def write(call: StepCall) -> Outcome:
    """Write the lines and keep their digest: what is sent later is just this."""
    lines = lines_of(await call.released())
    if len(lines) != call.result_of("collect").get("payouts"):
        return failed("The plan's payouts are not those that were collected; nothing was written.")
    digest = digest_of(lines)
    call.keep(digest=digest)
    return done(f"A file of {len(lines):,} {'line' if len(lines) == 1 else 'lines'}, {digest[:19]}…")


class SubmitFile:
    """The step that acts outside: gives the file to the bank."""

    def __init__(self, way: Way) -> None:
        self._way = way

    async def send(self, order: StepOrder) -> Outcome:
        """Make the one call. *retry* only where nothing was settled; *uncertain* where nobody knows."""
        lines = lines_of(order.payouts)
        if not lines or digest_of(lines) != order.results.get("write", {}).get("digest"):
            return failed("The plan's payouts are not those of the file that was written; nothing was sent.")
        try:
            answer = await settle(self._way.reach(), FileOrder(key=order.key, lines=lines))
        except AddressRefused as error:
            return failed(f"{error} Nothing was sent.")
        except BankAway as error:
            return retry(f"{error} Nothing was sent.", after_seconds=AWAY_SECONDS)
        except NoAnswer as error:
            return uncertain(f"{error} Whether the bank has the file is not known.", reference=order.key)
        return _outcome(answer, len(lines))

    async def look_up(self, key: str) -> Outcome | None:
        """What the bank knows of the file; None = it never saw it. AddressRefused, BankAway, NoAnswer."""
        known = await look_up(self._way.reach(), key)
        match known:
            case Filed(settlement=settlement):
                return done(f"The bank has it as {settlement}.", reference=settlement)
            case RefusedByBank(reason=reason):
                return refused(f"The bank refused the file: {_whole(reason)}")
        return None


def awaiting(
    way: Way, *, looks: int = LOOKS, seconds: float = LOOK_SECONDS
) -> Callable[[StepCall], Awaitable[Outcome]]:
    """The step that waits until the bank acknowledges the file, `looks` times an attempt."""

    async def await_acknowledgement(call: StepCall) -> Outcome:
        for look in range(looks):
            try:
                known = await look_up(way.reach(), call.outward_key(SUBMIT))
            except AddressRefused as error:
                return failed(str(error))
            except (BankAway, NoAnswer) as error:
                return retry(f"{error} It is asked again.", after_seconds=AWAY_SECONDS)
            if known is None:
                return failed("The bank does not know the file that it took. Ask the bank.")
            if isinstance(known, RefusedByBank):
                return refused(f"The bank refused the file: {_whole(known.reason)}")
            if known.acknowledged:
                call.keep(settlement=known.settlement)
                return done(f"The bank acknowledges {known.settlement}.")
            await call.progress(
                100 * look // looks, f"The bank has {known.settlement}, and has not acknowledged it yet"
            )
            await call.wait(seconds)
        return retry("The bank has not acknowledged the file yet.", after_seconds=seconds)

    return await_acknowledgement


async def archive(call: StepCall) -> Outcome:
    """Keep a note of what was settled."""
    collected = call.result_of("collect")
    settlement = str(call.result_of("acknowledge").get("settlement"))
    note = NewWorkItem(
        key=f"bank-file/{call.plan}",
        title=f"Bank file {settlement}: {collected.get('totals')}"[:NAME_MAX],
        payload={"settlement": settlement, "payouts": collected.get("payouts"), "plan": call.plan},
    )
    call.push(NOTES, note)
    return done(f"Settled as {settlement}.")


async def bank_file_failed(job: FailedJob) -> Outcome:
    """Keep a note that says what is left to do: one a job."""
    left = _LEFT.get(job.step or "", _LEFT["collect"])
    note = NewWorkItem(
        key=f"bank-file-failed/{job.job}",
        title=f"Bank file of plan {job.subject} failed"[:NAME_MAX],
        payload={
            "reason": job.summary,
            "reference": job.reference,
            "left": left,
            "next": "Finance retries the job with a code; the bank settles nothing twice.",
        },
    )
    await job.push(NOTES, note)
    return done("A note says what is left to do.")


def _outcome(answer: Settled, lines: int) -> Outcome:
    match answer:
        case Filed(settlement=settlement):
            return done(f"The bank took {_payouts(lines)} as {settlement}.", reference=settlement)
        case RefusedByBank(reason=reason):
            return refused(f"The bank refused the file: {_whole(reason)} Nothing of it is settled.")
        case Busy(after_seconds=seconds):
            return retry("The bank is busy; it took nothing.", after_seconds=seconds)
        case NotUnderstood(sentence=sentence):
            return failed(f"The bank does not take the file: {sentence} Nothing was settled.")
        case OtherFile(settlement=settlement):
            return refused(
                f"The bank settled another file under this key, as {settlement}; it settled nothing now. Look at that first."
            )


def _whole(reason: str) -> str:
    """The bank's reason as a sentence that another one may follow."""
    return reason if reason.endswith((".", "!", "?")) else f"{reason}."


def _payouts(count: int) -> str:
    return "1 payout" if count == 1 else f"{count:,} payouts"


def register(application: Application, way: Way | None = None) -> None:
    """Register the steps and the failure effect under the ids of their records."""
    way = way or Way()
    application.step("payments.collect-file")(collect)
    application.step("payments.write-file")(write)
    application.outward_step(
        "payments.submit-file", SubmitFile(way), Patience(attempts=5, first_wait=1, longest_wait=60)
    )
    patience = Patience(attempts=10, first_wait=1, longest_wait=60, bound=300)
    application.step("payments.await-acknowledgement", patience)(awaiting(way))
    application.step("payments.archive-file")(archive)
    application.failure_effect("payments.bank-file-failed")(bank_file_failed)
