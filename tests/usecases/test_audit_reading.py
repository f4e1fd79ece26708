"""One entry with before and after, a filter that finds what it says and no more, the trail as CSV that is an entry itself."""

from __future__ import annotations

import csv
import io
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest

from jobcontract.errors import ErrorCode
from jobservice.store.audit import Mark, NewEntry, Wanted, add
from jobservice.store.database import Database
from jobservice.usecases import audit_reading
from jobservice.usecases.audit import list_audit
from jobservice.usecases.audit_reading import export_audit, read_entry
from tests.conftest import Clock
from tests.usecases.desk import PAYOUTS, SCORED, Desk, payout, refused_with
from tests.usecases.test_seals import others_ended

AUDITOR = "s.audit"


async def newest(desk: Desk, action: str) -> Any:
    """The newest entry of an action, read whole."""
    page = await list_audit(desk.service, desk.actor(AUDITOR), None, 1, Wanted(action=action))
    return await read_entry(desk.service, desk.actor(AUDITOR), page.entries[0].id)


async def add_entries(database: Database, *entries: dict[str, Any]) -> None:
    """Entries of acme with these members, each in a transaction of its own."""
    for entry in entries:
        async with database.transaction("acme") as transaction:
            members = {"person": "m.ito", "action": "claim", "subject": "x", "outcome": "done", "detail": {}} | entry
            await add(transaction, NewEntry(reference="r", **members))


@pytest.mark.requirement("MONEY-31")
async def test_a_push_and_a_change_of_an_item_show_before_and_after(desk: Desk) -> None:
    await desk.push(SCORED, payout("K-1", inputs={"proof": "a", "pages": 1}))
    pushed = await newest(desk, "push-item")
    assert pushed.before is None
    assert (pushed.after["state"], pushed.after["amount_minor"], pushed.after["account_last4"]) == (
        "open",
        1_234,
        "6819",
    )
    await desk.change("K-1", 1, title="Another", minor=99)
    changed = await newest(desk, "change-item")
    assert (changed.before["title"], changed.after["title"]) == ("Payout K-1", "Another")
    assert (changed.before["amount_minor"], changed.after["amount_minor"]) == (1_234, 99)
    assert (changed.before["money_version"], changed.after["money_version"]) == (1, 2)
    assert "account_changed" not in changed.after
    assert "GB29" not in changed.model_dump_json()


@pytest.mark.requirement("MONEY-31")
async def test_an_act_shows_what_it_changed_and_one_that_changed_nothing_shows_nothing(desk: Desk) -> None:
    item = await desk.push(PAYOUTS)
    held = (await desk.claim("m.ito", item["id"])).body["item"]
    await desk.act("m.ito", held, "note", text="rang")
    note = await newest(desk, "t.note")
    assert (note.before, note.after) == (None, None)
    await desk.act("m.ito", held, "reject", reason="Paid already")
    rejected = await newest(desk, "t.reject")
    assert (rejected.before["state"], rejected.after["state"]) == ("open", "rejected")
    assert (rejected.reference, rejected.seal) == ("test", None)


async def test_what_an_act_kept_of_before_and_after_is_shown(desk: Desk, database: Database) -> None:
    await add_entries(
        database,
        {"action": "disable-schedule", "detail": {"before": {"disabled": False}, "after": {"disabled": True}}},
        {"action": "odd", "detail": {"before": "text", "after": None}},
        {"action": "foreign", "subject": str(uuid4()), "detail": {"money_version": 3}},
    )
    disabled = await newest(desk, "disable-schedule")
    assert (disabled.before, disabled.after) == ({"disabled": False}, {"disabled": True})
    for action in ("odd", "foreign"):
        found = await newest(desk, action)
        assert (found.before, found.after) == (None, None)


@pytest.mark.requirement("MONEY-31")
async def test_an_entry_shows_its_seal_once_it_has_one(desk: Desk, worker_database: Database) -> None:
    await desk.push()
    await others_ended(desk.service.database)
    async with worker_database.transaction(None) as transaction:
        row = await transaction.row("seals/seal", most=10)
    assert row is not None
    seal = (await newest(desk, "push-item")).seal
    assert (seal.place, seal.link, seal.sealed_at) == (1, row["head"].hex(), row["at"])


