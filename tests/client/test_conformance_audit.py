"""The audit trail and the timeline of the fake service mean what those of the real one mean: both run every test."""

from __future__ import annotations

import csv
import io
from datetime import timedelta

import pytest

from jobconsole.client import audit, timeline
from jobconsole.client.errors import ServiceRefused
from jobconsole.client.queues import claim, new_key, release_claim
from jobconsole.client.session import me
from jobcontract.operating import TimelineKind
from tests.client.stage import AUDITOR, FIRST, OPERATOR, SECOND, Stage
from tests.client.test_conformance import PAYOUTS, refused

DAY = timedelta(days=1)


async def trailed(stage: Stage) -> str:
    """An item that one claims, that another one cannot claim, and that is given back; its id."""
    row = await stage.add(PAYOUTS, "Row", minor=100, days_old=1)
    first, second = stage.sign_in(FIRST), stage.sign_in(SECOND)
    held = (await claim(first, row, new_key())).item
    assert held is not None
    assert await refused(claim(second, row, new_key())) == "claim-held"
    await release_claim(first, row, held.fence, new_key())
    return row


@pytest.mark.requirement("MONEY-33")
async def test_a_filter_lists_what_is_all_of_it_in_pages(stage: Stage) -> None:
    row = await trailed(stage)
    service = stage.sign_in(AUDITOR)
    whole = [each async for each in audit.all_audit(service, asked=audit.Asked(subject=row))]
    assert [each.action for each in whole][:3] == ["release-claim", "claim", "claim"]
    assert [each.outcome for each in whole][:3] == ["done", "refused", "done"]
    first = await audit.audit(service, asked=audit.Asked(subject=row, action="claim"), limit=1)
    rest = await audit.audit(service, asked=audit.Asked(subject=row, action="claim"), limit=1, cursor=first.next)
    assert ([each.outcome for each in (*first.entries, *rest.entries)], rest.next) == (["refused", "done"], None)
    (found,) = [each async for each in audit.all_audit(service, asked=audit.Asked(outcome="refused"))]
    assert (found.person and found.person.name, found.detail["code"]) == (
        whole[1].person and whole[1].person.name,
        "claim-held",
    )
    now = first.as_of
    assert not (await audit.audit(service, asked=audit.Asked(since=now + DAY))).entries
    assert not (await audit.audit(service, asked=audit.Asked(until=now - DAY))).entries
    assert not (await audit.audit(service, asked=audit.Asked(person="nobody"))).entries
    assert await refused(audit.audit(service, cursor="nonsense")) == "cursor-invalid"


@pytest.mark.requirement("MONEY-31")
async def test_one_entry_is_read_by_its_number_by_who_may(stage: Stage) -> None:
    row = await trailed(stage)
    service = stage.sign_in(AUDITOR)
    page = await audit.audit(service, asked=audit.Asked(subject=row), limit=1)
    detail = await audit.entry(service, page.entries[0].id)
    assert (detail.entry, detail.before, detail.after, detail.seal) == (page.entries[0], None, None, None)
    assert detail.reference
    assert await refused(audit.entry(service, 2**40)) == "not-found"
    assert await refused(audit.entry(stage.sign_in(OPERATOR), page.entries[0].id)) == "permission-missing"


@pytest.mark.requirement("MONEY-28")
async def test_the_export_is_csv_of_the_filter_and_is_an_entry(stage: Stage) -> None:
    row = await trailed(stage)
    service = stage.sign_in(AUDITOR)
    content = await audit.export(service, asked=audit.Asked(subject=row, action="claim"))
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
    assert [(each["action"], each["outcome"]) for each in rows] == [("claim", "refused"), ("claim", "done")]
    assert list(rows[0]) == ["entry", "instant", "person", "name", "action", "subject", "outcome", "schedule", "detail"]
    newest = (await audit.audit(service, limit=1)).entries[0]
    assert (newest.action, newest.detail["rows"]) == ("export-audit", 2)
    assert newest.detail["asked"] == {"subject": row, "action": "claim"}
    with pytest.raises(ServiceRefused):
        await audit.export(stage.sign_in(FIRST))


async def test_a_timeline_is_of_a_stretch_that_is_one(stage: Stage) -> None:
    service = stage.sign_in(OPERATOR)
    now = (await me(service)).now
    page = await timeline.timeline(service, now - DAY, now, (TimelineKind.STOP,))
    assert (page.entries, page.next, page.since, page.until) == ((), None, now - DAY, now)
    assert [each async for each in timeline.every_entry(service, now - DAY, now, (TimelineKind.STOP,))] == []
    assert await refused(timeline.timeline(service, now, now)) == "invalid-request"
    assert await refused(timeline.timeline(service, now - 32 * DAY, now)) == "invalid-request"
    assert await refused(timeline.timeline(service, now - DAY, now, cursor="nonsense")) == "cursor-invalid"
