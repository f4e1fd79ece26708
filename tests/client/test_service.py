"""The client's connection: what is sent where, what is repeated, and what each bad answer means."""

from __future__ import annotations

import logging
import pickle

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr

from jobconsole.client import queues
from jobconsole.client.errors import ConnectionUnfit, OutcomeUnknown, ServiceAway, ServiceRefused, SignInAgain
from jobconsole.client.service import BODY_MOST, Service
from jobconsole.client.session import me
from jobconsole.client.wiring import check_address, fill
from jobcontract.errors import ErrorCode
from jobcontract.routes import CLAIM, ITEM, KEY_HEADER, ROUTES, TENANT_HEADER
from tests.fakes.script import TOKEN, Script, good, problem, reset

CLAIMED = {"item": None, "capped_at": None, "as_of": "2026-03-02T09:00:00Z"}
QUEUES: dict[str, list[object]] = {"queues": []}


@pytest.mark.requirement("HTTP-03")
async def test_an_act_whose_answer_got_lost_is_repeated_under_its_key_and_gives_the_first_answer() -> None:
    script = Script(reset(), good(CLAIMED))
    service = script.service()
    checking: list[str] = []
    service.on_checking = checking.append
    claimed = await queues.claim(service, "i-1", "k-1")
    assert claimed.item is None
    assert [request.headers[KEY_HEADER] for request in script.requests] == ["k-1", "k-1"]
    assert script.requests[0].content == script.requests[1].content
    assert checking == ["k-1"]


@pytest.mark.requirement("HTTP-03")
@pytest.mark.parametrize(
    "step",
    [
        reset(),
        httpx.ReadTimeout("slow"),
        httpx.RemoteProtocolError("closed"),
        httpx.Response(503),
        httpx.Response(502, text="proxy"),
        httpx.Response(200, text="not JSON"),
        problem(ErrorCode.INTERNAL),
        problem(ErrorCode.DATABASE_AWAY),
        problem(ErrorCode.STOPPING),
        problem(ErrorCode.IDEMPOTENCY_RUNNING),
    ],
    ids=["reset", "slow", "closed", "503", "502", "unreadable", "internal", "database-away", "stopping", "running"],
)
async def test_an_act_without_an_answer_is_unknown_and_never_called_failed(step: httpx.Response | Exception) -> None:
    script = Script(step)
    with pytest.raises(OutcomeUnknown) as caught:
        await queues.claim(script.service(), "i-1", "k-1")
    assert caught.value.key == "k-1"
    assert "not known" in caught.value.sentence
    assert len({request.headers[KEY_HEADER] for request in script.requests}) == 1
    assert len(script.requests) > 2
    assert sum(script.pauses) < 15


@pytest.mark.parametrize(
    "step",
    [httpx.ConnectError("refused"), httpx.ConnectTimeout("slow"), problem(ErrorCode.TIMED_OUT)],
    ids=["refused", "connect", "timed-out"],
)
async def test_an_act_that_surely_was_not_done_is_away(step: httpx.Response | Exception) -> None:
    script = Script(step)
    with pytest.raises(ServiceAway):
        await queues.claim(script.service(), "i-1", "k-1")
    assert len(script.requests) > 2


async def test_a_refusal_after_a_lost_answer_is_the_refusal() -> None:
    script = Script(reset(), problem(ErrorCode.CLAIM_HELD, "Held by k.rao."))
    with pytest.raises(ServiceRefused) as caught:
        await queues.claim(script.service(), "i-1", "k-1")
    assert caught.value.code == "claim-held"


@pytest.mark.parametrize("kind", [ErrorCode.TOKEN_EXPIRED, ErrorCode.PERMISSION_MISSING], ids=lambda kind: kind.code)
async def test_a_refusal_made_before_the_key_is_looked_up_says_nothing_about_the_first_try(kind: ErrorCode) -> None:
    script = Script(reset(), problem(kind))
    with pytest.raises(OutcomeUnknown):
        await queues.claim(script.service(), "i-1", "k-1")
    assert len(script.requests) == 2


