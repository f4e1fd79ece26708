"""The live stream under a real server: nothing missed, nothing foreign, rights that end, and how the process stops."""

from __future__ import annotations

import asyncio
import json
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any

import httpx
import pytest

from jobservice.api import hub
from jobservice.api.events import EventStream
from jobservice.api.stream import FRAME_HINTS
from jobservice.store.database import Database
from jobservice.usecases.hints import HintBatch, read_hints
from tests.api.conftest import (
    QUICK,
    Api,
    Listener,
    MakeApp,
    key_header,
    payout,
    problem_of,
    running,
    until,
    with_settings,
)
from tests.usecases.test_seals import others_ended

CLAIM_NEXT = "/v1/queues/payments.payouts/claim-next"


async def claim_all(api: Api, person: str = "m.ito") -> list[dict[str, Any]]:
    """Claim what is free; the items."""
    client, found = await api.of(person), []
    while (item := (await client.post(CLAIM_NEXT, json={}, headers=key_header())).json()["item"]) is not None:
        found.append(item)
    return found


async def test_a_stream_begins_with_its_position_and_tells_what_changes(api: Api) -> None:
    async with running(api.app) as url, Listener(url, api.people.token("m.ito")) as listener:
        assert (listener.events[0].event, json.loads(listener.events[0].data)) == ("hints", {"hints": []})
        item = await api.push("K-1", title="secret title", payload={"secret": "payload"})
        hints = await listener.heard(item["id"])
        assert hints == [
            {"topic": "item", "tenant": "acme", "queue": "payments.payouts", "id": item["id"], "version": 1}
        ]
        await claim_all(api)
        await until(lambda: [hint["version"] for hint in listener.hints()] == [1, 2])
    assert "secret" not in "".join(event.data for event in listener.events)


@pytest.mark.requirement("MONEY-34")
async def test_hints_of_another_tenant_are_never_told_whatever_is_resumed(api: Api) -> None:
    async with running(api.app) as url:
        async with (
            Listener(url, api.people.token("g.fin")) as stranger,
            Listener(url, api.people.token("m.ito")) as mine,
        ):
            before = mine.last_id
            item = await api.push("K-1")
            await mine.heard(item["id"])
            other = await api.push("G-1", person="g.push")
            assert [hint["id"] for hint in await stranger.heard(other["id"])] == [other["id"]]
            assert item["id"] in {hint["id"] for hint in mine.hints()}
            assert other["id"] not in {hint["id"] for hint in mine.hints()}
        async with Listener(url, api.people.token("g.fin"), last_event_id=before) as resumed:
            assert {hint["id"] for hint in await resumed.heard(other["id"])} == {other["id"]}


@pytest.mark.requirement("HTTP-01")
async def test_what_happens_while_the_stream_is_down_is_told_once_on_resuming(
    api: Api, make_app: MakeApp, database: Database
) -> None:
    known = await api.push("K-0")
    await others_ended(database)  # a position is what nobody wrote before; what is not sure to be is told again
    async with running(api.app) as url:
        async with Listener(url, api.people.token("m.ito")) as listener:
            claimed = await claim_all(api)
            await listener.heard(*(item["id"] for item in claimed))
            position = listener.last_id
        missed = [(await api.push(f"K-{number}"))["id"] for number in range(1, 6)]
        async with Listener(url, api.people.token("m.ito"), last_event_id=position) as resumed:
            hints = await resumed.heard(*missed)
            assert [hint["id"] for hint in hints if hint["id"] in missed] == missed
            assert "reset" not in resumed.names()
            position = resumed.last_id
    # The same with the process started anew in between: positions are the database's, not the process's.
    more = [(await api.push(f"L-{number}"))["id"] for number in range(5)]
    async with running(make_app()) as url, Listener(url, api.people.token("m.ito"), last_event_id=position) as resumed:
        hints = await resumed.heard(*more)
        assert [hint["id"] for hint in hints if hint["id"] in more] == more
        assert known["id"] not in {hint["id"] for hint in hints}
        # Nothing comes again later either: the next thing that is heard is the next thing that happens.
        last = await api.push("M-1")
        assert [hint["id"] for hint in await resumed.heard(last["id"])][-6:] == [*more, last["id"]]


