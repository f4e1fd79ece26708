"""Background jobs over HTTP: submitting, listing, reading, acting, finding, and recoveries of them, within whose reach."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import pytest

from jobcontract.jobs import Finding, Job, JobCounts, JobEvents, JobKinds, JobRetried, Jobs, RevealedJob, Submitted
from jobcontract.recovery_digest import RecoveryDigestHead, RecoveryDigestRow, recovery_digest
from jobservice.api.answers import REPLAYED_HEADER
from tests.api.conftest import Api, key_header, problem_of
from tests.usecases.job_hand import JobHand

ARCHIVE, BANK_FILE = "payments.archive-statements", "payments.bank-file"
CARE = "c.care"
"""Support of one customer."""


@pytest.fixture
def hand(api: Api) -> JobHand:
    """Writes jobs; and there is somebody who sees those of one customer."""
    api.people.add(CARE, "acme", "support", customers=["CUST-7"])
    return JobHand(api.people.connection)


async def post(api: Api, person: str, path: str, body: dict[str, Any], **headers: str) -> Any:
    """An acting request of its own."""
    return await (await api.of(person)).post(path, json=body, headers={**key_header(), **headers})


def submission(identity: str = "archive-2026-11", **changes: Any) -> dict[str, Any]:
    """The body of a submission."""
    return {"kind": ARCHIVE, "submission_identity": identity, "inputs": {"statements": 12}, **changes}


@pytest.mark.requirement("INV-01", "INV-12")
async def test_a_submission_is_one_job_however_often_it_is_sent(api: Api, hand: JobHand) -> None:
    key = key_header()
    first = await post(api, "p.push", "/v1/jobs", submission(customer="CUST-7"), **key)
    again = await post(api, "p.push", "/v1/jobs", submission(customer="CUST-7"), **key)
    other = await post(api, "o.lind", "/v1/jobs", submission(customer="CUST-7"))
    assert (first.status_code, again.json(), REPLAYED_HEADER in again.headers) == (201, first.json(), True)
    made, same = Submitted.model_validate(first.json()), Submitted.model_validate(other.json())
    assert (made.first, same.first, made.job.id == same.job.id) == (True, False, True)
    assert (made.job.status, made.job.kind, made.job.subject) == ("pending", ARCHIVE, "CUST-7")
    taken = problem_of(
        await post(api, "p.push", "/v1/jobs", submission(customer="CUST-7", inputs={"statements": 13})),
        409,
        "job-identity-taken",
    )
    assert taken["job"] == made.job.id
    problem_of(await post(api, "p.push", "/v1/jobs", submission("x", kind="zzz")), 404, "not-found")
    problem_of(await post(api, "p.push", "/v1/jobs", submission("x", inputs={})), 422, "job-inputs-unfit")
    handle = hand.one("select execution_handle from jobs.jobs where id = %s", made.job.id)
    read = await (await api.of("o.lind")).get(f"/v1/jobs/{made.job.id}")
    assert handle
    assert handle not in first.text + read.text
    assert hand.one("select count(*) from jobs.audit where action = 'submit-job' and outcome = 'done'") == 1


@pytest.mark.requirement("PG-04", "INV-01")
async def test_twenty_at_the_same_moment_make_one_job_and_everybody_is_told_its_id(api: Api, hand: JobHand) -> None:
    await asyncio.gather(api.of("o.lind"), api.of("p.push"))
    for name in ("first", "second", "third"):
        answers = await asyncio.gather(
            *(
                post(
                    api, ("o.lind", "p.push")[each % 2], "/v1/jobs", submission(name, inputs={"statements": each // 10})
                )
                for each in range(20)
            )
        )
        made = [each.json() for each in answers if each.status_code == 201]
        taken = [problem_of(each, 409, "job-identity-taken") for each in answers if each.status_code != 201]
        assert (len(made), len(taken)) == (10, 10)
        assert len({each["job"]["id"] for each in made} | {each["job"] for each in taken}) == 1
        assert sum(each["first"] for each in made) == 1
        assert hand.one("select count(*) from jobs.jobs where submission_identity = %s", name) == 1


@pytest.mark.requirement("MONEY-1")
async def test_nobody_submits_or_singly_retries_what_moves_money(api: Api, hand: JobHand) -> None:
    failed = hand.job("failed", BANK_FILE, moves="money", plan="00000000-0000-7000-8000-000000000077")
    for person in ("o.lind", "p.push"):
        body = {"kind": BANK_FILE, "submission_identity": "by hand", "inputs": {}}
        refused = problem_of(await post(api, person, "/v1/jobs", body), 409, "needs-plan")
        assert "payments.release-many" in refused["detail"]
    for person in ("o.lind", "s.bell"):
        refused = problem_of(
            await post(api, person, f"/v1/jobs/{failed}/retry", {"reason": "Again"}), 409, "needs-plan"
        )
        assert "recovery" in refused["detail"]
    problem_of(await post(api, "m.ito", f"/v1/jobs/{failed}/retry", {"reason": "Again"}), 403, "permission-missing")
    assert hand.one("select count(*) from jobs.jobs") == 1


async def test_support_helps_its_own_customer_and_sees_nothing_else(api: Api, hand: JobHand) -> None:
    mine = hand.job(
        kind=ARCHIVE, customer="CUST-7", failure_reference="F-7K3M", requester="o.lind", submission_identity="nov"
    )
    theirs = hand.job(kind=ARCHIVE, customer="CUST-8", failure_reference="F-8888")
    nobodys = hand.job(kind=ARCHIVE)
    care = await api.of(CARE)
    found = Finding.model_validate((await care.get("/v1/find", params={"text": "F-7K3M"})).json())
    assert [(each.noun, each.id) for each in found.found] == [("job", mine)]
    for text in ("F-8888", theirs, nobodys):
        assert (await care.get("/v1/find", params={"text": text})).json()["found"] == []
    listed = Jobs.model_validate((await care.get("/v1/jobs")).json())
    assert ([job.id for job in listed.jobs], [each.name for each in listed.sources]) == ([mine], ["here"])
    counts = JobCounts.model_validate((await care.get("/v1/job-counts", params={"view": "all"})).json())
    assert (counts.listed.count, counts.unresolved.count) == (1, 1)
    job = Job.model_validate((await care.get(f"/v1/jobs/{mine}")).json())
    assert (job.summary.failure_summary, job.acts.retry) == ("The account is closed.", None)
    retried = await post(api, CARE, f"/v1/jobs/{mine}/retry", {"reason": "The account is open again"})
    again = JobRetried.model_validate(retried.json())
    assert (again.first, again.job.retry_of, again.retried.retried_by) == (True, mine, again.job.id)
    second = JobRetried.model_validate((await post(api, CARE, f"/v1/jobs/{mine}/retry", {"reason": "Twice"})).json())
    assert (second.first, second.job.id) == (False, again.job.id)
    for unseen in (theirs, nobodys):
        problem_of(await care.get(f"/v1/jobs/{unseen}"), 404, "not-found")
        problem_of(await care.get(f"/v1/jobs/{unseen}/events"), 404, "not-found")
        for act in ("cancel", "retry", "resolve", "reveal"):
            problem_of(await post(api, CARE, f"/v1/jobs/{unseen}/{act}", {"reason": "r"}), 404, "not-found")
    api.people.add("f.push", "acme", "pusher", customers=["CUST-7"])
    for customer in ("CUST-8", None):
        problem_of(await post(api, "f.push", "/v1/jobs", submission("y", customer=customer)), 404, "not-found")
    mine_too = await post(api, "f.push", "/v1/jobs", submission("y", customer="CUST-7"))
    assert mine_too.status_code == 201
    await post(api, "o.lind", "/v1/jobs", submission("z", customer="CUST-8"))
    taken = await post(api, "f.push", "/v1/jobs", submission("z", customer="CUST-7"))
    assert "job" not in problem_of(taken, 409, "job-identity-taken"), "nothing of what they may not see"


@pytest.mark.requirement("INV-09", "cancellation")
async def test_acts_on_a_job_are_answered_and_stand_in_its_history(api: Api, hand: JobHand) -> None:
    made = Submitted.model_validate((await post(api, "o.lind", "/v1/jobs", submission())).json()).job.id
    operator = await api.of("o.lind")
    job = Job.model_validate((await operator.get(f"/v1/jobs/{made}")).json())
    assert [(each.name, each.value, each.masked) for each in job.inputs] == [("statements", None, True)]
    revealed = await post(api, "o.lind", f"/v1/jobs/{made}/reveal", {"reason": "Ticket T-7"})
    assert RevealedJob.model_validate(revealed.json()).inputs[0].value == 12
    problem_of(await post(api, "o.lind", f"/v1/jobs/{made}/retry", {"reason": "r"}), 409, "job-not-settled")
    problem_of(await post(api, "o.lind", f"/v1/jobs/{made}/cancel", {"reason": "r" * 501}), 422, "invalid-request")
    cancelled = await post(api, "o.lind", f"/v1/jobs/{made}/cancel", {"reason": "Not wanted"})
    assert cancelled.json()["job"]["status"] == "cancelled"
    problem_of(await post(api, "o.lind", f"/v1/jobs/{made}/resolve", {"reason": "r"}), 409, "job-not-failed")
    failed = hand.job(kind=ARCHIVE)
    resolved = await post(api, "m.ito", f"/v1/jobs/{failed}/resolve", {"reason": "Followed up", "ticket": "T-7"})
    assert resolved.json()["job"]["resolution"] == "acknowledged"
    problem_of(await post(api, "m.ito", f"/v1/jobs/{failed}/resolve", {"reason": "r"}), 409, "job-resolved")
    problem_of(await post(api, "o.lind", "/v1/jobs/crm:17/cancel", {"reason": "r"}), 409, "job-elsewhere")
    path = f"/v1/jobs/{made}/events"
    page = JobEvents.model_validate((await operator.get(path, params={"limit": 2})).json())
    rest = JobEvents.model_validate((await operator.get(path, params={"limit": 200, "cursor": page.next})).json())
    told = [event.sequence for event in (*page.events, *rest.events)]
    assert told == list(range(len(told), 0, -1))
    assert {"submitted", "revealed", "cancel-asked", "settled"} <= {each.kind for each in (*page.events, *rest.events)}
    problem_of(await operator.get(f"/v1/jobs/{failed}/events", params={"cursor": page.next}), 400, "cursor-invalid")


async def test_cursors_are_of_one_listing_and_what_cannot_be_asked_is_refused(api: Api, hand: JobHand) -> None:
    jobs = [hand.job(kind=ARCHIVE) for _ in range(5)]
    hand.job("succeeded", ARCHIVE)
    operator = await api.of("o.lind")
    query = {"limit": "2", "filter": f"kind:{ARCHIVE}"}
    seen, cursor = [], None
    while True:
        page = Jobs.model_validate(
            (await operator.get("/v1/jobs", params=query | ({"cursor": cursor} if cursor else {}))).json()
        )
        seen += [job.id for job in page.jobs]
        first = cursor or page.next
        cursor = page.next
        if cursor is None:
            break
    assert seen == jobs[::-1]
    for wrong in ({"filter": ""}, {"view": "all"}, {"source": "here"}):
        answer = await operator.get("/v1/jobs", params=query | wrong | {"cursor": str(first)})
        problem_of(answer, 400, "cursor-invalid")
    problem = problem_of(await operator.get("/v1/jobs", params={"filter": "status:lost"}), 422, "filter-invalid")
    assert problem["length"] > 0
    problem_of(await operator.get("/v1/jobs", params={"source": "nowhere"}), 404, "not-found")
    problem_of(await operator.get("/v1/jobs", params={"view": "some"}), 422, "invalid-request")
    problem_of(await operator.get("/v1/find", params={"text": "x"}), 422, "invalid-request")
    for path in ("/v1/jobs", "/v1/job-counts", "/v1/job-kinds", f"/v1/jobs/{jobs[0]}"):
        problem_of(await (await api.of("a.admin")).get(path), 403, "permission-missing")
    kinds = JobKinds.model_validate((await operator.get("/v1/job-kinds")).json())
    assert {"payments.bank-file": "money", ARCHIVE: "nothing"}.items() <= {
        each.id: each.moves for each in kinds.kinds
    }.items()


@pytest.mark.requirement("INV-10", "INV-12")
async def test_a_recovery_of_jobs_is_confirmed_by_the_digest_of_what_was_shown(api: Api, hand: JobHand) -> None:
    jobs = [hand.job(kind=ARCHIVE, customer="CUST-7") for _ in range(3)]
    hand.job(kind=ARCHIVE, customer="CUST-8")
    body = {"act": "retry", "reason": "The archive is back", "job_filter": "status:failed"}
    made = await post(api, CARE, "/v1/recoveries", body)
    assert made.status_code == 201, made.text
    recovery = made.json()["recovery"]
    assert recovery["command"] == "jobconsole recoveries retry --filter status:failed --reason 'The archive is back'"
    care, path = await api.of(CARE), f"/v1/recoveries/{recovery['id']}"
    rows: list[dict[str, Any]] = []
    cursor = None
    while not rows or cursor:
        query = {"limit": "2"} | ({"cursor": cursor} if cursor else {})
        page = (await care.get(f"{path}/rows", params=query)).json()
        rows += page["rows"]
        cursor = page["next"]
    assert [row["key"] for row in rows] == jobs
    digest = recovery_digest(
        RecoveryDigestHead(
            tenant=recovery["tenant"],
            recovery=recovery["id"],
            person=recovery["owner"]["id"],
            act=recovery["act"],
            reason=recovery["reason"],
            frozen_at=datetime.fromisoformat(recovery["frozen_at"]),
            disable_until=None,
            count=recovery["count"],
            money=(),
        ),
        [
            RecoveryDigestRow(
                **{name: row[name] for name in ("number", "key", "target", "name", "moves", "row_version", "state")},
                not_done=0,
            )
            for row in rows
        ],
    )
    confirmed = await post(api, CARE, f"{path}/confirm", {"digest": digest})
    assert confirmed.json()["recovery"]["state"] == "applying", confirmed.text
    for unseen in ("p.push", "a.admin"):
        problem_of(await (await api.of(unseen)).get(path), 403, "permission-missing")
    assert (await (await api.of("s.audit")).get(path)).status_code == 200
