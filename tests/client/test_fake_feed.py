"""The fake service's live stream, through the real feed: what a screen's test can rely on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

from jobconsole.client import jobs
from jobconsole.client import queues as client
from jobconsole.client.fake import FakeService
from jobconsole.client.feed import Changed, Feed, FeedTimes, Live, News, Reload, SignedOut, Stale
from jobcontract.events import Topic

FAST = FeedTimes(first_pause=0.01, longest_pause=0.02)


async def until(news: AsyncIterator[News], kind: type[News] | Callable[[News], bool]) -> News:
    """The next news of that kind."""
    async with asyncio.timeout(10):
        async for piece in news:
            if isinstance(piece, kind) if isinstance(kind, type) else kind(piece):
                return piece
    raise AssertionError("the feed ended")


async def test_changes_resets_breaks_and_the_end_reach_the_feed() -> None:
    fake = FakeService()
    item = fake.queues.add("payments.payouts", "Acme", minor=100)
    service = fake.service("m.ito")
    news = Feed(service, times=FAST).news()
    await until(news, Live)
    await client.claim(service, item, "k-1")
    changed = await until(news, Changed)
    assert isinstance(changed, Changed)
    assert [(hint.id, hint.version) for hint in changed.hints] == [(item, 2)]
    fake.publish_reset()
    await until(news, Reload)
    fake.away = True
    fake.close_streams()
    await until(news, Stale)
    fake.queues.add("payments.payouts", "While away", minor=1)
    fake.away = False
    missed = await until(news, Changed)
    assert isinstance(missed, Changed), "what happened while the stream was down comes after it"
    fake.publish_ended()
    await until(news, SignedOut)
    assert [piece async for piece in news] == []
    await service.close()


async def test_hints_name_a_job_with_its_kind_and_the_length_of_its_history() -> None:
    fake = FakeService()
    job = fake.account.add("payments.export")
    service = fake.service("s.bell")
    news = Feed(service, times=FAST).news()
    await until(news, Live)
    await jobs.cancel_job(service, job.id, "Not wanted", "k-1")
    changed = await until(news, Changed)
    assert isinstance(changed, Changed)
    (hint,) = changed.hints
    changes = (await jobs.job(service, job.id)).changes
    assert (hint.topic, hint.id, hint.queue, hint.version) == (Topic.JOB, job.id, "payments.export", changes)
    fake.account.changed_many("payments.export")
    many = await until(news, Changed)
    assert isinstance(many, Changed)
    assert [(each.topic, each.id) for each in many.hints] == [(Topic.JOBS, "payments.export")]
    await service.close()
