"""The example's other background jobs: activation of workspaces, exports that fail in three ways, the slow archive."""

from __future__ import annotations

import pytest

from examples.payments.exports import FULL_STORE
from examples.payments.items import NOTES
from examples.payments.seeded_jobs import SEEDED
from examples.payments.workspaces import LICENCES
from jobcontract.states import OutcomeKind
from jobservice.application import done, refused, retry
from jobservice.rules.job_inputs import judge_inputs
from tests.examples.steps import LINEAGE, kinds, run


@pytest.mark.requirement("relationships")
async def test_an_activation_writes_each_application_and_submits_one_refresh_of_access() -> None:
    ran = [
        await run("workspace.activate", {"licence": "professional", "seats": 25}, customer="c", workspace="c/accounts")
        for _ in range(2)
    ]
    for each in ran:
        call = each.calls["write"]
        assert each.last == done("2 applications are written")
        assert list(call.pushed) == [
            (NOTES, f"workspace/c/accounts/{name.lower()}") for name in LICENCES["professional"]
        ]
        assert {(item.customer, item.workspace) for item in call.pushed.values()} == {("c", "c/accounts")}
        refresh = {"workspace": "c/accounts", "cause": "licence professional"}
        assert call.submitted == {("access.refresh", f"licence/{LINEAGE}/write"): refresh}
    assert [percent for percent, _ in ran[0].calls["open"].told][::5] == [5, 30, 55, 80]
    assert (await run("access.refresh", refresh)).last == done("Access to c/accounts is read anew")


@pytest.mark.parametrize(
    ("licence", "seats", "workspace", "why"),
    [
        ("premium", 5, "c/main", "There is no licence premium; there are standard, professional, complete."),
        ("standard", 501, "c/main", "A licence has 1 to 500 seats, not 501."),
        (
            "standard",
            5,
            "c/admin",
            "The name admin is taken by the service itself; the customer has to choose another.",
        ),
        ("standard", 5, None, "It names no workspace; submit it in the scope of one."),
    ],
)
async def test_an_activation_that_the_rules_refuse_says_why(
    licence: str, seats: int, workspace: str | None, why: str
) -> None:
    ran = await run("workspace.activate", {"licence": licence, "seats": seats}, workspace=workspace)
    assert ran.last == refused(why)
    assert not any(call.pushed for call in ran.calls.values())


async def test_an_export_fails_in_three_ways_by_its_inputs_alone() -> None:
    good = {"month": "2011-06", "format": "csv", "store": "auditors"}
    ran = await run("payments.export", good)
    assert ran.last.kind is OutcomeKind.DONE
    assert ran.calls["render"].kept["payouts"] == 143
    assert str(ran.calls["render"].kept["digest"]).startswith("sha256:")
    by_rule = await run("payments.export", {**good, "month": "2013-01"})
    assert by_rule.last == refused("Nothing was published for 2013-01; there are 2010-12, 2011-06, 2012-11, 2020-06.")
    with pytest.raises(KeyError, match="purpose"):
        await run("payments.export", {**good, "format": "fixed"})
    for _ in range(3):
        full = await run("payments.export", {**good, "store": FULL_STORE})
        assert full.last == retry("The store cold-store has no room yet and asks to come again.", after_seconds=1)
    for name in ("format", "store"):
        assert (await run("payments.export", {**good, name: "odd"})).last.kind is OutcomeKind.REFUSED


async def test_an_archive_says_how_far_it_is_ten_times_a_second() -> None:
    ran = await run("payments.archive-statements", {"statements": 300})
    call = ran.calls["archive"]
    assert (len(call.told), call.waited) == (300, [0.1] * 300)
    assert call.told[149] == (50, "150 of 300 are in the archive")
    assert [percent for percent, _ in call.told] == sorted(percent for percent, _ in call.told)
    for statements in (0, 36_001):
        assert (await run("payments.archive-statements", {"statements": statements})).last.kind is OutcomeKind.REFUSED


@pytest.mark.requirement("INV-01", "INV-09")
def test_every_job_of_the_demo_has_its_own_identity_and_inputs_that_its_kind_declares() -> None:
    known = kinds()
    for jobs in SEEDED.values():
        assert len({(job.kind, job.submission_identity) for job in jobs}) == len(jobs)
        for job in jobs:
            assert judge_inputs(known[job.kind].inputs, job.inputs).faults == ()
