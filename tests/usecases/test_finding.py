"""Finding: every noun by every word it has, within permission and reach, each by an index."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from jobcontract.errors import ErrorCode
from jobcontract.job_states import FoundNoun
from jobservice.store.database import Transaction
from jobservice.store.statements import statement
from jobservice.usecases.finding import FOUND_MOST, find
from tests.job_rows import add_job, add_rows
from tests.statistics import forget_statistics
from tests.usecases.desk import PAYOUTS, Desk, payout, refused_with

WORKER, PLAN, RECOVERY, OCCURRENCE = (f"0193aabb-ccdd-7000-8000-00000000000{n}" for n in range(1, 5))
PLAN_ROW = """
insert into jobs.plans (
    id, tenant, name, command, queue, use_case, use_case_version, owner, salt, digest, totals, count, payees, frozen_at,
    valid_until
) values (%(plan)s, 'acme', 'lark-42', 'c', 't.payouts', 't.release', 1, 'm.ito', sha256(''), sha256(''), '[]', 1, 1, jobs.now(), jobs.now());
insert into jobs.plan_items (
    plan, item, tenant, number, money_version, fence, title, amount_minor, currency, payee_id, payee_name, account,
    account_mark, inputs, outward_key, reference
) values (%(plan)s, %(item)s, 'acme', 1, 1, 1, 'x', 1, 'GBP', 's', 's', '12345678', 'm', '{}', 'out-key-1', 'BANK-77');
insert into jobs.workers (incarnation, version, host) values (%(worker)s, '1', 'h1');
insert into jobs.schedules (tenant, schedule, definition, planned_until) values ('acme', 'reports.nightly', '', jobs.now());
insert into jobs.occurrences (id, tenant, schedule, scheduled_at, tzdata, lock, due_at)
values (%(occurrence)s, 'acme', 'reports.nightly', '2026-10-26T01:30:00Z', 't', 'l', jobs.now());
insert into jobs.audit (tenant, person, action, subject, outcome, reference)
values ('acme', 'm.ito', 'release', 'x', 'refused', 'req-9')
"""


async def filled(desk: Desk) -> dict[str, str]:
    """One of everything in acme; the job's and the item's ids."""
    connection = desk.people.connection
    row = connection.execute("select jobs.now()").fetchone()
    at = row[0] - timedelta(hours=1)
    item = (await desk.push(PAYOUTS, payout("K-77", customer="C-1")))["id"]
    values = {"plan": PLAN, "item": item, "worker": WORKER, "occurrence": OCCURRENCE}
    for each in PLAN_ROW.split(";\n"):
        connection.execute(each.encode(), values)
    job = add_job(
        connection,
        at,
        status="failed",
        submission_identity="month-end",
        failure_reference="F-1",
        requester="o.lind",
        customer="C-1",
        subject="November",
    )
    step = {
        "family": "payments",
        "job": job,
        "position": 1,
        "tenant": "acme",
        "step": "send",
        "label": "Send",
        "use_case": "t.send",
        "moves": "nothing",
        "status": "failed",
        "attempts": 1,
        "started_at": at,
        "settled_at": at,
        "failure_reference": "F-2",
        "reference": "FILE-3",
        "outward_key": "key-4",
    }
    add_rows(connection, "job_steps", [step])
    return {"job": job, "item": item}


async def test_every_noun_is_found_by_every_word_it_has(desk: Desk) -> None:
    made = await filled(desk)
    job, item = (FoundNoun.JOB, made["job"]), (FoundNoun.ITEM, made["item"])
    plan, occurrence = (FoundNoun.PLAN, PLAN), (FoundNoun.OCCURRENCE, OCCURRENCE)
    words: dict[str, tuple[FoundNoun, str, str]] = {
        made["job"]: (*job, "id"),
        made["job"].upper(): (*job, "id"),
        made["job"][:8]: (*job, "id"),
        "month-end": (*job, "submission identity"),
        "F-1": (*job, "failure reference"),
        "F-2": (*job, "failure reference of a step"),
        "FILE-3": (*job, "reference outside"),
        "key-4": (*job, "outward key"),
        made["item"]: (*item, "id"),
        "K-77": (*item, "business key"),
        "out-key-1": (*item, "payout reference"),
        "BANK-77": (*item, "reference of the bank"),
        "lark-42": (*plan, "name"),
        PLAN: (*plan, "id"),
        "reports.nightly": (FoundNoun.SCHEDULE, "reports.nightly", "id"),
        OCCURRENCE: (*occurrence, "id"),
        "reports.nightly@2026-10-26T02:30:00+01:00": (*occurrence, "name"),
        "k.rao": (FoundNoun.PERSON, "k.rao", "id"),
        WORKER: (FoundNoun.WORKER, WORKER, "incarnation"),
    }
    auditor = desk.actor("s.audit")
    for text, (noun, identifier, matched) in words.items():
        found = (await find(desk.service, auditor, text)).found
        assert (noun, identifier, matched) in {(each.noun, each.id, each.matched) for each in found}, (text, found)
        assert text == made["job"][:8] or len(found) == 1, (text, found)
    (entry,) = (await find(desk.service, auditor, "req-9")).found
    assert (entry.noun, entry.title, entry.matched) == (FoundNoun.AUDIT, "release x", "reference of the request")
    (again,) = (await find(desk.service, auditor, entry.id.zfill(2))).found
    assert again.matched == "number"
    by_person = (await find(desk.service, auditor, "o.lind")).found
    assert {each.noun for each in by_person} == {FoundNoun.JOB, FoundNoun.PERSON}
    assert not (await find(desk.service, auditor, "month-en")).found


async def test_nothing_is_found_past_permission_reach_or_tenant(desk: Desk) -> None:
    made = await filled(desk)
    support = await find(desk.service, desk.actor("s.bell", customers=("C-1",)), made["job"])
    assert [each.id for each in support.found] == [made["job"]]
    assert set(support.looked) == {FoundNoun.JOB, FoundNoun.RECOVERY, FoundNoun.PERSON}
    narrow = desk.actor("m.ito", customers=("C-2",))
    other = desk.actor("k.rao", customers=("C-1",))
    for text in (made["job"], "month-end", "F-2", "FILE-3", made["item"], "K-77", "out-key-1", "BANK-77"):
        assert not (await find(desk.service, narrow, text)).found, text
        assert not (await find(desk.service, desk.actor("g.fin"), text)).found, text
    assert not (await find(desk.service, other, "lark-42")).found  # another's plan holds items out of reach
    assert (await find(desk.service, narrow, "lark-42")).found
    await refused_with(ErrorCode.INVALID_REQUEST, find(desk.service, narrow, " x "))
    await refused_with(ErrorCode.INVALID_REQUEST, find(desk.service, narrow, "x\x00y"))


async def test_what_others_have_hides_nothing_of_ones_own(desk: Desk) -> None:
    """The beginning of an id and a requester fit more jobs of others than are looked at: one's own is found all the same."""
    connection = desk.people.connection
    row = connection.execute("select jobs.now()").fetchone()
    at = row[0] - timedelta(hours=1)
    with connection.transaction():
        mine = add_job(connection, at, customer="C-1", workspace="W-1", requester="p.push")
        add_job(connection, at, customer="C-1", workspace="W-2", requester="o.lind")
        for _ in range(FOUND_MOST + 5):
            add_job(connection, at, customer="C-2", workspace="W-3", requester="p.push")
    of_customer = desk.actor("s.bell", customers=("C-0", "C-1"))
    of_workspace = replace(desk.actor("s.bell"), workspaces=("W-1",))
    of_both = replace(of_customer, workspaces=("W-1", "W-3"))
    for text, matched in ((mine[:8], "id"), ("p.push", "requester"), ("P.Push", "requester")):
        for actor in (of_customer, of_workspace, of_both):
            found = [each for each in (await find(desk.service, actor, text)).found if each.noun is FoundNoun.JOB]
            assert (mine, matched) in {(each.id, each.matched) for each in found}, (text, actor)
            assert len(found) == (2 if matched == "id" and actor is of_customer else 1), (text, actor)
    with connection.transaction():
        for _ in range(FOUND_MOST + 5):
            add_job(connection, at, customer="C-1", workspace="W-2", requester="p.push")
    for text in (mine[:8], "p.push"):
        ids = [each.id for each in (await find(desk.service, of_both, text)).found if each.noun is FoundNoun.JOB]
        assert ids == [mine], "nor what another workspace of the same customer has"


