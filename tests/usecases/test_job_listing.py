"""Listing and counting jobs: every filter over all pages against a plain look at the rows, reach, and what counts say."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from jobcontract.errors import ErrorCode
from jobcontract.job_states import JobStatus, JobView
from jobcontract.states import Role
from jobservice.store import job_listing as store
from jobservice.usecases.actor import Actor
from jobservice.usecases.job_listing import Asked, count_jobs, list_jobs
from tests.job_rows import add_job, add_rows, job_row
from tests.usecases.desk import Desk, refused_with

KINDS = ("payments.bank-file", "payments.report", "service.plan-apply")
PEOPLE = ("m.ito", "o.lind", None)
CUSTOMERS, WORKSPACES = ("C-1", "C-2", "C-3", None), ("W-1", "W-2", None)
STATUSES = ("pending", "running", "succeeded", "succeeded", "failed", "failed", "failed", "cancelled")
CAUSES = ("Account CLOSED at the bank", "100% of the limit", "Unknown_host")
Row = dict[str, Any]
Test = Callable[[Row], bool]


def past(desk: Desk) -> datetime:
    row = desk.people.connection.execute("select jobs.now()").fetchone()
    now: datetime = row[0]
    return now.astimezone(UTC).replace(microsecond=0)


def seeded(desk: Desk, many: int, seed: int) -> list[Row]:
    """Jobs of acme, of some of every sort, one every ten minutes back from an hour ago; and as many of globex."""
    chance = random.Random(seed)  # noqa: S311  # no secret
    connection = desk.people.connection
    causes = {}
    for text in CAUSES:
        found = connection.execute(
            "insert into jobs.job_causes (tenant, kind, step, text) values ('acme', 'k', 's', %s) returning id", (text,)
        ).fetchone()
        causes[found[0]] = text
    rows = []
    now = past(desk)
    for number in range(many):
        status, kind = chance.choice(STATUSES), chance.choice(KINDS)
        more: Row = {
            "kind": kind,
            "family": kind.partition(".")[0],
            "requester": chance.choice(PEOPLE),
            "customer": chance.choice(CUSTOMERS),
            "workspace": chance.choice(WORKSPACES),
        }
        if status == "failed":
            more |= {"cause": chance.choice([None, *causes])}
            more |= {"resolution": chance.choice([None, None, "retried", "acknowledged", "resolved"])}
        elif status in ("pending", "running") and chance.random() < 0.3:
            more |= {"cancel_asked_at": now, "cancel_reason": "stop it", "cancel_asked_by": "o.lind"}
        at = now - timedelta(minutes=65 + 10 * number)
        rows.append(job_row(at, status=status, **more))
        rows.append(job_row(at, status=status, **{**more, "cause": None}, tenant="globex"))
    with connection.transaction():
        add_rows(connection, "jobs", rows)
    return [row | {"text": causes.get(row.get("cause"), "")} for row in rows if row["tenant"] == "acme"]


def any_filter(chance: random.Random, rows: list[Row], now: datetime) -> tuple[str, Test]:
    """A filter of some conditions, and what it means."""
    statuses = chance.sample([status.value for status in JobStatus], 2)
    kinds = chance.sample(KINDS, 2)
    scope = chance.choice(["C-1", "W-2"])
    word = chance.choice(rows)
    hours = chance.randint(2, 30)
    resolutions = {"unresolved": None, "retried": "retried", "acknowledged": "acknowledged", "resolved": "resolved"}
    is_ = chance.choice(list(resolutions))
    two = ("retried", "resolved")
    options: list[tuple[str, Test]] = [
        (f"status:{','.join(statuses)}", lambda row: row["status"] in statuses),
        (f"kind:{','.join(chance.choice((each, each.upper())) for each in kinds)}", lambda row: row["kind"] in kinds),
        ("requester:me,none", lambda row: row.get("requester") in ("o.lind", None)),
        ("requester:m.ito", lambda row: row.get("requester") == "m.ito"),
        (f"scope:{scope}", lambda row: scope in (row.get("customer"), row.get("workspace"))),
        (f"age>{hours}h", lambda row: row["requested_at"] < now - timedelta(hours=hours)),
        (f"age<{hours}h", lambda row: row["requested_at"] >= now - timedelta(hours=hours)),
        ('error:"closed at","%"', lambda row: row["text"] in CAUSES[:2]),
        ("error:_", lambda row: row["text"] == CAUSES[2]),
        (f"is:{is_}", lambda row: row["status"] == "failed" and row.get("resolution") == resolutions[is_]),
        (f"is:{','.join(two)}", lambda row: row.get("resolution") in two),
        (
            "is:cancelling,unresolved",
            lambda row: (
                (row["status"] == "failed" and not row.get("resolution"))
                or bool(row.get("cancel_asked_at") and not row.get("settled_at"))
            ),
        ),
        ("is:cancelling", lambda row: bool(row.get("cancel_asked_at") and not row.get("settled_at"))),
        (word["submission_identity"], lambda row: row["id"] == word["id"]),
        (chance.choice([str.lower, str.upper])(word["id"]), lambda row: row["id"] == word["id"]),
        (
            word.get("failure_reference") or "ref-0",
            lambda row: row.get("failure_reference") == (word.get("failure_reference") or "ref-0"),
        ),
    ]
    chosen: dict[str, tuple[str, Test]] = {}
    for text, test in chance.sample(options, chance.choice([0, 1, 1, 2, 3])):
        chosen.setdefault(text.split(":")[0].split(">")[0].split("<")[0], (text, test))
    tests = [test for _, test in chosen.values()]
    return " ".join(text for text, _ in chosen.values()), lambda row: all(test(row) for test in tests)


async def walked(desk: Desk, actor: Any, asked: Asked) -> list[str]:
    """All pages, one after the other; none but the last is short without saying how far it looked."""
    found: list[str] = []
    mark = None
    for _ in range(500):
        page = await list_jobs(desk.service, actor, asked, mark)
        found += [job.id for job in page.jobs]
        if page.last is None:
            return found
        assert len(page.jobs) == asked.limit or page.looked_to is not None
        mark = page.last
    raise AssertionError("the walk does not end")


@pytest.mark.requirement("families")
@pytest.mark.parametrize("bounds", ["wide", "narrow"])
async def test_pages_of_any_filter_hold_what_matches_once_and_in_order(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, bounds: str
) -> None:
    """`narrow`: so few rows are looked at that nearly every page of a combination ends for that reason."""
    if bounds == "narrow":
        monkeypatch.setattr(store, "LOOKED", 30)
        monkeypatch.setattr(store, "SPREAD", 10)
        monkeypatch.setattr(store, "ENOUGH", 12)
        monkeypatch.setattr(store, "AT_FIRST", 2)
    rows, now = seeded(desk, 240, seed=7), past(desk)
    chance = random.Random(bounds)  # noqa: S311  # no secret
    for _ in range(120):
        text, matches = any_filter(chance, rows, now)
        reach: dict[str, Any] = chance.choice([{}, {}, {"customers": ("C-1", "C-3")}, {"workspaces": ("W-2",)}])
        view = chance.choice(list(JobView))
        wanted = [
            row["id"]
            for row in rows
            if matches(row)
            and (view is JobView.ALL or (row["status"] == "failed" and not row.get("resolution")))
            and ("customers" not in reach or row.get("customer") in reach["customers"])
            and ("workspaces" not in reach or row.get("workspace") in reach["workspaces"])
        ]
        actor = Actor(person="o.lind", tenant="acme", role=Role.OPERATOR, **reach)
        asked = Asked(view=view, filter=text, limit=chance.choice([3, 20, 200]))
        assert await walked(desk, actor, asked) == wanted, (text, reach, view)
        listed = (await count_jobs(desk.service, actor, asked)).listed
        assert listed.count == len(wanted) if listed.exact else listed.count <= len(wanted), (text, reach, view)


async def test_counts_are_exact_while_few_and_then_say_about_as_of_or_at_least(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jobservice.usecases.job_counting.COUNTED", 20)
    rows = seeded(desk, 120, seed=3)
    connection = desk.people.connection
    actor = desk.actor("o.lind")

    def many(test: Test) -> int:
        return sum(map(test, rows))

    counts = await count_jobs(desk.service, actor, Asked(view=JobView.ALL))
    unresolved = many(lambda row: row["status"] == "failed" and not row.get("resolution"))
    assert (counts.listed.exact, counts.listed.count) == (False, 120)
    for status in JobStatus:
        wanted = sum(row["status"] == status for row in rows)
        assert counts.statuses[status].count == wanted
        assert counts.statuses[status].exact == (wanted <= 20)
    assert (counts.unresolved.count, counts.unresolved.exact) == (unresolved, unresolved <= 20)
    # What the tallies cannot know is counted to the bound, and says so.
    some = (await count_jobs(desk.service, actor, Asked(view=JobView.ALL, filter="age>1m"))).listed
    assert (some.count, some.exact, some.at_least) == (20, False, True)
    # With too much that was not folded in yet, the tallies are as old as they say.
    connection.execute(
        "insert into jobs.job_tallies (tenant, kind, status, unresolved, count, folded_at)"
        " values ('acme', 'payments.report', 'succeeded', false, 70, jobs.now() - interval '4 s')"
    )
    monkeypatch.setattr(store, "CHANGES_MOST", 3)
    old = (await count_jobs(desk.service, actor, Asked(view=JobView.ALL))).listed
    assert (old.count, old.exact) == (70, False)
    assert old.as_of < counts.now


async def test_people_with_a_narrow_reach_are_told_of_that_reach_alone(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = past(desk)
    connection = desk.people.connection
    mine = add_job(connection, now, customer="C-1", status="failed")
    add_job(connection, now, customer="C-2", status="failed")
    add_job(connection, now, status="failed")
    add_job(connection, now, status="failed", tenant="globex", customer="C-1")
    actor = desk.actor("s.bell", customers=("C-1",))
    page = await list_jobs(desk.service, actor, Asked())
    counts = await count_jobs(desk.service, actor, Asked())
    assert [job.id for job in page.jobs] == [mine]
    assert (counts.listed.count, counts.unresolved.count, counts.statuses[JobStatus.FAILED].count) == (1, 1, 1)
    # More than is counted of each customer: at least so many, of the latest; what is unresolved is counted by itself.
    monkeypatch.setattr(store, "LOOKED", 2)
    add_job(connection, now + timedelta(seconds=1), customer="C-1", status="succeeded", progress=100)
    counts = await count_jobs(desk.service, actor, Asked(view=JobView.ALL))
    assert (counts.listed.count, counts.listed.exact, counts.listed.at_least) == (2, False, True)
    assert (counts.unresolved.count, counts.unresolved.exact) == (1, True)
    assert counts.statuses[JobStatus.SUCCEEDED].at_least
    nobody = desk.actor("s.bell", customers=())
    assert not (await list_jobs(desk.service, nobody, Asked(view=JobView.ALL))).jobs


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tenant:globex", "Switch to globex"),
        ("kind:payments.bank-fil", "Did you mean payments.bank-file?"),
        ("source:elsewhere", "is not a source of jobs here"),
        ("state:failed", "Write status:failed"),
    ],
)
async def test_a_filter_that_names_what_there_is_not_is_refused_with_what_to_write(
    desk: Desk, text: str, said: str
) -> None:
    add_job(desk.people.connection, past(desk))
    listing = list_jobs(desk.service, desk.actor("o.lind"), Asked(filter=text))
    refusal = await refused_with(ErrorCode.FILTER_INVALID, listing)
    assert said in refusal.detail
    assert refusal.extra["at"] == text.index(":") + 1 or text.startswith("state")


async def test_listing_needs_its_permission_and_a_mark_of_its_own(desk: Desk) -> None:
    await refused_with(ErrorCode.PERMISSION_MISSING, list_jobs(desk.service, desk.actor("p.push"), Asked()))
    actor = desk.actor("o.lind")
    await refused_with(ErrorCode.CURSOR_INVALID, list_jobs(desk.service, actor, Asked(), ("here", "1' or 1")))
    await refused_with(ErrorCode.NOT_FOUND, list_jobs(desk.service, actor, Asked(source="shop")))


async def test_words_of_too_many_failures_are_refused_and_a_page_has_a_row_at_least(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "CAUSES_MOST", 2)
    seeded(desk, 9, seed=1)
    actor = desk.actor("o.lind")
    few = await list_jobs(desk.service, actor, Asked(view=JobView.ALL, filter='error:"closed at","%"', limit=0))
    assert len(few.jobs) <= 1
    assert len((await list_jobs(desk.service, actor, Asked(view=JobView.ALL, limit=0))).jobs) == 1
    refusal = await refused_with(
        ErrorCode.FILTER_INVALID, list_jobs(desk.service, actor, Asked(filter="age>1h error:closed,limit,unknown"))
    )
    assert "More than 2 different failures say that." in refusal.detail
    assert (refusal.extra["at"], refusal.extra["length"]) == (7, len("error:closed,limit,unknown"))
