"""The summary for a customer says what was asked for, how it stands, what failed, what happens next and what to quote; and
nothing that is internal."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, timedelta
from zoneinfo import ZoneInfo

import pytest

from jobconsole.client.fake import FakeService
from jobconsole.client.fake_job import FakeJob
from jobconsole.client.fake_job_examples import HOSTILE, Furnished, furnish
from jobconsole.client.jobs import job as read
from jobconsole.present.job_summary import customer_summary
from jobcontract.job_states import JobStatus
from jobcontract.jobs import Job
from jobcontract.session import Person
from tests.hostile import HOSTILE as HOSTILE_TEXTS
from tests.hostile import harmless

pytestmark = pytest.mark.requirement("INV-12")
Pick = Callable[[Furnished], FakeJob]


async def told_of(fake: FakeService, job: FakeJob) -> str:
    """The summary as the twin and the screen have it."""
    return customer_summary(await detail(fake, job), UTC)


async def detail(fake: FakeService, job: FakeJob) -> Job:
    return await read(fake.service("o.lind"), job.id, job.summary.source)


@pytest.mark.parametrize(
    ("pick", "sentences"),
    [
        (lambda set_: set_.pending, ["It waits for its turn", "goes on by itself; there is nothing for you to do."]),
        (lambda set_: set_.running, ["It is under way: about 53 % is done."]),
        (lambda set_: set_.cancelling, ["It was asked to be cancelled, and ends in a moment."]),
        (
            lambda set_: set_.failed[0],
            [
                "Export of a month (February for C-1007) was asked for on 2 March 2026 at 02:00 UTC.",
                "It could not be completed, and ended on 2 March 2026 at 02:06 UTC.",
                'What went wrong, at the part "Deliver it": The store has no room yet, and asks to come again.',
                "2 of its 3 parts had been completed by then.",
                "It has not been started again so far.",
                "Please quote E-7A31 if you ask about it.",
            ],
        ),
        (
            lambda set_: set_.lineage[0],
            [
                "It was started again on 1 March 2026 at 07:00 UTC, and was completed on 1 March 2026 at 07:00 UTC.",
                "There is nothing left to do.",
            ],
        ),
        (lambda set_: set_.lineage[2], ["It was completed on 1 March 2026", "There is nothing left to do."]),
        (lambda set_: set_.corrected, ["It was settled without being started again."]),
        (lambda set_: set_.money, ["It moves money, so it is started again only after it was checked"]),
        (
            lambda set_: set_.cancelled,
            ["It was cancelled on 2 March 2026 at 00:01 UTC, before it was completed.", "It does not start again by"],
        ),
        (lambda set_: set_.foreign, ["Send letter was asked for", "Please quote 48377 of mailing"]),
    ],
    ids=lambda value: value[0][:24] if isinstance(value, list) else "",
)
async def test_each_way_in_which_a_job_stands_is_told(pick: Pick, sentences: list[str]) -> None:
    fake = FakeService()
    text = await told_of(fake, pick(furnish(fake.account)))
    for sentence in sentences:
        assert sentence in text, text
    assert "\n" not in text


async def test_a_retry_is_told_while_it_waits_runs_fails_is_cancelled_and_succeeds() -> None:
    fake = FakeService()
    failed = furnish(fake.account).failed[0]
    person = Person(id="o.lind", name="Olle Lind")
    new, _ = fake.account.acts.retry(failed, person, "The store has room.")
    assert "and waits for its turn; there is nothing for you to do." in await told_of(fake, failed)
    fake.account.begin(new)
    assert "and is under way; there is nothing for you to do." in await told_of(fake, failed)
    fake.account.fail(new, "The store has no room yet.", "E-2")
    assert "and could not be completed then either." in await told_of(fake, failed)
    fake.advance(60)
    second, _ = fake.account.acts.retry(new, person, "Once more.")
    fake.account.acts.cancel(second, person, "Not wanted.")
    assert "and that attempt was cancelled." in await told_of(fake, failed)
    fake.advance(60)
    third, _ = fake.account.acts.retry(second, person, "Wanted after all.")
    fake.account.finish(third)
    text = await told_of(fake, failed)
    assert "and was completed on 2 March 2026 at 09:02 UTC. There is nothing left to do." in text
    assert "E-7A31" not in text


async def test_nothing_internal_is_in_it_whatever_the_job_holds() -> None:
    fake = FakeService()
    set_ = furnish(fake.account)
    everything = [each for each in fake.account.jobs.values() if each.here]
    for job in everything:
        text, shown = await told_of(fake, job), await detail(fake, job)
        said = job.summary.failure_summary or ""  # what the step itself says of its inputs is safe to show
        words = [str(value) for value in job.inputs.values() if len(str(value)) > 3 and str(value) not in said]
        words += [each.reason for each in (job.cancellation, job.resolved) if each is not None and each.reason]
        words += ["Olle", "o.lind", "Kiran", "k.rao", "Mika", "m.ito", shown.worker or "4a1f0c52", "OPS-4411"]
        words += [f"{each.use_case}" for each in shown.steps]
        assert not [word for word in words if word in text], text
        assert text.isprintable()
    assert HOSTILE not in await told_of(fake, set_.hostile)


@pytest.mark.parametrize(
    "summary",
    [
        "success refused: step 3 (deliver) is still running",
        "Attempt 3 of 3 ended without a word: its Worker was lost.",
        "KeyError: 'purpose'",
        "deliver_export() gave no answer",
        "No answer from https://store.internal:8443/put",
        "Job 019cad98-d3c0-7011-8045-23540f1504cd has it already.",
        "Mika Ito stopped it.",
    ],
)
async def test_a_failure_that_is_not_in_plain_words_names_the_part_alone(summary: str) -> None:
    fake = FakeService()
    job = fake.account.fail(fake.account.add("payments.export"), summary, "E-1", done=2)
    text = await told_of(fake, job)
    assert 'What went wrong: its part "Deliver it" could not be completed.' in text
    assert summary not in text
    assert "Please quote E-1" in text


async def test_no_text_of_the_service_breaks_the_line_or_steers_a_terminal() -> None:
    fake = FakeService()
    job = await detail(fake, furnish(fake.account).failed[0])
    for text in HOSTILE_TEXTS:
        more = {"subject": text, "failure_summary": text, "failure_reference": text or None, "kind_label": text}
        hostile = job.model_copy(update={"summary": job.summary.model_copy(update=more)})
        assert harmless(customer_summary(hostile, UTC)), text


async def test_instants_are_in_the_zone_that_is_asked_for() -> None:
    fake = FakeService()
    job = fake.account.add("payments.export", subject="February", ago=timedelta(hours=2).total_seconds())
    assert job.summary.status is JobStatus.PENDING
    text = customer_summary(await detail(fake, job), ZoneInfo("Asia/Tokyo"))
    assert "was asked for on 2 March 2026 at 16:00 JST." in text