async def test_an_entry_is_read_by_who_may_and_in_its_tenant_alone(desk: Desk) -> None:
    await desk.push(by="g.push")
    (entry,) = desk.people.connection.execute("select id from jobs.audit").fetchone()
    await refused_with(ErrorCode.NOT_FOUND, read_entry(desk.service, desk.actor(AUDITOR), entry))
    await refused_with(ErrorCode.NOT_FOUND, read_entry(desk.service, desk.actor(AUDITOR), 2**62))
    for person in ("m.ito", "o.lind", "s.bell", "p.push", "a.admin"):
        await refused_with(ErrorCode.PERMISSION_MISSING, read_entry(desk.service, desk.actor(person), entry))
        await refused_with(ErrorCode.PERMISSION_MISSING, export_audit(desk.service, desk.actor(person)))


@pytest.mark.requirement("MONEY-33")
async def test_a_filter_finds_what_is_all_of_it_page_by_page(desk: Desk, database: Database, clock: Clock) -> None:
    await add_entries(
        database,
        {"subject": "a"},
        {"subject": "b", "outcome": "refused"},
        {"person": "k.rao", "subject": "a"},
        {"person": None, "action": "claim-lapsed", "subject": "a"},
        {"action": "run-schedule", "detail": {"schedule": "nightly"}},
    )
    clock.advance(3_600)
    await add_entries(database, {"subject": "late"}, {"subject": "100%", "person": "k.rao"})

    async def subjects(wanted: Wanted, limit: int = 2) -> list[str]:
        found, after = [], None
        while True:
            page = await list_audit(desk.service, desk.actor(AUDITOR), after, limit, wanted)
            found += [each.subject for each in page.entries]
            if (after := page.last) is None:
                return found

    assert await subjects(Wanted()) == ["100%", "late", "x", "a", "a", "b", "a"]
    assert await subjects(Wanted(person="k.rao")) == ["100%", "a"]
    assert await subjects(Wanted(person="k.rao", subject="a")) == ["a"]
    assert await subjects(Wanted(by_itself=True)) == ["a"]
    assert await subjects(Wanted(action="claim-lapsed")) == ["a"]
    assert await subjects(Wanted(outcome="refused")) == ["b"]
    assert await subjects(Wanted(schedule="nightly")) == ["x"]
    assert await subjects(Wanted(subject="%")) == []
    (now,) = desk.people.connection.execute("select jobs.now()").fetchone()
    noon = now - timedelta(minutes=30)
    assert await subjects(Wanted(since=noon)) == ["100%", "late"]
    assert await subjects(Wanted(until=noon, person="m.ito", action="claim")) == ["b", "a"]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of four entries, read two at a time."""
    monkeypatch.setattr(audit_reading, "AUDIT_EXPORT_MOST", 4)
    monkeypatch.setattr(audit_reading, "_CHUNK", 2)
    return


@pytest.mark.requirement("MONEY-28")
async def test_the_trail_leaves_as_csv_that_no_spreadsheet_runs_and_that_is_an_entry(
    desk: Desk, database: Database, small: None
) -> None:
    await add_entries(
        database,
        {"subject": "old"},
        {"subject": '=cmd|"x"!A1', "detail": {"reason": 'He said, "no"'}},
        {"subject": "b"},
    )
    content = await export_audit(desk.service, desk.actor(AUDITOR), Wanted(action="claim"))
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
    assert [row["subject"] for row in rows] == ["b", '\'=cmd|"x"!A1', "old"]
    assert (rows[1]["detail"], rows[1]["name"], rows[1]["outcome"]) == (
        '{"reason": "He said, \\"no\\""}',
        "Mina Ito",
        "done",
    )
    entry = await newest(desk, "export-audit")
    assert entry.entry.detail == {"rows": 3, "whole": True, "asked": {"action": "claim"}}
    await add_entries(database, {"subject": "c"}, {"subject": "d"})
    content = await export_audit(desk.service, desk.actor(AUDITOR), Wanted(action="claim"))
    rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))
    assert [row["subject"] for row in rows] == ["d", "c", "b", '\'=cmd|"x"!A1', ""]
    assert rows[-1]["action"] == audit_reading.LEFT_OFF


async def test_pages_do_not_repeat_what_happened_in_one_instant(desk: Desk) -> None:
    desk.people.connection.execute(
        "insert into jobs.audit (at, tenant, action, subject, outcome) select '2026-01-01Z', 'acme', 'a', n::text, 'done'"
        " from generate_series(1, 5) as n"
    )
    seen: list[str] = []
    after: Mark | None = None
    while True:
        page = await list_audit(desk.service, desk.actor(AUDITOR), after, 2)
        seen += [each.subject for each in page.entries]
        if (after := page.last) is None:
            break
    assert seen == ["5", "4", "3", "2", "1"]