async def test_more_than_are_shown_are_told(desk: Desk) -> None:
    connection = desk.people.connection
    row = connection.execute("select jobs.now()").fetchone()
    with connection.transaction():
        for _ in range(FOUND_MOST + 5):
            add_job(connection, row[0], status="failed", failure_reference="same")
    found = await find(desk.service, desk.actor("o.lind"), "same")
    assert (len(found.found), found.more) == (FOUND_MOST, True)


async def test_each_noun_is_looked_up_by_an_index(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[str, Any]] = []
    original = Transaction.together

    async def together(self: Transaction, statements: Any) -> Any:
        asked.extend((name, {"tenant": self.tenant, **values}) for name, values in statements)
        return await original(self, statements)

    monkeypatch.setattr(Transaction, "together", together)
    await find(desk.service, desk.actor("s.audit"), "0193aabb-ccdd-7")
    assert len(asked) == 9
    connection = desk.people.connection
    for name, values in asked:
        with connection.transaction(force_rollback=True):
            forget_statistics(connection)
            connection.execute(
                "set local role jobs_api; set local enable_seqscan = off; set local enable_bitmapscan = off;"
                " set local enable_mergejoin = off; set local enable_hashjoin = off"
            )
            text = b"explain (format json) " + statement(name).encode()
            row = connection.execute(
                text, {k: str(v) if isinstance(v, UUID) else v for k, v in values.items()}
            ).fetchone()
        found = row[0] if isinstance(row[0], list) else json.loads(row[0])
        for node in _nodes(found[0]["Plan"]):
            if "Relation Name" in node and not node["Relation Name"].startswith("pg_"):
                assert "Index Cond" in node, (name, node["Node Type"], node["Relation Name"])


def _nodes(node: dict[str, Any]) -> list[dict[str, Any]]:
    return [node, *(each for below in node.get("Plans", ()) for each in _nodes(below))]
