"""The trail as an auditor reads it: everything that changed, every refused act, nothing that was looked at."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from psycopg.types.json import Jsonb
from structlog.testing import capture_logs

from jobcontract.audit import AuditEntry
from jobcontract.errors import ErrorCode, Refusal
from jobservice.store.audit import Mark, Wanted
from jobservice.store.database import Database
from jobservice.usecases import audit
from jobservice.usecases.audit import list_audit, record_refusal
from tests.usecases.desk import Desk, refused_with
from tests.usecases.desk import desk as new_desk
from tests.usecases.money_desk import WRONG, MoneyDesk

START = datetime(2026, 11, 1, 2, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@pytest.mark.requirement("MONEY-31")
async def test_every_change_and_every_refused_act_is_a_row_and_looking_is_not(desk: Desk) -> None:
    item = await desk.push()
    await desk.detail(item["id"])
    held = (await desk.claim("m.ito", item["id"])).body["item"]
    await refused_with(ErrorCode.CLAIM_HELD, desk.claim("k.rao", item["id"]))
    await desk.renew("m.ito", item["id"], 1)
    await desk.act("m.ito", held, "note", text="rang")
    await desk.release("m.ito", item["id"], 1)
    page = await list_audit(desk.service, desk.actor("s.audit"), None, 100)
    assert [(each.action, each.outcome) for each in reversed(page.entries)] == [
        ("push-item", "done"),
        ("claim", "done"),
        ("claim", "refused"),
        ("renew-claim", "done"),
        ("t.note", "done"),
        ("release-claim", "done"),
    ]
    refusal = page.entries[3]
    assert refusal.person is not None
    assert (refusal.person.name, refusal.subject, refusal.detail["code"]) == ("Kiran Rao", item["id"], "claim-held")
    assert "NWBK" not in page.entries[-1].model_dump_json()


@pytest.mark.requirement("MONEY-31")
async def test_every_refused_confirmation_is_a_row_and_so_is_its_code(money: MoneyDesk) -> None:
    plan = await money.plan(await money.pushed(1))
    await refused_with(ErrorCode.PERMISSION_MISSING, money.confirm(plan, person="k.rao"))
    await refused_with(ErrorCode.PLAN_DIGEST, money.confirm(plan, digest="0" * 64))
    await refused_with(ErrorCode.CODE_WRONG, money.confirm(plan, code=WRONG))
    page = await list_audit(money.service, money.actor("s.audit"), None, 6)
    assert [
        (each.person and each.person.id, each.action, each.outcome, each.detail.get("code", each.detail.get("verdict")))
        for each in reversed(page.entries)
        if each.action != "make-plan"
    ] == [
        ("k.rao", "confirm-plan", "refused", "permission-missing"),
        ("m.ito", "code-accepted", "done", "right"),
        ("m.ito", "confirm-plan", "refused", "plan-digest"),
        ("m.ito", "code-refused", "refused", "wrong"),
        ("m.ito", "confirm-plan", "refused", "code-wrong"),
    ]
    assert WRONG not in "".join(each.model_dump_json() for each in page.entries)


async def test_pages_go_from_the_newest_to_the_end(desk: Desk) -> None:
    for _ in range(5):
        await desk.push()
    seen: list[int] = []
    after: Mark | None = None
    while True:
        page = await list_audit(desk.service, desk.actor("s.audit"), after, 2)
        seen += [each.id for each in page.entries]
        if page.last is None:
            break
        after = page.last
    assert seen == sorted(seen, reverse=True)
    assert len(seen) == 5


@pytest.mark.requirement("MONEY-31")
@pytest.mark.parametrize("limit", [1, 2, 100])
@pytest.mark.parametrize(
    ("wanted", "rarest"),
    [
        (Wanted(person="m.ito", action="run"), 8),
        (Wanted(person="m.ito", subject="s-3"), 6),
        (Wanted(person="m.ito", outcome="done", schedule="t.seldom"), 4),
        (Wanted(by_itself=True, action="run"), 12),
        (Wanted(action="wait", outcome="refused"), 4),
        (Wanted(action="no-such", person="m.ito"), 0),
        (Wanted(action="wait", outcome="refused", since=START + 4 * MINUTE, until=START + 6 * MINUTE), 3),
    ],
)
async def test_a_search_for_several_things_looks_at_so_many_and_goes_on_from_where_it_stopped(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, limit: int, wanted: Wanted, rarest: int
) -> None:
    """Each page looks at three entries of what is rarest (there are so many of it), says how far it came, and the pages
    together are the whole."""
    monkeypatch.setattr(audit, "LOOKED", 3)
    for number in range(24):
        desk.people.connection.execute(
            "insert into jobs.audit (tenant, person, action, subject, reference, outcome, detail, at)"
            " values ('acme', %s, %s, %s, 'x', %s, %s, %s)",
            (
                ("m.ito", None)[number % 2],
                ("run", "look", "wait")[number % 3],
                f"s-{number % 4}",
                ("done", "done", "refused")[number % 3 if number > 11 else 0],
                Jsonb({"schedule": "t.seldom"} if number % 6 == 0 else {}),
                START + (number // 4) * MINUTE,  # four of them at each instant
            ),
        )
    whole = [each for each in await everything(desk, Wanted(), 100) if like(each, wanted)]
    looked_to: list[datetime | None] = []
    assert await everything(desk, wanted, limit, looked_to) == whole
    assert looked_to[-1] is None
    if limit == 100:
        assert any(looked_to) == (rarest >= 3)


def like(entry: AuditEntry, wanted: Wanted) -> bool:
    """Whether an entry is all of that."""
    person = None if entry.person is None else entry.person.id
    return (
        wanted.person in (None, person)
        and (person is None or not wanted.by_itself)
        and wanted.action in (None, entry.action)
        and wanted.subject in (None, entry.subject)
        and wanted.outcome in (None, entry.outcome)
        and wanted.schedule in (None, entry.schedule)
        and (wanted.since is None or entry.at >= wanted.since)
        and (wanted.until is None or entry.at < wanted.until)
    )


async def everything(
    desk: Desk, wanted: Wanted, limit: int, looked_to: list[datetime | None] | None = None
) -> list[AuditEntry]:
    """All pages together; how far each looked."""
    found: list[AuditEntry] = []
    after: Mark | None = None
    while True:
        page = await list_audit(desk.service, desk.actor("s.audit"), after, limit, wanted)
        found += page.entries
        if looked_to is not None:
            looked_to.append(page.looked_to)
        if page.last is None:
            return found
        assert after is None or page.last < after
        after = page.last


async def test_reading_needs_audit_read_and_stays_in_the_tenant(desk: Desk) -> None:
    await desk.push(by="g.push")
    await refused_with(ErrorCode.PERMISSION_MISSING, list_audit(desk.service, desk.actor("m.ito"), None, 10))
    assert (await list_audit(desk.service, desk.actor("s.audit"), None, 10)).entries == ()


async def test_what_a_request_named_is_kept_only_as_far_as_it_can_be(desk: Desk) -> None:
    refusal = Refusal(ErrorCode.NOT_FOUND, "No.")
    await record_refusal(desk.service, desk.actor("m.ito"), "a" * 900, "b\x00", refusal)
    (entry,) = (await list_audit(desk.service, desk.actor("s.audit"), None, 10)).entries
    assert (len(entry.action), entry.subject) == (200, "unreadable")


@pytest.mark.parametrize("url", ["host=/nowhere dbname=none user=nobody connect_timeout=1"])
async def test_a_trail_that_cannot_be_written_is_logged_and_hides_nothing(desk: Desk, url: str) -> None:
    away = await Database.open(url, name="test away", most=1, wait_seconds=0.2)
    try:
        with capture_logs() as logs:
            refusal = Refusal(ErrorCode.CLAIM_HELD, "Held.")
            await record_refusal(new_desk(away, desk.people).service, desk.actor("m.ito"), "claim", "x", refusal)
        assert [each["code"] for each in logs if each["event"] == "refusal-not-recorded"] == ["claim-held"]
    finally:
        await away.close()