@pytest.mark.requirement("HTTP-01")
async def test_ids_never_go_backwards(api: Api) -> None:
    async with running(api.app) as url, Listener(url, api.people.token("m.ito")) as listener:
        for number in range(20):
            item = await api.push(f"K-{number}")
        await listener.heard(item["id"])
    positions = [int(event.id.rpartition("-")[2]) for event in listener.events]
    assert positions == sorted(positions)


@pytest.mark.requirement("HTTP-01")
async def test_beyond_what_is_kept_the_stream_says_reload(api: Api) -> None:
    async with running(api.app) as url:
        async with Listener(url, api.people.token("m.ito")) as listener:
            position = listener.last_id
        await api.push("K-1")
        api.people.connection.execute(
            "with gone as (delete from jobs.hints returning xid)"
            " update jobs.hints_floor set xid = (select max(xid) from gone)"
        )
        async with Listener(url, api.people.token("m.ito"), last_event_id=position) as resumed:
            await until(lambda: "reset" in resumed.names())
            # It goes on from there, and its new position is good for resuming.
            item = await api.push("K-2")
            assert [hint["id"] for hint in await resumed.heard(item["id"])] == [item["id"]]
            position = resumed.last_id
        async with Listener(url, api.people.token("m.ito"), last_event_id=position) as resumed:
            item = await api.push("K-3")
            await resumed.heard(item["id"])
            assert "reset" not in resumed.names()


STRANGE_IDS = {
    "garbage": "garbage",
    "empty": "",
    "bare": "{position}",
    "future": "{database}-{position}0000",
    "past": "{database}-1",
    "negative": "{database}--5",
    "huge": "{database}-99999999999999999999999",
    "other-database": "00000000000000000000000000000000-{position}",
    "long": "x" * 5_000,
}


@pytest.mark.requirement("HTTP-01")
@pytest.mark.parametrize("name", STRANGE_IDS)
async def test_an_id_that_is_no_position_here_means_reload(api: Api, name: str) -> None:
    async with running(api.app) as url:
        async with Listener(url, api.people.token("m.ito")) as listener:
            database, _, position = listener.last_id.rpartition("-")
        strange = STRANGE_IDS[name].format(database=database, position=position)
        async with Listener(url, api.people.token("m.ito"), last_event_id=strange) as resumed:
            await until(lambda: "reset" in resumed.names())
            item = await api.push("K-1")
            assert [hint["id"] for hint in await resumed.heard(item["id"])] == [item["id"]]


@pytest.mark.requirement("MONEY-34", "MONEY-21")
@pytest.mark.parametrize(
    "ending",
    [
        "update jobs.tokens set revoked_at = jobs.now()",
        "update jobs.tokens set created_at = jobs.now() - interval '2 days', expires_at = jobs.now() - interval '1 day'",
        "update jobs.people set active = false where id = 'm.ito'",
        "update jobs.memberships set role = 'pusher' where person = 'm.ito'",
        "delete from jobs.memberships where person = 'm.ito'",
    ],
    ids=["revoked", "expired", "disabled", "role", "membership"],
)
async def test_a_stream_whose_rights_end_says_so_and_ends(api: Api, ending: str) -> None:
    async with running(api.app) as url, Listener(url, api.people.token("m.ito")) as listener:
        api.people.connection.execute(ending.encode())
        await until(lambda: listener.ended)
    assert listener.names()[-1] == "ended"
    assert listener.names().count("ended") == 1


async def test_a_stream_loses_the_tenant_that_its_person_lost_and_keeps_the_other(api: Api) -> None:
    api.people.add("m.ito", "globex", "finance")
    async with running(api.app) as url, Listener(url, api.people.token("m.ito")) as listener:
        first = [(await api.push("K-1"))["id"], (await api.push("G-1", person="g.push"))["id"]]
        await listener.heard(*first)
        api.people.connection.execute("delete from jobs.memberships where person = 'm.ito' and tenant = 'globex'")
        context = api.app.state.context
        await until(lambda: {s.tenants for s in context.hub._subscriptions} == {frozenset({"acme"})})
        await api.push("G-2", person="g.push")
        last = await api.push("K-2")
        assert [hint["id"] for hint in await listener.heard(last["id"])] == [*first, last["id"]]


