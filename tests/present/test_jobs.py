"""How background jobs are written: counts that say how exact they are, filters of views, the tree of a lineage, a masked
input that shows nothing of its value, every row whole within its line."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobconsole.client.fake import FakeService
from jobconsole.client.fake_job_examples import furnish
from jobconsole.present.columns import joined, lay_out, plain, row_line, width_of
from jobconsole.present.completions import offers_of
from jobconsole.present.job_filters import asked_filter, frozen_filter, vocabulary
from jobconsole.present.job_history import MASK, branches, input_cells
from jobconsole.present.jobs import (
    EVERY,
    UNDER_WAY,
    UNRESOLVED,
    aside_piece,
    count_words,
    job_text,
    jobs_cells,
    jobs_columns,
    jobs_title,
    source_lines,
    under_pieces,
)
from jobconsole.present.schedules import At
from jobconsole.screens.jobs_listing import JobRows
from jobconsole.widgets.laid import Laid
from jobcontract.job_filters import parse
from jobcontract.job_states import JobResolution, JobStatus
from jobcontract.jobs import JobCount, JobCounts, JobInput, JobRelative, JobSource
from jobcontract.states import Moves

NOW = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
AT = At(now=NOW, zone=UTC)


def count(number: int, *, exact: bool = True, at_least: bool = False, age: float = 0.0) -> JobCount:
    return JobCount(count=number, exact=exact, at_least=at_least, as_of=NOW - timedelta(seconds=age))


@pytest.mark.parametrize(
    ("given_count", "words"),
    [
        (count(412), "412 unresolved"),
        (count(4120, exact=False, age=4), "about 4,120 unresolved, 4 s old"),
        (count(4120, exact=False, age=1), "about 4,120 unresolved"),
        (count(1000, exact=False, at_least=True, age=9), "at least 1,000 unresolved"),
    ],
)
def test_a_count_says_how_exact_it_is(given_count: JobCount, words: str) -> None:
    assert count_words(given_count, "unresolved", NOW) == words


@given(width=st.integers(20, 200), numbers=st.lists(st.integers(0, 10_000_000), min_size=6, max_size=6))
def test_the_title_has_whole_figures_within_its_line(width: int, numbers: list[int]) -> None:
    counts = JobCounts(
        listed=count(numbers[5]),
        unresolved=count(numbers[5]),
        statuses={status: count(number) for status, number in zip(JobStatus, numbers, strict=False)},
        now=NOW,
    )
    told = plain(jobs_title(counts, UNRESOLVED, NOW, width, several=False))
    assert width_of(told) <= width
    figures = {f"{number:,}" for number in numbers}
    assert all(part.split(" ")[0] in figures for part in told.split(" · ")[1:])


@pytest.mark.parametrize(
    ("shown", "text", "asked", "frozen"),
    [
        (UNRESOLVED, "", "", "is:unresolved"),
        (UNRESOLVED, "kind:a.b", "kind:a.b", "is:unresolved kind:a.b"),
        (UNRESOLVED, "is:unresolved age>1h", "is:unresolved age>1h", "is:unresolved age>1h"),
        (UNRESOLVED, "is:retried", "is:retried", None),
        (UNDER_WAY, "age>1h", "status:pending,running age>1h", "status:pending,running age>1h"),
        (UNDER_WAY, "status:running", "status:running", "status:running"),
        (EVERY, "scope:C-1", "scope:C-1", "scope:C-1"),
        (EVERY, "", "", ""),
    ],
)
def test_a_view_is_asked_for_and_frozen_by_a_filter_that_can_be_read(
    shown: int, text: str, asked: str, frozen: str | None
) -> None:
    assert asked_filter(shown, text) == asked
    assert frozen_filter(shown, text) == frozen
    parse(asked)
    parse(frozen or "")


def test_every_field_of_the_language_is_offered_with_what_is_known_of_it() -> None:
    fake = FakeService(start=NOW)
    found = furnish(fake.account)
    rows = [job.summary for job in fake.account.jobs.values()]
    known = vocabulary((), fake.account.sources, rows, tenant="leeds", now=NOW)
    assert [offer.text for offer in offers_of("", 0, known)] == [
        "status:",
        "kind:",
        "error:",
        "age>",
        "requester:",
        "scope:",
        "is:",
        "source:",
        "tenant:",
    ]
    assert "scope:" + str(found.failed[0].summary.customer) in {
        f"scope:{offer.text}" for offer in offers_of("scope:C-10", 10, known)
    }
    assert {offer.text for offer in offers_of("is:re", 5, known)} == {"retried", "resolved"}


@given(data=st.data())
def test_a_lineage_is_a_tree_of_all_its_jobs_each_under_its_own(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 8))
    ids = [f"j{number}" for number in range(size)]
    parents = [data.draw(st.none() | st.sampled_from([*ids[:number], "gone"])) for number in range(size)]
    lineage = [
        JobRelative(id=name, retry_of=parent, status=JobStatus.FAILED, requested_at=NOW, requester=None, reason=None)
        for name, parent in zip(ids, parents, strict=True)
    ]
    told = branches(lineage, ids[-1])
    assert sorted(each.relative.id for each in told) == sorted(ids)
    assert [each.relative.id for each in told if each.here] == [ids[-1]]
    place = {each.relative.id: at for at, each in enumerate(told)}
    depth = {each.relative.id: len(each.tree) // 3 for each in told}
    for each in told:
        parent = each.relative.retry_of
        if parent in place:
            assert place[parent] < place[each.relative.id]
            assert depth[each.relative.id] == depth[parent] + 1
        else:
            assert depth[each.relative.id] == 0


@given(value=st.none() | st.booleans() | st.integers() | st.text())
def test_a_masked_input_shows_nothing_of_its_value(value: str | int | bool | None) -> None:
    told = input_cells(JobInput(name="n", label="L", value=value, masked=True))
    assert told["value"].text == MASK


@pytest.mark.parametrize(("width", "wide"), [(57, False), (77, False), (106, False), (137, True)])
def test_every_row_is_within_its_line_and_says_status_and_job_and_what_happened(width: int, wide: bool) -> None:
    fake = FakeService(start=NOW)
    furnish(fake.account)
    columns = jobs_columns(wide=wide, sources=True)
    jobs = [job.summary for job in fake.account.jobs.values()]
    cells = [jobs_cells(job, AT) for job in jobs]
    needs = {name: max(width_of(each[name].text) for each in cells) for name in cells[0]}
    widths, gap = lay_out(columns, needs, width)
    assert {"status", "job", *(("what",) if wide else ())} <= set(widths)
    assert all(width_of(plain(row_line(columns, each, widths, gap))) <= width for each in cells)
    under = [width_of(plain(joined(under_pieces(job)))) for job in jobs]
    assert max(under) + 20 < 57, "there is room for what happened, on the narrowest screen"
    for job in jobs:
        if job.status in (JobStatus.FAILED, JobStatus.RUNNING):
            assert under_pieces(job), "a row without it would not say what happened"


def test_the_failures_of_the_demo_say_which_job_and_why_at_80_columns() -> None:
    """Texts as the example's steps write them: (label of the kind, subject, why it failed, what of it is to be read)."""
    real = (
        (
            "Export of a month",
            "Export of 2012-11 for the cold-store",
            "Deliver it: The store cold-store has no room yet",
        ),
        (
            "Export of a month",
            "Export of 2013-01 for the auditors",
            "Check the month: Nothing was published for 2013-01",
        ),
        (
            "Activation of a workspace",
            "Workspace otley/reading-room",
            "Check the licence: There is no licence premium; there are",
        ),
        (
            "Activation of a workspace",
            "Workspace highfield/admin",
            "Reserve the name: The name admin is taken by the service",
        ),
        ("Bank file", "linnet-56", "Give it to the bank: The bank is busy; it took nothing."),
    )
    fake = FakeService(start=NOW)
    job = furnish(fake.account).failed[0].summary
    rows = JobRows(lambda: AT, lambda: False)
    rows.show(
        job.model_copy(
            update={
                "id": f"j{number}",
                "kind_label": kind,
                "subject": subject,
                "failure_summary": f"{why} and whatever else the application has to say of it.",
                "failure_reference": "7bb964fa",
                "customer": "highfield-school",
                "retried_by": None,
                "resolution": None,
            }
        )
        for number, (kind, subject, why) in enumerate(real)
    )
    laid = Laid(rows, jobs_columns(wide=False, sources=False), rows.needs(), 79)
    for at, (kind, subject, why) in enumerate(real):
        told = [plain(laid.line(at, part)) for part in range(laid.height(at))]
        assert len(told) == 2
        assert told[0].startswith("✗ failed")
        assert subject in told[0]
        assert kind.split(" ")[0] in told[0]
        assert "highfield-school" in told[0]
        assert told[1].strip().startswith(f"7bb964fa · {why[:55]}")


