"""The live stream of people who see some customers alone: hints of single things are of those that they may read."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

import pytest

from jobservice.store.database import Database
from tests.api.conftest import QUICK, Api, Listener, MakeApp, key_header, running, until
from tests.cast import People
from tests.usecases.job_hand import JobHand
from tests.usecases.recovery_desk import SINCE, UNTIL, recovery_desk

CLAIM_NEXT = "/v1/queues/payments.payouts/claim-next"
PLANS = "/v1/queues/payments.payouts/plans"
ARCHIVE = "payments.archive-statements"


def plan(item: str) -> dict[str, Any]:
    """The body of a plan of one item."""
    return {"command": "payments.release-many", "items": [item]}


@pytest.mark.requirement("MONEY-34", "MONEY-23")
async def test_who_sees_some_customers_hears_of_their_items_and_of_no_others(api: Api) -> None:
    api.people.add("c.fin", "acme", "finance", customers=["CUST-7"])
    async with running(api.app) as url:
        async with Listener(url, api.people.token("c.fin")) as listener:
            before = listener.last_id
            async with Listener(url, api.people.token("m.ito")) as witness:
                others = [await api.push("K-1"), await api.push("K-2", customer="CUST-8")]
                mine = await api.push("K-3", customer="CUST-7")
                await witness.heard(*(each["id"] for each in [*others, mine]))
                for _ in range(3):
                    await (await api.of("m.ito")).post(CLAIM_NEXT, json={}, headers=key_header())
                await until(lambda: len(witness.hints()) >= 6)
            last = await api.push("K-4", customer="CUST-7")
            hints = await listener.heard(mine["id"], last["id"])
            assert {hint["id"] for hint in hints} == {mine["id"], last["id"]}
        async with Listener(url, api.people.token("c.fin"), last_event_id=before) as resumed:
            assert {hint["id"] for hint in await resumed.heard(last["id"])} == {mine["id"], last["id"]}


@pytest.mark.requirement("MONEY-34", "MONEY-23")
async def test_who_sees_some_customers_hears_of_their_jobs_and_of_no_others(api: Api) -> None:
    api.people.add("c.care", "acme", "support", customers=["CUST-7"])
    pusher = await api.of("p.push")

    async def submit(identity: str, **scope: str) -> str:
        body = {
            "kind": ARCHIVE,
            "submission_identity": identity,
            "inputs": {"statements": 1},
            **scope,
        }
        answer = await pusher.post("/v1/jobs", json=body, headers=key_header())
        return str(answer.json()["job"]["id"])

    async with running(api.app) as url, Listener(url, api.people.token("c.care")) as listener:
        await submit("a")
        await submit("b", customer="CUST-8")
        mine = await submit("c", customer="CUST-7")
        (hint,) = await listener.heard(mine)
        assert (hint["topic"], hint["queue"]) == ("job", ARCHIVE)


@pytest.mark.requirement("MONEY-34", "MONEY-23")
async def test_narrowed_rights_are_heard_of_in_streams_that_run(api: Api, make_app: MakeApp) -> None:
    app = make_app(bounds=replace(QUICK, recheck_seconds=0.05))
    async with running(app) as url, Listener(url, api.people.token("m.ito")) as listener:
        first = await api.push("K-1")
        await listener.heard(first["id"])
        api.people.connection.execute("update jobs.memberships set customers = '{CUST-7}' where person = 'm.ito'")
        for number in range(60):  # until the look at the rights came
            other, mine = await api.push(f"L-{number}"), await api.push(f"M-{number}", customer="CUST-7")
            hints = await listener.heard(mine["id"])
            if other["id"] not in {hint["id"] for hint in hints}:
                return
    pytest.fail("what is out of reach by now is told still")


@pytest.mark.requirement("MONEY-34", "MONEY-23")
async def test_who_sees_some_customers_hears_of_their_own_plans_alone(api: Api) -> None:
    api.people.add("c.fin", "acme", "finance", customers=["CUST-7"])
    theirs, mine = await api.push("K-1"), await api.push("K-2", customer="CUST-7")
    async with (
        running(api.app) as url,
        Listener(url, api.people.token("c.fin")) as listener,
        Listener(url, api.people.token("m.ito")) as witness,
    ):
        foreign, own = [
            (await (await api.of(person)).post(PLANS, json=plan(item["id"]), headers=key_header())).json()["id"]
            for person, item in (("m.ito", theirs), ("c.fin", mine))
        ]
        assert {hint["topic"] for hint in await witness.heard(foreign, own)} >= {"plan"}
        assert foreign not in {hint["id"] for hint in await listener.heard(own)}


@pytest.mark.requirement("MONEY-34", "MONEY-23")
async def test_support_hears_of_recoveries_of_jobs_alone(
    make_app: MakeApp, stack: AsyncExitStack, database: Database, people: People
) -> None:
    desk = recovery_desk(database, people)
    desk.planned()
    desk.dead()
    people.add("c.care", "acme", "support", customers=["CUST-7"])
    hand = JobHand(people.connection)
    hand.job(kind=ARCHIVE, customer="CUST-7", status="pending")
    hand.job(kind=ARCHIVE, status="pending")
    api = Api(app=make_app(service=desk.service), people=people, stack=stack)

    async def order(person: str, body: dict[str, str]) -> str:
        answer = await (await api.of(person)).post("/v1/recoveries", json=body, headers=key_header())
        return str(answer.json()["recovery"]["id"])

    async with (
        running(api.app) as url,
        Listener(url, people.token("s.bell")) as support,
        Listener(url, people.token("c.care")) as narrowed,
        Listener(url, people.token("m.ito")) as witness,
    ):
        stretch = {"act": "replay", "reason": "A missed night", "since": SINCE.isoformat(), "until": UNTIL.isoformat()}
        cancel = {"act": "cancel", "reason": "Sent twice", "job_filter": "status:pending"}
        own = await order("c.care", cancel)
        of_runs, of_jobs = await order("o.lind", stretch), await order("o.lind", cancel)
        hand.job(kind=ARCHIVE, customer="CUST-7", status="pending")
        last = await order("c.care", cancel)  # behind all of them
        assert {hint["id"] for hint in await witness.heard(last)} == {own, of_runs, of_jobs, last}
        assert {hint["id"] for hint in await support.heard(last)} == {own, of_jobs, last}
        assert {hint["id"] for hint in await narrowed.heard(last)} == {own, last}