async def test_a_stream_of_one_named_tenant_hears_of_no_other(api: Api) -> None:
    api.people.add("m.ito", "globex", "finance")
    async with running(api.app) as url, Listener(url, api.people.token("m.ito"), tenant="globex") as listener:
        await api.push("K-1")
        item = await api.push("G-1", person="g.push")
        assert [hint["id"] for hint in await listener.heard(item["id"])] == [item["id"]]


async def test_someone_who_may_read_no_queue_hears_of_none(api: Api) -> None:
    async with running(api.app) as url, Listener(url, api.people.token("s.bell")) as listener:
        async with Listener(url, api.people.token("m.ito")) as witness:
            item = await api.push("K-1")
            await witness.heard(item["id"])
        assert listener.hints() == []
        assert not listener.ended


async def test_support_hears_of_jobs(api: Api) -> None:
    body = {"kind": "payments.archive-statements", "submission_identity": "x", "inputs": {"statements": 1}}
    async with running(api.app) as url, Listener(url, api.people.token("s.bell")) as listener:
        pusher = await api.of("p.push")
        made = (await pusher.post("/v1/jobs", json=body, headers=key_header())).json()["job"]
        (hint,) = await listener.heard(made["id"])
        assert (hint["topic"], hint["queue"]) == ("job", made["kind"])


@pytest.mark.requirement("MONEY-34")
async def test_only_so_many_streams_a_person_and_each_is_given_back(
    make_app: MakeApp, service: Any, api: Api, stack: AsyncExitStack
) -> None:
    app = make_app(service=with_settings(service, streams_max=2))
    async with running(app) as url:
        first = Listener(url, api.people.token("m.ito"))
        async with Listener(url, api.people.token("m.ito")):
            await first.__aenter__()
            headers = {"Authorization": f"Bearer {api.people.token('m.ito')}"}
            async with httpx.AsyncClient(base_url=url, headers=headers) as client:
                refused = await client.get("/v1/events")
                assert problem_of(refused, 429, "too-many-streams")["most"] == 2
                assert int(refused.headers["Retry-After"]) > 0
            async with Listener(url, api.people.token("k.rao")):
                assert app.state.context.streams.open == 3
        await first.__aexit__()
        await until(lambda: app.state.context.streams.open == 0)
        assert app.state.context.hub._tenants == {}
        async with Listener(url, api.people.token("m.ito")):
            pass


async def test_signs_of_life_come_and_carry_the_position_on(api: Api) -> None:
    async with running(api.app) as url:
        headers = {"Authorization": f"Bearer {api.people.token('m.ito')}"}
        async with (
            httpx.AsyncClient(base_url=url, headers=headers) as client,
            client.stream("GET", "/v1/events") as answer,
        ):
            assert answer.headers["content-type"].startswith("text/event-stream")
            assert answer.headers["cache-control"] == "no-store"
            lines: list[str] = []
            async for line in answer.aiter_lines():
                lines.append(line)
                if line == ": beat":
                    break
        assert lines[0] == "event: hints"
        async with Listener(url, api.people.token("m.ito")) as listener:
            began = listener.last_id
            # Other tenants' writes move the database on: an idle stream must follow, or its id would grow too old.
            await api.push("G-1", person="g.push")
            await until(lambda: listener.last_id != began)
            assert listener.hints() == []


async def test_a_stream_lives_through_a_database_that_was_away(api: Api) -> None:
    """Every connection is cut, what listens too; what was written meanwhile is heard all the same."""
    async with running(api.app) as url, Listener(url, api.people.token("m.ito")) as listener:
        api.people.connection.execute(
            "select pg_terminate_backend(pid) from pg_stat_activity"
            " where usename = 'jobs_api' and datname = current_database()"
        )
        item = await api.push("K-1")
        await listener.heard(item["id"])
        again = await api.push("K-2")
        assert [hint["id"] for hint in await listener.heard(again["id"])] == [item["id"], again["id"]]
        assert "reset" not in listener.names()