@pytest.mark.parametrize(
    "kind",
    [kind for kind in ErrorCode if kind.status not in (401, 500, 503) and kind is not ErrorCode.IDEMPOTENCY_RUNNING],
    ids=lambda kind: kind.code,
)
async def test_a_refused_act_is_sent_once_and_carries_sentence_code_and_reference(kind: ErrorCode) -> None:
    script = Script(problem(kind, "Held by k.rao.", holder="k.rao"))
    with pytest.raises(ServiceRefused) as caught:
        await queues.claim(script.service(), "i-1", "k-1")
    assert (caught.value.sentence, caught.value.kind, caught.value.reference) == ("Held by k.rao.", kind, "8C1E")
    assert caught.value.extra["holder"] == "k.rao"
    assert len(script.requests) == 1


async def test_changes_of_a_changed_version_are_read() -> None:
    change = {"field": "amount", "before": "GBP 1.00", "after": "GBP 2.00"}
    script = Script(problem(ErrorCode.VERSION_CHANGED, changes=[change]))
    with pytest.raises(ServiceRefused) as caught:
        await queues.claim(script.service(), "i-1", "k-1")
    assert [(row.field, row.before, row.after) for row in caught.value.changes] == [("amount", "GBP 1.00", "GBP 2.00")]


@pytest.mark.parametrize("status", [401])
async def test_any_401_means_sign_in_again(status: int) -> None:
    for answer in (problem(ErrorCode.TOKEN_EXPIRED), httpx.Response(status, text="proxy")):
        with pytest.raises(SignInAgain):
            await queues.queues(Script(answer).service())
        with pytest.raises(SignInAgain):
            await queues.claim(Script(answer).service(), "i-1", "k-1")


async def test_reading_is_tried_three_times_with_growing_pauses() -> None:
    script = Script(reset(), httpx.Response(503), good(QUEUES))
    assert (await queues.queues(script.service())).queues == ()
    assert len(script.pauses) == 2
    again = Script(reset())
    with pytest.raises(ServiceAway):
        await queues.queues(again.service())
    assert len(again.requests) == 3


async def test_a_pause_that_the_service_asks_for_is_kept_and_never_past_the_deadline() -> None:
    script = Script(httpx.Response(503, headers={"Retry-After": "7"}), good(QUEUES))
    await queues.queues(script.service())
    assert script.pauses == [7.0]
    long = Script(httpx.Response(503, headers={"Retry-After": "3600"}))
    with pytest.raises(ServiceAway) as caught:
        await queues.queues(long.service())
    assert caught.value.retry_after == 3600
    assert long.pauses == []


@pytest.mark.requirement("MONEY-25")
@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (httpx.Response(302, headers={"Location": "https://evil.example/v1/queues"}), "redirect"),
        (httpx.Response(200, text="<html>"), "cannot be read"),
        (httpx.Response(200, json={"queues": [{"id": 1}]}), "cannot be read"),
        (httpx.Response(200, content=b"[" * 100_000), "cannot be read"),
        (httpx.Response(404, text="not here"), "not as a job service does"),
        (httpx.Response(500, json={"detail": "no problem type"}), "answered 500"),
        (httpx.Response(200, content=b" " * (BODY_MOST + 1)), "larger than"),
    ],
    ids=["redirect", "html", "shape", "nested", "404", "500", "huge"],
)
async def test_an_answer_that_is_none_is_a_sentence(answer: httpx.Response, says: str) -> None:
    script = Script(answer)
    with pytest.raises(ServiceAway, match=says):
        await queues.queues(script.service())
    assert {request.url.host for request in script.requests} == {"127.0.0.1"}


@pytest.mark.requirement("MONEY-25")
@pytest.mark.parametrize(
    "url",
    [
        "http://jobs.example",
        "http://127.0.0.1.evil.example",
        "http://10.0.0.1:8414",
        "ftp://127.0.0.1",
        "jobs.example",
        "https://",
        "https://m.ito:secret@jobs.example",
        "https://jobs.example/?a=b",
        "http://[::2]:80",
        "https://jobs.example:notaport",
        "http://127.0.0.1:99999",
        "https://jobs.example:65536",
        "https://jobs.example:0",
        "",
    ],
)
def test_a_token_is_sent_over_https_or_to_this_machine_alone(url: str) -> None:
    with pytest.raises(ConnectionUnfit) as caught:
        Service(url, SecretStr(TOKEN))
    assert "secret" not in caught.value.sentence


