"""Merging pages of several sources: every job once, each source in its own order, and nobody waits for one that is silent."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.job_filters import JobFilter
from jobcontract.job_states import JobStatus, JobView
from jobcontract.jobs import HERE, JobSource, JobSummary
from jobcontract.states import Moves
from jobservice.store.items import Reach
from jobservice.usecases.job_listing import Asked, count_jobs, list_jobs
from jobservice.usecases.job_sources import (
    END,
    START,
    AskedOfSource,
    Merged,
    Position,
    Reading,
    SourcePage,
    SourceRow,
    merge,
    read_foreign,
)
from tests.job_rows import add_job
from tests.usecases.desk import Desk, refused_with

BEGIN = datetime(2026, 11, 30, 12, tzinfo=UTC)
ASKED = AskedOfSource(
    tenant="acme",
    person="o.lind",
    reach=Reach(customers=None, workspaces=None),
    view=JobView.ALL,
    filter=JobFilter(),
    now=BEGIN,
)


def job(source: str, number: int, minutes: int) -> JobSummary:
    at = BEGIN - timedelta(minutes=minutes)
    return JobSummary(
        source=source,
        id=f"{source}-{number}",
        kind="shop.mail",
        kind_label="Mail",
        application="shop",
        status=JobStatus.PENDING,
        progress=0,
        subject="Mail",
        submission_identity=None,
        requester=None,
        customer=None,
        workspace=None,
        requested_at=at,
        started_at=None,
        activity_at=at,
        settled_at=None,
        last_step=None,
        last_step_status=None,
        failure_summary=None,
        failure_reference=None,
        retry_of=None,
        retried_by=None,
        cancel_asked_at=None,
        resolution=None,
        moves=Moves.NOTHING,
    )


@dataclass(slots=True)
class Listed:
    """A source of jobs `minutes` old; `looks`: how many places it looks at for one page, some of which match nothing
    (None there)."""

    name: str
    minutes: Sequence[int | None]
    looks: int = 1_000
    engine: str = "fake"
    application: str = "shop"
    fails: BaseException | None = None
    silent: bool = False
    cancelled: asyncio.Event = field(default_factory=asyncio.Event)

    async def page(self, asked: AskedOfSource, behind: Position, most: int) -> SourcePage:
        assert asked.tenant == "acme"
        if self.fails is not None:
            raise self.fails
        if self.silent:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                self.cancelled.set()
                raise
        return self.read(behind, most)

    def read(self, behind: Position, most: int) -> SourcePage:
        begin = 0 if behind == START else int(behind) + 1
        rows: list[SourceRow] = []
        last = BEGIN - timedelta(minutes=next((each for each in self.minutes[begin:] if each is not None), 0))
        for place in range(begin, len(self.minutes)):
            if place - begin >= self.looks:
                return SourcePage(rows=tuple(rows), beyond=(str(place - 1), last))
            age = self.minutes[place]
            if age is not None:
                last = BEGIN - timedelta(minutes=age)
                rows.append(SourceRow(job=job(self.name, place, age), position=str(place)))
            if len(rows) > most:
                break
        return SourcePage(rows=tuple(rows))

    async def count(self, asked: AskedOfSource, most: int) -> int | None:
        assert (asked.tenant, most > 0) == ("acme", True)
        if self.fails is not None:
            raise self.fails
        return sum(each is not None for each in self.minutes) if len(self.minutes) <= self.looks else None

    async def _nothing(self, *_: Any) -> Any:
        return None

    job = events = _nothing


def walked(sources: Sequence[Listed], most: int) -> tuple[list[JobSummary], list[Merged]]:
    """All pages, each from where the one before says that each source goes on."""
    positions: dict[str, Position] = {each.name: START for each in sources}
    pages = []
    for _ in range(2_000):
        readings = [
            Reading(
                source=JobSource(name=each.name, engine="fake", application="shop", reached=True, sentence=None),
                page=SourcePage(rows=()) if positions[each.name] == END else each.read(positions[each.name], most),
                behind=positions[each.name],
            )
            for each in sources
        ]
        page = merge(readings, most)
        pages.append(page)
        positions = page.positions
        if not page.more:
            return [job for each in pages for job in each.jobs], pages
    raise AssertionError("the walk does not end")


ages = st.lists(st.one_of(st.integers(0, 50), st.none()), max_size=12)


@given(st.lists(st.tuples(ages, st.integers(1, 8)), min_size=1, max_size=3), st.integers(1, 5), st.booleans())
def test_a_walk_over_several_sources_has_every_job_once_and_in_order(
    given_sources: list[tuple[list[int | None], int]], most: int, ordered: bool
) -> None:
    sources = []
    for number, (minutes, looks) in enumerate(given_sources):
        by_age = iter(sorted(each for each in minutes if each is not None))
        kept = [None if each is None else next(by_age) for each in minutes] if ordered else minutes
        sources.append(Listed(name=f"s{number}", minutes=kept, looks=looks))
    jobs, pages = walked(sources, most)
    for source in sources:
        mine = [each.id for each in jobs if each.source == source.name]
        assert mine == [f"{source.name}-{place}" for place, age in enumerate(source.minutes) if age is not None]
    assert all(len(page.jobs) <= most for page in pages)
    assert all(len(page.jobs) == most or page.looked_to is not None for page in pages[:-1])
    if ordered and all(looks >= 8 for _, looks in given_sources):
        assert [each.requested_at for each in jobs] == sorted((each.requested_at for each in jobs), reverse=True)


async def test_a_source_that_fails_or_is_silent_is_told_of_and_delays_nothing() -> None:
    good, silent = Listed("good", [1, 2]), Listed("silent", [], silent=True)
    broken = Listed("broken", [], fails=RuntimeError("password=secret"))
    refusing = Listed("refusing", [], fails=Refusal(ErrorCode.DATABASE_AWAY, "The database cannot be reached."))
    readings = await read_foreign((good, silent, broken, refusing), ASKED, {}, 10, seconds=0.05)
    said = {each.source.name: each.source.sentence for each in readings}
    assert said["good"] is None
    assert said["silent"] == "silent did not answer within 0.05 s. Its jobs are not on this page."
    assert said["broken"] == "broken could not be read. Its jobs are not on this page."
    assert said["refusing"] == "refusing: The database cannot be reached."
    await asyncio.wait_for(silent.cancelled.wait(), 5)
    page = merge(readings, 10)
    assert [each.source for each in page.jobs] == ["good", "good"]
    # What was not read is read from the same place by the next page.
    assert page.positions == {"good": END, "silent": START, "broken": START, "refusing": START}


@pytest.mark.requirement("families")
async def test_a_page_holds_our_jobs_and_those_of_another_engine(desk: Desk) -> None:
    ours = [add_job(desk.people.connection, BEGIN - timedelta(minutes=each)) for each in (1, 3, 5)]
    shop = Listed("shop", [2, 4])
    actor, asked = desk.actor("o.lind"), Asked(view=JobView.ALL, limit=2)
    found, mark = [], None
    while True:
        page = await list_jobs(desk.service, actor, asked, mark, sources=(shop,))
        assert [(each.name, each.reached) for each in page.sources] == [(HERE, True), ("shop", True)]
        found += [each.id for each in page.jobs]
        if page.last is None:
            break
        mark = page.last
    assert found == [ours[0], "shop-0", ours[1], "shop-1", ours[2]]
    only = await list_jobs(desk.service, actor, Asked(view=JobView.ALL, filter="source:shop"), sources=(shop,))
    assert [each.id for each in only.jobs] == ["shop-0", "shop-1"]
    one = await list_jobs(desk.service, actor, Asked(view=JobView.ALL, source=HERE), sources=(shop,))
    assert [each.id for each in one.jobs] == ours
    broken = Listed("shop", [], fails=RuntimeError("no"))
    page = await list_jobs(desk.service, actor, Asked(view=JobView.ALL), sources=(broken,))
    assert ([each.id for each in page.jobs], page.last) == (ours, ("here", END, "shop", START))
    page = await list_jobs(desk.service, actor, Asked(view=JobView.ALL), page.last, sources=(broken,))
    assert (page.jobs, page.last) == ((), None)
    await refused_with(ErrorCode.NOT_FOUND, list_jobs(desk.service, actor, Asked(source="gone"), sources=(shop,)))
    first = await list_jobs(desk.service, actor, asked)
    more = await list_jobs(desk.service, actor, asked, first.last, sources=(shop,))
    assert [each.id for each in (*first.jobs, *more.jobs)] == ours  # a source that came since begins with a first page


async def test_the_count_of_a_filter_has_what_other_engines_know_and_says_where_they_do_not(desk: Desk) -> None:
    add_job(desk.people.connection, BEGIN)
    actor, asked = desk.actor("o.lind"), Asked(view=JobView.ALL)

    async def listed(*sources: Listed, filter_: str = "") -> tuple[int, bool, bool]:
        asked = Asked(view=JobView.ALL, filter=filter_)
        count = (await count_jobs(desk.service, actor, asked, sources=sources)).listed
        return count.count, count.exact, count.at_least

    shop = Listed("shop", [1, 2])
    assert await listed(shop) == (3, True, False)
    assert await listed(shop, filter_="source:here") == (1, True, False)
    assert await listed(shop, Listed("big", [1, 2, 3], looks=1)) == (3, False, True)
    assert await listed(shop, Listed("broken", [], fails=RuntimeError("no"))) == (3, False, True)
    assert (await count_jobs(desk.service, actor, asked, sources=(shop,))).statuses[JobStatus.PENDING].count == 1
