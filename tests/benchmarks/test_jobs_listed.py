"""What a kept folder's jobs are compared by sees what reading depends on; each figure has its limit; filters are filters."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from benchmarks import job_rows, jobs_listed
from benchmarks.figures import Figure
from jobcontract.job_filters import parse


def shape(connection: psycopg.Connection[Any]) -> str:
    row = connection.execute(job_rows.SHAPE).fetchone()
    assert row is not None
    return str(row[0])


@pytest.mark.parametrize(
    ("change", "seen"),
    [
        ("drop index jobs.jobs_ended", True),
        ("alter table jobs.people add column more text", True),
        ("drop policy api on jobs.job_tallies", True),
        ("drop function jobs.kinds_of(text) cascade", True),
        ("drop trigger jobs_keep on jobs.jobs", False),
        ("select jobs.ensure_family('another')", False),
    ],
)
def test_it_sees_what_reading_depends_on_alone(superuser: psycopg.Connection[Any], change: str, seen: bool) -> None:
    before = shape(superuser)
    with superuser.transaction(force_rollback=True):
        superuser.execute(change.encode())
        assert (shape(superuser) != before) is seen


def test_a_page_has_its_peer_and_a_count_the_limit_alone() -> None:
    calls = jobs_listed._calls()
    few, many = (
        jobs_listed._Side(
            service=None,  # type: ignore[arg-type]  # nothing is asked of it
            rows=rows,
            found={name: [float(number) for _ in range(5)] for number, name in enumerate(calls, 1)},
            first=dict.fromkeys(calls, 1.0),
            held=dict.fromkeys(calls, 0),
        )
        for rows in (10, 1_000)
    )
    figures: list[Figure] = jobs_listed._figures(calls, few, many)
    by_name = {figure.what.split(",")[0]: figure for figure in figures}
    assert by_name["status:failed"].peer == "10 jobs"
    assert by_name["status:failed"].at_most == jobs_listed.RATIO
    assert (by_name["counts for support"].peer, by_name["counts for support"].at_most) == (None, jobs_listed.LIMIT_MS)
    assert (figures[-1].rounds[0], figures[-1].at_most) == (float(len(calls)), jobs_listed.LIMIT_MS)


def test_every_filter_is_understood() -> None:
    for text in jobs_listed.FILTERS.values():
        parse(text.format(middle=5))


def test_a_page_that_is_longer_where_there_is_more_is_measured_at_equal_length_too() -> None:
    calls = jobs_listed._calls()
    few, many = (
        jobs_listed._Side(service=None, rows=rows, held={**dict.fromkeys(calls, 100), "error": held, "all": none})  # type: ignore[arg-type]  # nothing is asked of it
        for rows, held, none in ((10, 13, 0), (1_000, 100, 100))
    )
    found = jobs_listed._as_long(calls, few, many)
    assert [(name, getattr(call, "most", None)) for name, call in found.items()] == [("error, 13 rows a page", 13)]
