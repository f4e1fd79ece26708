"""Jobs of other engines through monitoring views: found, paged, within reach, read-only by construction."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import psycopg
import pytest

from jobcontract.job_filters import parse
from jobcontract.job_states import JobStatus, JobView
from jobservice.monitoring_views import WantedViews, install_views
from jobservice.store import job_views as store
from jobservice.store.items import Reach
from jobservice.usecases.job_sources import START, AskedOfSource, ForeignSource, SourcePage
from jobservice.usecases.job_views import ViewSources
from tests.conftest import Server
from tests.engines import run_dbos, run_procrastinate

EVERYWHERE = Reach(customers=None, workspaces=None)


@pytest.fixture(scope="module")
async def engines(server: Server, worker_id: str) -> AsyncIterator[str]:
    """A database in which both engines ran, with views over both."""
    name = f"views_{worker_id}"
    server.create_database(name)
    url = server.url("jobs_owner", name)
    await run_procrastinate(url)
    await run_dbos(url)
    install_views(url, WantedViews(engine="procrastinate", tenant="acme", customer_field="customer"))
    install_views(url, WantedViews(engine="dbos", tenant="acme", application="shop"))
    yield name
    server.drop_database(name)


@pytest.fixture
async def sources(server: Server, engines: str) -> AsyncIterator[ViewSources]:
    """What an API process has that is told of that database."""
    found = await ViewSources.open((("other", server.url("jobs_views", engines)),))
    yield found
    await found.close()


def _asked(
    text: str = "", *, view: JobView = JobView.ALL, tenant: str = "acme", reach: Reach = EVERYWHERE
) -> AskedOfSource:
    now = datetime.now(UTC) + timedelta(seconds=5)
    return AskedOfSource(tenant=tenant, person="m.ito", reach=reach, view=view, filter=parse(text), now=now)


async def _page(source: ForeignSource, asked: AskedOfSource, behind: str = START, most: int = 50) -> SourcePage:
    return await source.page(asked, behind, most)


def _kinds(page: SourcePage) -> list[str]:
    return [f"{row.job.kind} {row.job.status}" for row in page.rows]


@pytest.mark.requirement("families")
async def test_views_are_found_and_paged_in_their_own_order(sources: ViewSources) -> None:
    dbos, procrastinate = await sources.current()
    assert [(each.name, each.engine, each.application) for each in (dbos, procrastinate)] == [
        ("other.dbos", "dbos", "shop"),
        ("other.procrastinate", "procrastinate", "procrastinate"),
    ]
    whole = await _page(procrastinate, _asked())
    assert _kinds(whole) == ["mail.send pending", "mail.send failed", "mail.send succeeded"]
    assert whole.beyond is None
    for source in (dbos, procrastinate):
        one_by_one, place = [], START
        while rows := (await _page(source, _asked(), place, 1)).rows:
            one_by_one.append(rows[0].job.id)
            place = rows[0].position
        assert one_by_one == [row.job.id for row in (await _page(source, _asked())).rows]
        assert len(one_by_one) == 3


@pytest.mark.requirement("families")
@pytest.mark.parametrize(
    ("asked", "found"),
    [
        (_asked(view=JobView.UNRESOLVED), ["mail.send failed"]),
        (_asked("status:succeeded,pending"), ["mail.send pending", "mail.send succeeded"]),
        (_asked("kind:other.kind"), []),
        (_asked("scope:c-2"), ["mail.send pending"]),
        (_asked("error:FAILED"), ["mail.send failed"]),
        (_asked("error:%"), []),
        (_asked("age>1h"), []),
        (_asked("age<1h status:failed"), ["mail.send failed"]),
        (_asked("requester:none status:failed"), ["mail.send failed"]),
        (_asked("requester:me"), []),
        (_asked("is:acknowledged"), []),
        (_asked("is:unresolved status:succeeded"), []),
        (_asked("2"), ["mail.send failed"]),
        (_asked(tenant="globex"), []),
        (_asked(reach=Reach(customers=("c-1",), workspaces=None)), ["mail.send succeeded"]),
        (_asked(reach=Reach(customers=None, workspaces=("w",))), []),
    ],
)
async def test_filter_view_and_scope_of_the_reader(
    sources: ViewSources, asked: AskedOfSource, found: list[str]
) -> None:
    procrastinate = (await sources.current())[1]
    assert _kinds(await _page(procrastinate, asked)) == found


@pytest.mark.requirement("families")
async def test_a_kind_with_capitals_is_asked_for_in_any_case(
    sources: ViewSources, server: Server, engines: str
) -> None:
    procrastinate = (await sources.current())[1]
    with psycopg.connect(server.url("jobs_owner", engines)) as connection:
        connection.execute(
            "insert into procrastinate_jobs (queue_name, task_name, args) values ('default', 'Mail.Send_Receipt', '{}')"
        )
    try:
        for text in ("kind:Mail.Send_Receipt", "kind:mail.send_receipt", 'kind:"MAIL.SEND_RECEIPT",other'):
            assert _kinds(await _page(procrastinate, _asked(text))) == ["Mail.Send_Receipt pending"]
        assert len(_kinds(await _page(procrastinate, _asked("kind:Mail.Send")))) == 3
    finally:
        with psycopg.connect(server.url("jobs_owner", engines)) as connection:
            connection.execute("delete from procrastinate_jobs where task_name = 'Mail.Send_Receipt'")


@pytest.mark.requirement("families")
async def test_a_job_of_another_engine(sources: ViewSources) -> None:
    dbos = (await sources.current())[0]
    failed = next(row.job for row in (await _page(dbos, _asked())).rows if row.job.status is JobStatus.FAILED)
    job = await dbos.job(_asked(), failed.id)
    assert job is not None
    assert [(step.label, step.status.value) for step in job.steps] == [("charge", "failed")]
    assert {job.acts.cancel, job.acts.retry, job.acts.resolve, job.acts.reveal} == {
        "dbos carries this job: it is acted on there."
    }
    events = await dbos.events(_asked(), failed.id, None, 1)
    assert events is not None
    assert [event.kind.value for event in events.events] == ["settled"]
    outside = _asked(reach=Reach(customers=("c-1",), workspaces=None))
    assert await dbos.job(outside, failed.id) is None
    assert await dbos.events(outside, failed.id, None, 1) is None
    assert await dbos.job(_asked(tenant="globex"), failed.id) is None


@pytest.mark.requirement("families")
async def test_a_page_looks_at_so_many_jobs_and_says_how_far(
    sources: ViewSources, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "LOOK_MOST", 2)
    procrastinate = (await sources.current())[1]
    page = await _page(procrastinate, _asked("status:succeeded"))
    assert page.rows == ()
    assert page.beyond is not None
    place, looked_to = page.beyond
    assert looked_to <= datetime.now(UTC)
    assert _kinds(await _page(procrastinate, _asked("status:succeeded"), place)) == ["mail.send succeeded"]
    assert await procrastinate.count(_asked("status:succeeded"), 1000) is None


@pytest.mark.requirement("families")
async def test_a_login_that_may_do_more_reads_nothing(server: Server, engines: str) -> None:
    with psycopg.connect(server.url("jobs_owner", engines), autocommit=True) as connection:
        connection.execute("grant select on public.procrastinate_jobs to jobs_worker")
    for role, named in (("jobs_owner", "jobs_owner"), ("jobs_worker", "public.procrastinate_jobs")):
        found = await ViewSources.open((("other", server.url(role, engines)),))
        try:
            (source,) = await found.current()
            with pytest.raises(Exception, match=f"may do more than read views .{named}"):
                await source.page(_asked(), START, 10)
        finally:
            await found.close()


async def test_a_database_that_is_not_there_says_so(server: Server) -> None:
    found = await ViewSources.open((("other", server.url("jobs_views", "nowhere")),))
    try:
        (source,) = await found.current()
        with pytest.raises(Exception, match=r"cannot be reached|did not answer"):
            await source.page(_asked(), START, 10)
        assert await source.count(_asked(), 10) is None
    finally:
        await found.close()


@pytest.mark.requirement("families")
async def test_views_with_other_columns_are_no_source(server: Server, engines: str, sources: ViewSources) -> None:
    with psycopg.connect(server.url("jobs_owner", engines), autocommit=True) as connection:
        connection.execute("create schema others")
        for view in ("query", "steps", "events"):
            connection.execute(f"create view others.cross_job_{view} as select 1 as job".encode())
            connection.execute(f"grant select on others.cross_job_{view} to jobs_views".encode())
        connection.execute("grant usage on schema others to jobs_views")
    assert [each.name for each in await sources.current()] == ["other.dbos", "other.procrastinate"]
