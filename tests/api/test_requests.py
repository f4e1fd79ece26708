"""What clumsy and sly requests are answered: said in plain words, taken one way only, nothing half done."""

from __future__ import annotations

from typing import Any

import pytest

from jobcontract.recoveries import NAMED_MOST
from jobcontract.routes import KEY_HEADER
from tests.api.conftest import Api, key_header, problem_of
from tests.usecases.job_hand import JobHand

ARCHIVE = "payments.archive-statements"
RECOVERY = "/v1/recoveries"


@pytest.fixture
def hand(api: Api) -> JobHand:
    """Writes jobs."""
    return JobHand(api.people.connection)


async def said(api: Api, path: str, body: Any) -> str:
    """What is said of a body that is not right."""
    answer = await (await api.of("o.lind")).post(path, json=body, headers=key_header())
    return str(problem_of(answer, 422, "invalid-request")["detail"])


async def test_what_is_wrong_with_a_body_is_said_in_the_words_of_json(api: Api, hand: JobHand) -> None:
    retry = f"/v1/jobs/{hand.job(kind=ARCHIVE)}/retry"
    wrong: list[tuple[str, Any, str]] = [
        (retry, "x", "body should be an object."),
        (retry, [], "body should be an object."),
        (retry, {"reason": " "}, "body.reason should have at least 1 character."),
        (retry, {"reason": "r" * 501}, "body.reason should have at most 500 characters."),
        (RECOVERY, {"act": "retry", "reason": "r", "jobs": []}, "body.jobs should have at least 1 item, not 0."),
        (RECOVERY, {"act": "retry", "reason": "r"}, "Name either `jobs` or a `job_filter`."),
        (f"{RECOVERY}/x/confirm", {"digest": "0" * 64, "code": ""}, "body.code has 0 characters; it takes at least 1."),
    ]
    for path, body, sentence in wrong:
        assert await said(api, path, body) == sentence


@pytest.mark.parametrize("reason", ["\u200b", "\x1b\x07", "\u202e\u2800"])
async def test_a_reason_of_which_nobody_sees_anything_is_none(api: Api, hand: JobHand, reason: str) -> None:
    job = hand.job("succeeded", ARCHIVE)
    for act in ("retry", "cancel", "resolve", "reveal"):
        assert await said(api, f"/v1/jobs/{job}/{act}", {"reason": reason}) == (
            "body.reason must hold a character that can be seen."
        )
    assert hand.one("select count(*) from jobs.jobs") == 1


async def test_what_is_sent_twice_is_taken_neither_way(api: Api, hand: JobHand) -> None:
    api.people.add("o.lind", "globex", "operator")
    job, client = hand.job(kind=ARCHIVE), await api.of("o.lind")
    for path, name in (("/v1/jobs?view=all&view=unresolved", "view"), ("/v1/find?text=ab&text=cd", "text")):
        found = problem_of(await client.get(path, headers={"Jobs-Tenant": "acme"}), 422, "invalid-request")
        assert found["detail"] == f"query.{name} is sent twice; send it once."
    token = client.headers["Authorization"]
    twice = [
        ("Authorization", token, f"{token[:-1]}x"),
        ("Jobs-Tenant", "acme", "globex"),
        (KEY_HEADER, "first", "second"),
    ]
    for name, first, second in twice:
        sent = {"Authorization": token, "Jobs-Tenant": "acme", KEY_HEADER: "key"}
        headers = [(each, value) for each, value in sent.items() if each != name] + [(name, first), (name, second)]
        anybody = await api.of(None)
        answer = await anybody.post(f"/v1/jobs/{job}/retry", json={"reason": "r"}, headers=headers)
        found = problem_of(answer, 422, "invalid-request")
        assert found["detail"] == f"header.{name} is sent twice; send it once."
    assert hand.one("select count(*) from jobs.jobs") == 1


async def test_a_compressed_body_is_not_guessed_at(api: Api) -> None:
    headers = {**key_header(), "Content-Encoding": "gzip", "Content-Type": "application/json"}
    answer = await (await api.of("o.lind")).post("/v1/jobs", content=b"\x1f\x8b", headers=headers)
    found = problem_of(answer, 422, "invalid-request")
    assert found["detail"] == "header.Content-Encoding is not taken: send the body as it is."


async def test_an_address_says_every_method_that_it_takes(api: Api) -> None:
    client = await api.of("o.lind")
    for path, methods in (("/v1/jobs", "GET, POST"), (RECOVERY, "GET, POST"), ("/v1/find", "GET")):
        answer = await client.delete(path)
        problem_of(answer, 405, "method-not-allowed")
        assert answer.headers["Allow"] == methods


async def test_a_recovery_may_name_as_many_things_as_its_form_says(api: Api) -> None:
    """However long their names are: a set is not cut off by the bytes of it."""
    names = [f"{'j' * 190}-{number}" for number in range(NAMED_MOST)]
    client = await api.of("o.lind")
    body = {"act": "cancel", "reason": "r", "jobs": names}
    found = problem_of(await client.post(RECOVERY, json=body, headers=key_header()), 422, "plan-empty")
    assert found["left_out"] == [{"reason": "unknown", "count": NAMED_MOST}]
    answer = await client.post(f"{RECOVERY}/x/take-out", json={"keys": names}, headers=key_header())
    problem_of(answer, 404, "not-found")


async def test_a_job_is_read_by_its_id_however_it_was_written_down(api: Api, hand: JobHand) -> None:
    job, client = hand.job(kind=ARCHIVE), await api.of("o.lind")
    for text in (job, job.upper(), f"here:{job}"):
        assert (await client.get(f"/v1/jobs/{text}")).json()["summary"]["id"] == job
        assert (await client.get(f"/v1/jobs/{text}/events")).status_code == 200
    await client.post(f"/v1/jobs/{job.upper()}/resolve", json={"reason": "r"}, headers=key_header())
    assert hand.one("select subject from jobs.audit where action = 'resolve-job'") == job


async def test_ids_of_other_engines_may_hold_what_parts_an_address(api: Api) -> None:
    client = await api.of("o.lind")
    for identifier in ("order%2F17", "order%2F17%3Fx", "..%2Fme"):
        shown = identifier.replace("%2F", "/").replace("%3F", "?")
        for path in ("", "/events"):
            found = problem_of(await client.get(f"/v1/jobs/{identifier}{path}"), 404, "not-found")
            assert found["detail"] == f"There is no job {shown!r}."
        for act in ("cancel", "retry", "resolve", "reveal"):
            path = f"/v1/jobs/crm:{identifier}/{act}"
            answer = await client.post(path, json={"reason": "r"}, headers=key_header())
            assert shown in problem_of(answer, 409, "job-elsewhere")["detail"]