def test_sources_that_were_not_reached_are_named_in_one_line() -> None:
    def away(name: str, *, reached: bool) -> JobSource:
        sentence = None if reached else f"The database of {name} cannot be reached."
        return JobSource(name=name, engine="dbos", application=name, reached=reached, sentence=sentence)

    def told(*sources: JobSource) -> Sequence[str]:
        return [plain(line) for line in source_lines(sources, None, NOW, 60)]

    assert told(away("here", reached=True)) == []
    assert told(away("etl", reached=False)) == ["▲ Without etl: The database of etl cannot be reached."]
    assert told(away("a", reached=False), away("b", reached=False)) == ["▲ Without a, b: they were not reached."]


def test_a_row_says_a_word_once_and_marks_what_was_retried_or_resolved() -> None:
    fake = FakeService()
    job = furnish(fake.account).failed[0].summary
    told = {
        "kind_label": "Export of a month",
        "subject": "Export of 2013-01",
        "failure_summary": "Deliver it: Deliver it went wrong.",
        "failure_reference": "E-1",
        "resolution": None,
        "retried_by": None,
        "moves": Moves.NOTHING,
    }
    plainly = job.model_copy(update=told)
    assert jobs_cells(plainly, AT)["job"].text == "Export of 2013-01"
    assert job_text(plainly.model_copy(update={"subject": "C-1042"})) == "Export · C-1042"
    assert job_text(plainly.model_copy(update={"subject": "export of a month"})) == "Export of a month"
    assert job_text(plainly.model_copy(update={"subject": "export_of_a_month"})) == "Export of a month"
    assert job_text(plainly.model_copy(update={"moves": Moves.MONEY})) == "Export ¤ of 2013-01"
    assert jobs_cells(plainly, AT)["what"].text == aside_piece(plainly).text == "Deliver it went wrong."
    assert [piece.text for piece in under_pieces(plainly)] == ["E-1"]
    retried = plainly.model_copy(update={"retried_by": "another"})
    assert jobs_cells(retried, AT)["what"].text == "↻ retried · Deliver it went wrong."
    assert [piece.text for piece in under_pieces(retried)] == ["E-1", "↻ retried"]
    mended = retried.model_copy(update={"resolution": JobResolution.RETRIED})
    assert [piece.text for piece in under_pieces(mended)] == ["E-1", "mended by a retry"]
    other = plainly.model_copy(update={"failure_summary": "The store refused: no room", "source": "etl"})
    assert aside_piece(other).text == "The store refused: no room"
    assert [piece.text for piece in under_pieces(other)] == ["of etl", "E-1"]