async def test_a_notification_that_got_lost_is_made_up_for(api: Api) -> None:
    async with running(api.app) as url, Listener(url, api.people.token("m.ito")) as listener:
        api.people.connection.execute(
            "insert into jobs.hints (tenant, topic, queue, ref, version) values ('acme', 'item', 'q', 'silent', 1)"
        )
        assert [hint["id"] for hint in await listener.heard("silent")] == ["silent"]


async def test_a_burst_is_told_as_the_newest_of_each_in_parts(api: Api) -> None:
    count = FRAME_HINTS + 100
    async with running(api.app) as url, Listener(url, api.people.token("m.ito")) as listener:
        api.people.connection.execute(
            "with written as ("
            " insert into jobs.hints (tenant, topic, queue, ref, version)"
            " select 'acme', 'item', 'q', n::text, v from generate_series(1, %s) as n, generate_series(1, 3) as v"
            " returning tenant)"
            " select pg_notify('jobs_hints', 'acme') from written limit 1",
            (count,),
        )
        hints = await listener.heard(*map(str, range(1, count + 1)))
    assert sorted(int(hint["id"]) for hint in hints) == list(range(1, count + 1))
    assert {hint["version"] for hint in hints} == {3}
    told = [event for event in listener.events if len(json.loads(event.data).get("hints", ())) > 0]
    assert [len(json.loads(event.data)["hints"]) for event in told] == [FRAME_HINTS, 100]
    first, second = (int(event.id.rpartition("-")[2]) for event in told)
    assert first <= second, "equal only while something older runs on the server, another test's work too"


async def test_many_streams_are_one_reading(make_app: MakeApp, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[object] = []

    async def counted(*arguments: Any, **named: Any) -> HintBatch:
        reads.append(arguments[1:])
        return await read_hints(*arguments, **named)

    people = [f"clerk.{number}" for number in range(8)]
    for person in people:
        api.people.add(person, "acme", "finance")
    app = make_app(replace(QUICK, poll_seconds=60.0, beat_seconds=60.0))
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(running(app))
        listeners = [await stack.enter_async_context(Listener(url, api.people.token(person))) for person in people]
        first = await api.push("K-1")
        for listener in listeners:
            await listener.heard(first["id"])
        monkeypatch.setattr(hub, "read_hints", counted)
        second = await api.push("K-2")
        for listener in listeners:
            await listener.heard(second["id"])
    assert 1 <= len(reads) <= 2
    for listener in listeners:
        assert [hint["id"] for hint in listener.hints()] == [first["id"], second["id"]]


async def test_a_client_that_takes_nothing_is_cut_off() -> None:
    class Endless:
        async def frames(self) -> Any:
            while True:
                yield b": beat\n\n"

    closed: list[bool] = []
    stream = EventStream(Endless(), lambda: closed.append(True), send_seconds=0.05)  # type: ignore[arg-type]  # frames alone

    async def receive() -> Any:
        await asyncio.Event().wait()

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)
        if len(sent) > 2:
            await asyncio.Event().wait()

    async with asyncio.timeout(20):
        await stream({"type": "http"}, receive, send)
    assert (len(sent), closed) == (3, [True])


async def test_pushes_over_http_reach_the_stream_promptly_in_large_numbers(api: Api) -> None:
    pusher = await api.of("p.push")
    async with running(api.app) as url, Listener(url, api.people.token("m.ito")) as listener:
        answers = await asyncio.gather(
            *(
                pusher.post("/v1/queues/payments.payouts/items", json=payout(f"K-{number}"), headers=key_header())
                for number in range(60)
            )
        )
        ids = [answer.json()["item"]["id"] for answer in answers]
        hints = await listener.heard(*ids)
    assert sorted(hint["id"] for hint in hints) == sorted(ids)
