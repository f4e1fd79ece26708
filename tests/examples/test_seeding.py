"""Seeding a demo: what is pushed where, that it is the same in every run, and that nothing is lost in silence."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from psycopg import Connection

from examples.payments import application
from examples.payments.items import DISPUTES, NOTES, PAYOUTS
from examples.payments.seeded_jobs import SEEDED
from examples.payments.seeding import PUBLISHED, SAMPLE, Seeding
from jobcontract.ids import KEY_MAX, NAME_MAX, storable
from jobcontract.plans import PlanOrder
from jobcontract.states import ItemState, Role
from jobservice import records
from jobservice.application import NewJob, NewWorkItem
from jobservice.rules.look_alikes import look_alikes
from jobservice.store.database import Database
from jobservice.usecases import plans
from jobservice.usecases.actor import Actor
from jobservice.usecases.idempotency import Once
from jobservice.usecases.seeding import push_examples, submit_example
from jobservice.usecases.service import Service

NOW = datetime(2026, 3, 10, 0, 30, tzinfo=UTC)


class Inbox:
    """Keeps what is pushed, by tenant and key, as the service would: a key counts once."""

    def __init__(self) -> None:
        self.items: dict[tuple[str, str], tuple[str, NewWorkItem]] = {}
        self.jobs: dict[tuple[str, str, str], NewJob] = {}

    async def push(self, tenant: str, queue: str, items: Sequence[NewWorkItem]) -> int:
        """How many were new."""
        before = len(self.items)
        for item in items:
            self.items.setdefault((tenant, item.key), (queue, item))
        return len(self.items) - before

    async def submit(self, tenant: str, jobs: Sequence[NewJob]) -> int:
        """How many were new."""
        before = len(self.jobs)
        for job in jobs:
            self.jobs.setdefault((tenant, job.kind, job.submission_identity), job)
        return len(self.jobs) - before

    def of(self, tenant: str, queue: str) -> list[NewWorkItem]:
        """The items of one queue."""
        return [item for (owner, _), (place, item) in self.items.items() if (owner, place) == (tenant, queue)]


async def seeded(**options: object) -> tuple[Inbox, list[str]]:
    """The sample alone, or with what `options` say."""
    inbox = Inbox()
    seeding = Seeding(**{"published": Path("nowhere"), **options})  # type: ignore[arg-type]  # named by the caller
    return inbox, list(await seeding(NOW, inbox.push, inbox.submit))


async def test_both_tenants_get_payouts_disputes_and_notes() -> None:
    inbox, _ = await seeded()
    counts = {
        tenant: [len(inbox.of(tenant, queue)) for queue in (PAYOUTS, DISPUTES, NOTES)] for tenant in ("leeds", "york")
    }
    assert counts == {"leeds": [455, 36, 19], "york": [141, 8, 3]}


async def test_every_item_fits_its_queue_record_and_the_wire() -> None:
    found, _ = records.check(application)
    assert found is not None
    inbox, _ = await seeded()
    for queue, item in inbox.items.values():
        record = found.queues[queue]
        assert record.money is (item.payment is not None)
        assert set(item.inputs) == {declared.name for declared in record.inputs if declared.required}
        assert all(len(str(value)) <= (record.inputs[0].most or 0) for value in item.inputs.values())
        assert 0 < len(item.key) <= KEY_MAX
        assert 0 < len(item.title) <= NAME_MAX
        assert storable(item.key + item.title)
        assert item.created is not None
        assert item.created <= NOW


@pytest.mark.requirement("MONEY-10")
async def test_every_payout_of_the_sample_can_be_in_a_plan_but_the_one_that_its_readme_names() -> None:
    found, _ = records.check(application)
    assert found is not None
    (command,) = found.bulk_of(PAYOUTS)
    use_case = found.use_cases[command.use_case]
    inbox, _ = await seeded()
    payouts = [item for tenant in ("leeds", "york") for item in inbox.of(tenant, PAYOUTS)]
    payments = [item.payment for item in payouts if item.payment is not None]
    assert {payment.money.currency for payment in payments} == command.limits.currencies
    larger = [each.money for each in payments if each.money.minor > command.limits.item[each.money.currency]]
    readme = (SAMPLE / "README.md").read_text()
    assert [f"One payout of the sample ({money} in" in readme for money in larger] == [True]
    assert use_case.states == {ItemState.OPEN}
    gross, counts = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for payment in payments:
        if payment.money not in larger and not payment.money.credit:
            gross[payment.account, payment.money.currency] += payment.money.minor
            counts[payment.account, payment.money.currency] += 1
    assert all(minor <= command.limits.account[currency] for (_, currency), minor in gross.items())
    assert max(counts.values()) <= command.limits.account_count
    for currency, most in command.limits.plan.items():
        assert sum(minor for (_, other), minor in gross.items() if other == currency) <= most


async def test_the_made_up_rows_have_something_to_warn_of_and_say_that_they_are_made_up() -> None:
    inbox, _ = await seeded()
    items = inbox.of("leeds", PAYOUTS)
    odd = [item for item in items if "ODD-" in item.key and item.payment is not None]
    assert len(odd) == 7
    assert all(item.title.startswith("Made up: ") for item in odd)
    payments = [item.payment for item in odd if item.payment is not None]
    alike = look_alikes({(each.payment.payee_id, each.payment.payee_name) for each in items if each.payment})
    assert alike[payments[0].payee_id] == "Harbour Cranes Ltd"
    assert (payments[1].money, payments[1].account) == (payments[2].money, payments[2].account)
    assert payments[3].payee_id == payments[4].payee_id
    assert payments[3].account != payments[4].account
    assert payments[5].payee_id != payments[6].payee_id
    assert payments[5].account == payments[6].account


async def test_the_newest_payout_is_of_yesterday_by_the_clock_that_was_given() -> None:
    inbox, said = await seeded()
    newest = max(item.created for item in inbox.of("leeds", PAYOUTS) if item.created is not None)
    assert newest == datetime(2026, 3, 9, tzinfo=UTC)
    assert sum("so that the newest is yesterday" in line for line in said) == 6


async def test_every_unreadable_row_is_said_and_waits_as_a_note() -> None:
    inbox, said = await seeded()
    lines = [line.strip() for line in said if line.startswith("  line ")]
    titles = [note.title for tenant in ("leeds", "york") for note in inbox.of(tenant, NOTES)]
    assert len(lines) == 16
    assert [line for line in lines if not any(title.endswith(line[5:]) or line in title for title in titles)] == []


async def test_a_second_run_adds_nothing_and_says_so() -> None:
    inbox, _ = await seeded()
    before = dict(inbox.items)
    said = await Seeding(published=Path("nowhere"))(NOW, inbox.push, inbox.submit)
    assert inbox.items == before
    assert "york: 141 payouts, 8 disputes, 3 notes; 0 new, 152 there before." in said


async def test_files_that_are_not_there_or_cannot_be_read_are_named(tmp_path: Path) -> None:
    (tmp_path / "leeds-odd.csv").write_text('ref,"amount\n1,2\n')
    (tmp_path / "leeds-good.csv").write_bytes((SAMPLE / "leeds-2010-12.csv").read_bytes())
    _, said = await seeded(published=tmp_path)
    assert "leeds-odd.csv was not loaded: The quote opened on line 1 is not closed before the end of the file." in said
    assert any(line.startswith("leeds: leeds-good.csv") and "0 payouts" in line for line in said)
    _, alone = await seeded()
    assert sum("the sample alone was loaded" in line for line in alone) == 1


@pytest.mark.requirement("FILE-03")
@pytest.mark.parametrize("kind", ["link", "dangling link", "pipe"])
async def test_what_is_no_ordinary_file_is_named_and_not_followed(tmp_path: Path, kind: str) -> None:
    folder = tmp_path / "published"
    folder.mkdir()
    outside = tmp_path / "outside.csv"
    outside.write_bytes((SAMPLE / "leeds-2011-06.csv").read_bytes())
    place = folder / "leeds-evil.csv"
    if kind == "pipe":
        os.mkfifo(place)
    else:
        place.symlink_to(outside if kind == "link" else tmp_path / "nowhere.csv")
    inbox, said = await seeded(published=folder)
    assert sum(line.startswith("leeds-evil.csv was not loaded: It is ") for line in said) == 1
    assert len(inbox.of("leeds", PAYOUTS)) == 455


async def test_the_service_takes_every_item_of_the_sample(database: Database, superuser: Connection[Any]) -> None:
    superuser.execute("insert into jobs.tenants (id, name) values ('leeds', 'Leeds'), ('york', 'York')")
    superuser.execute("insert into jobs.people (id, name, contact) values ('f.in', 'Fin', 'f@example.org')")
    found, _ = records.check(application)
    assert found is not None

    async def push(tenant: str, queue: str, items: Sequence[NewWorkItem]) -> int:
        assert found is not None
        return await push_examples(database, found, application, tenant, queue, items, pusher="p.push")

    async def submit(tenant: str, jobs: Sequence[NewJob]) -> int:
        assert found is not None
        new = [await submit_example(database, found, tenant, job, requester="f.in") for job in jobs]
        return sum(new)

    said = await Seeding(published=Path("nowhere"), jobs=SEEDED)(NOW, push, submit)
    counted = superuser.execute("select tenant, queue, count(*) from jobs.items group by 1, 2 order by 1, 2").fetchall()
    assert [tuple(row) for row in counted] == [
        ("leeds", DISPUTES, 36),
        ("leeds", NOTES, 19),
        ("leeds", PAYOUTS, 455),
        ("york", DISPUTES, 8),
        ("york", NOTES, 3),
        ("york", PAYOUTS, 141),
    ]
    sums = superuser.execute(
        "select currency, sum(amount_minor)::text from jobs.items"
        " where queue = 'payments.payouts' and tenant = 'leeds' and currency <> 'GBP' group by 1 order by 1"
    ).fetchall()
    assert dict(sums) == {"EUR": "2039130", "JPY": "1441534", "KWD": "1322067", "USD": "2550000"}
    assert "leeds: 455 payouts, 36 disputes, 19 notes; 510 new, 0 there before." in said
    whole, york = len(SEEDED["leeds"]), len(SEEDED["york"])
    assert said[-2:] == [f"leeds: {whole} background jobs; {whole} new.", f"york: {york} background jobs; {york} new."]
    standing = "select status, count(*), count(handed_over_at) from jobs.jobs group by 1 order by 1"
    assert superuser.execute(standing).fetchall() == [
        ("cancelled", 1, 1),
        ("pending", whole + york - 1, whole + york - 1),
    ]
    assert [await submit("york", SEEDED["york"])] == [0]


@pytest.mark.requirement("MONEY-11", "show-a-preview-before-bulk-money-actions")
async def test_every_payout_of_the_sample_can_be_planned_and_the_odd_ones_are_warned_of(
    database: Database, superuser: Connection[Any]
) -> None:
    superuser.execute("insert into jobs.tenants (id, name) values ('leeds', 'Leeds'), ('york', 'York')")
    superuser.execute("insert into jobs.people (id, name, contact) values ('f.in', 'Fin', 'f@example.org')")
    superuser.execute("insert into jobs.memberships (person, tenant, role) values ('f.in', 'leeds', 'finance')")
    found, _ = records.check(application)
    assert found is not None

    async def push(tenant: str, queue: str, items: Sequence[NewWorkItem]) -> int:
        assert found is not None
        return await push_examples(database, found, application, tenant, queue, items, pusher="p.push")

    await Seeding(published=Path("nowhere"))(NOW, push, Inbox().submit)
    service = Service(database=database, records=found, application=application, deployment="test")
    actor = Actor(person="f.in", tenant="leeds", role=Role.FINANCE)
    order = PlanOrder(command="payments.release-many", filter="")
    answered = await plans.make(service, actor, PAYOUTS, order, Once(method="POST", path="/x", key="k", digest=b"b"))
    assert (answered.status, answered.body["count"]) == (201, 455)
    assert {total["currency"] for total in answered.body["totals"]} == {"GBP", "EUR", "USD", "JPY", "KWD"}
    warned = superuser.execute(
        "select split_part(i.business_key, '/', 2), w.kind from jobs.plan_warnings as w"
        " inner join jobs.items as i on w.item = i.id"
        " where i.business_key like '%/ODD-%' and w.kind <> 'first-payment' order by 1, 2"
    ).fetchall()
    assert [tuple(row) for row in warned] == [
        ("ODD-0001", "look-alike"),
        ("ODD-0002", "same-here"),
        ("ODD-0003", "same-here"),
        ("ODD-0004", "payee-two-accounts"),
        ("ODD-0005", "payee-two-accounts"),
        ("ODD-0006", "account-two-payees"),
        ("ODD-0007", "account-two-payees"),
    ]
    must = superuser.execute("select count(distinct item) from jobs.plan_warnings where must_answer").fetchone()
    assert must == (4,)


async def test_a_capped_run_says_what_it_left_out(tmp_path: Path) -> None:
    (tmp_path / "leeds-2011-06.csv").write_bytes((SAMPLE / "leeds-2011-06.csv").read_bytes())
    inbox, said = await seeded(published=tmp_path, most=40)
    assert len(inbox.of("leeds", PAYOUTS)) == 455 + 40
    assert any(line.startswith("leeds: leeds-2011-06.csv") and "101 left out" in line for line in said)
    assert "Of the published files the newest 40 payouts were taken." in said


@pytest.mark.skipif(
    not PUBLISHED.is_dir(), reason="the published files (../shared/data) are not beside this repository"
)
async def test_the_published_files_are_loaded_whole() -> None:
    inbox, said = await seeded(published=PUBLISHED)
    assert len(inbox.of("leeds", PAYOUTS)) == 46_035
    assert len(inbox.of("york", PAYOUTS)) == 141
    assert not any("was not loaded" in line for line in said)
    assert {item.created for item in inbox.of("leeds", PAYOUTS)} <= {
        NOW.replace(hour=0, minute=0) - timedelta(days=days) for days in range(1, 200)
    }