@pytest.mark.parametrize(
    "url",
    ["https://jobs.example", "http://127.0.0.1:8414/", "http://[::1]:8414", "http://localhost:1", "https://x/api/"],
)
def test_good_addresses_are_taken(url: str) -> None:
    assert not str(check_address(url)).endswith("/") or check_address(url).path == "/"


def test_no_proxy_of_the_environment_gets_a_token_meant_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("ALL_PROXY", "http://proxy.example:3128")
    service = Service("http://127.0.0.1:8414", SecretStr(TOKEN))
    assert service.http._mounts == {}


@pytest.mark.parametrize("token", ["", "two words", "newline\n", "snow\u2603", "x" * 501])
def test_a_token_that_is_none_is_said_so_without_showing_it(token: str) -> None:
    with pytest.raises(ConnectionUnfit) as caught:
        Service("https://jobs.example", SecretStr(token))
    assert not token or token not in str(caught.value)


async def test_the_token_leaves_in_its_header_alone(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    script = Script(good(QUEUES), reset())
    service = script.service()
    await queues.queues(service)
    with pytest.raises(ServiceAway) as caught:
        await queues.queues(service)
    assert script.requests[0].headers["Authorization"] == f"Bearer {TOKEN}"
    said = "\n".join([repr(service), repr(service.http.headers), repr(vars(service)), repr(caught.value), caplog.text])
    assert TOKEN not in said
    assert TOKEN[5:20] not in said
    assert TOKEN.encode() not in pickle.dumps(str(caught.value))


async def test_tenant_and_key_are_headers_and_the_tenant_can_be_changed() -> None:
    script = Script(good(QUEUES))
    service = script.service(tenant=None)
    await queues.queues(service)
    service.tenant = "york"
    await queues.queues(service)
    assert TENANT_HEADER not in script.requests[0].headers
    assert script.requests[1].headers[TENANT_HEADER] == "york"
    with pytest.raises(ConnectionUnfit):
        service.tenant = "york\r\nX: y"


@given(st.text(min_size=1, max_size=40))
def test_no_id_leads_to_another_route(text: str) -> None:
    path = fill(CLAIM, {"item": text})
    steps = path.split("/")
    assert [steps[:3], steps[4:]] == [["", "v1", "items"], ["claim"]]
    assert steps[3] not in (".", "..")
    sent = httpx.URL("http://127.0.0.1:1").join(path).raw_path.decode()
    assert sent.startswith("/v1/items/")
    assert sent.endswith("/claim")


def test_every_route_fills() -> None:
    words = "queue item use_case plan schedule occurrence recovery worker alarm entry job"
    for route in ROUTES:
        assert "{" not in fill(route, {"key": "a/b", **{word: "x" for word in words.split()}})
    assert fill(ITEM, {"item": "a/../b?c"}) == "/v1/items/a%2F..%2Fb%3Fc"


async def test_the_servers_time_is_learned_from_reading_and_not_from_an_act_that_may_be_replayed() -> None:
    session = {
        "person": {"id": "m.ito", "name": "Mika Ito"},
        "tenants": [],
        "token_expires_at": "2026-03-02T21:00:00Z",
        "deployment": "demo",
        "now": "2026-03-02T09:00:00Z",
        "unknown-member": "of a newer service",
    }
    script = Script(good(session), good({**CLAIMED, "as_of": "2020-01-01T00:00:00Z"}))
    service = script.service()
    assert service.clock.server_now() is None
    told = await me(service)
    await queues.claim(service, "i-1", "k-1")
    script.monotonic += 5
    now = service.clock.server_now()
    assert now is not None
    assert (now - told.now).total_seconds() == pytest.approx(5)
