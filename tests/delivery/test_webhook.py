"""Webhooks, against real TLS servers on loopback: signed, never led elsewhere, never waited for without end."""

from __future__ import annotations

import asyncio
import base64
import hmac
import os
import ssl
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from jobservice.bootstrap.outside import delivery_of, webhook_of
from jobservice.delivery import DeliveryRefused, NotDelivered, Webhook, allowed_from, secrets_from, webhook_from
from jobservice.settings import ProcessSettings, StartRefused
from tests.delivery.hooks import OK, SECRET, a_receiver, a_webhook
from tests.delivery.servers import Certificate, Silent, a_certificate, a_letter, listening

AT = datetime(2026, 11, 30, 22, 0, tzinfo=UTC)
NOW = AT + timedelta(seconds=90)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """One for all tests."""
    return a_certificate(tmp_path_factory.mktemp("certificate"))


async def tell(hook: Webhook, event: str = "a-1.opened") -> None:
    await hook.tell(event, kind="alarm.opened", at=AT, now=NOW, data={"tenant": "acme", "sentence": "Späte Läufe."})


async def refused(hook: Webhook) -> NotDelivered:
    """Why an event was not delivered."""
    with pytest.raises(NotDelivered) as caught:
        await tell(hook)
    return caught.value


async def test_an_event_arrives_with_a_signature_that_another_computation_makes_too(certificate: Certificate) -> None:
    second = b"another-secret-of-32-bytes-long!"
    async with a_receiver(certificate) as receiver:
        await tell(a_webhook(certificate, receiver.port, path="/hook?team=ops", secrets=(SECRET, second)))
    (got,) = receiver.received
    assert got.line == "POST /hook?team=ops HTTP/1.1"
    assert got.headers["host"] == f"127.0.0.1:{receiver.port}"
    assert got.headers["webhook-id"] == "a-1.opened"
    assert got.headers["webhook-timestamp"] == str(int(NOW.timestamp()))
    assert got.event == {
        "type": "alarm.opened",
        "timestamp": "2026-11-30T22:00:00+00:00",
        "data": {"tenant": "acme", "sentence": "Späte Läufe."},
    }
    # As the documents tell receivers to: id, timestamp and body as they came, dots between; any one signature will do.
    signed = f"{got.headers['webhook-id']}.{got.headers['webhook-timestamp']}.".encode() + got.body
    expected = [base64.standard_b64encode(hmac.digest(key, signed, "sha256")).decode() for key in (SECRET, second)]
    assert got.headers["webhook-signature"].split(" ") == [f"v1,{each}" for each in expected]


def test_the_signature_is_that_of_the_published_example() -> None:
    """The example of the Standard Webhooks libraries: this secret, id, time and body have this signature."""
    from jobservice.delivery.webhook import signatures

    secret = base64.b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
    made = signatures([secret], "msg_p5jXN8AQM9LWM0D4loKWxJek", "1614265330", b'{"test": 2432232314}')
    assert made == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


@pytest.mark.parametrize(
    ("answer", "said", "for_good"),
    [
        (
            b"HTTP/1.1 302 Found\r\nLocation: https://127.0.0.1/elsewhere\r\nContent-Length: 0\r\n\r\n",
            "a redirect",
            False,
        ),
        (b"HTTP/1.1 308 Moved\r\nLocation: http://127.0.0.1/\r\n\r\n", "a redirect", False),
        (b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", "answered 500.", False),
        (b"HTTP/1.1 404 Not Found\r\n\r\n", "answered 404.", False),
        (b"HTTP/1.1 410 Gone\r\n\r\n", "answered 410.", True),
        (b"220 mail.test\r\n\r\n", "gave no answer of HTTP", False),
        (b"", "gave no answer of HTTP", False),
    ],
)
async def test_anything_but_2xx_is_a_failure_and_a_redirect_is_not_followed(
    certificate: Certificate, answer: bytes, said: str, for_good: bool
) -> None:
    async with a_receiver(certificate, answer, OK) as receiver:
        error = await refused(a_webhook(certificate, receiver.port))
    assert said in str(error)
    assert error.for_good is for_good
    assert len(receiver.received) == receiver.connections == 1


@pytest.mark.parametrize("kind", ["body", "head", "between"])
async def test_an_answer_without_end_is_let_go_of(certificate: Certificate, kind: str) -> None:
    starts = {
        "body": b"HTTP/1.1 200 OK\r\n\r\n",
        "head": b"HTTP/1.1 200 OK\r\nX-Long: ",
        "between": b"",
    }
    piece = b"HTTP/1.1 103 Early Hints\r\n\r\n" * 40 if kind == "between" else b"x" * 4_096

    async def endless(writer: asyncio.StreamWriter) -> None:
        writer.write(starts[kind])
        while True:
            writer.write(piece)
            await writer.drain()

    async with a_receiver(certificate, endless) as receiver:
        hook = a_webhook(certificate, receiver.port)
        if kind == "body":
            await tell(hook)
        else:
            assert "gave no answer" in str(await refused(hook))
        async with asyncio.timeout(5):
            await receiver.gone.wait()


@pytest.mark.parametrize("where", ["tls", "http"])
async def test_a_server_that_says_nothing_is_waited_for_so_long_and_no_longer(
    certificate: Certificate, where: str
) -> None:
    async def silent(writer: asyncio.StreamWriter) -> None:
        await asyncio.Event().wait()

    if where == "tls":
        mute = Silent()
        async with listening(lambda: mute) as port:
            error = await refused(a_webhook(certificate, port, whole_seconds=0.2))
            async with asyncio.timeout(5):
                await mute.gone.wait()
    else:
        async with a_receiver(certificate, silent) as receiver:
            error = await refused(a_webhook(certificate, receiver.port, whole_seconds=0.2))
    assert str(error) == "127.0.0.1 took no message within 0.2 s."


async def test_a_certificate_is_checked_for_its_issuer_and_its_name(certificate: Certificate) -> None:
    async def here(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"]

    async with a_receiver(certificate) as receiver:
        strange = a_webhook(certificate, receiver.port, context=ssl.create_default_context())
        assert "certificate that nobody here vouches for" in str(await refused(strange))
        other = a_webhook(certificate, receiver.port, host="hooks.test", resolver=here)
        assert "certificate that nobody here vouches for" in str(await refused(other))
    assert receiver.received == []


@pytest.mark.parametrize(
    "addresses",
    [["127.0.0.1"], ["10.1.2.3"], ["169.254.169.254"], ["93.184.216.34", "127.0.0.1"], ["::1"], ["::ffff:127.0.0.1"]],
)
async def test_an_address_that_is_not_public_is_reached_only_where_it_is_listed(
    certificate: Certificate, addresses: list[str]
) -> None:
    async def resolver(host: str, port: int) -> Sequence[str]:
        return addresses

    async with a_receiver(certificate) as receiver:
        hook = a_webhook(certificate, receiver.port, host="hooks.test", allow="", resolver=resolver)
        assert "not public" in str(await refused(hook))
    assert receiver.connections == 0


async def test_a_listed_host_and_a_listed_network_are_reached(certificate: Certificate) -> None:
    async with a_receiver(certificate) as receiver:
        await tell(a_webhook(certificate, receiver.port, allow="127.0.0.1"))
        assert "not public" in str(await refused(a_webhook(certificate, receiver.port, allow="127.0.0.2, hooks.test")))
    assert receiver.connections == 1


async def test_a_name_is_resolved_once_and_the_connection_goes_to_what_was_judged(certificate: Certificate) -> None:
    """Rebinding: a resolver that names a listed address first, and this machine's other one from then on."""
    asked: list[str] = []

    async def turns(host: str, port: int) -> Sequence[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["127.0.0.2"]

    reached: list[str] = []

    async def connection(address: str, port: int, **options: Any) -> Any:
        reached.append(address)
        raise ConnectionRefusedError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asyncio, "open_connection", connection)
        hook = a_webhook(certificate, 443, host="hooks.test", allow="127.0.0.1", resolver=turns)
        assert "cannot be reached" in str(await refused(hook))
    assert (asked, reached) == (["hooks.test"], ["127.0.0.1"])


async def test_the_server_at_that_address_is_asked_for_the_name(tmp_path: Path) -> None:
    """The name is none that the system knows: what is connected to is what the resolver said, and the certificate and
    the Host header are those of the name."""
    named = a_certificate(tmp_path, "hooks.test")

    async def here(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"]

    async with a_receiver(named) as receiver:
        await tell(a_webhook(named, receiver.port, host="hooks.test", resolver=here))
    assert receiver.received[0].headers["host"] == f"hooks.test:{receiver.port}"


async def test_a_notice_goes_the_same_way_under_the_notices_id(certificate: Certificate) -> None:
    async with a_receiver(certificate, b"HTTP/1.1 503 Later\r\n\r\n", OK) as receiver:
        hook = a_webhook(certificate, receiver.port)
        with pytest.raises(NotDelivered):
            await hook.deliver(a_letter(now=NOW))
        await hook.deliver(a_letter(now=NOW + timedelta(minutes=1)))
    first, again = receiver.received
    assert first.headers["webhook-id"] == again.headers["webhook-id"] == f"notice.{a_letter().id}"
    assert int(again.headers["webhook-timestamp"]) - int(first.headers["webhook-timestamp"]) == 60
    assert first.body == again.body
    assert (first.event["type"], first.event["data"]["to"]) == ("notice", "m.ito@example.org")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("http://hooks.test/x", "begins with https://"),
        ("ftp://hooks.test/x", "begins with https://"),
        ("https:///x", "names its host"),
        ("https://2130706433/x", "names its host"),
        ("https://127.1/x", "names its host"),
        ("https://0x7f000001/", "not public"),
        ("https://user:s3cret@hooks.test/", "no user, no password"),
        ("https://hooks.test/#s3cret", "nothing behind a #"),
        ("https://hooks.test:s3cret/", "begins with https://"),
        ("https://hooks.test/a b", "begins with https://"),
    ],
)
async def test_what_is_no_https_address_is_refused_at_the_start(url: str, said: str) -> None:
    async def system(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"]  # what some systems make of such a name

    if said == "not public":
        from dataclasses import replace

        hook = replace(webhook_from(url, secrets=[SECRET], allowed=allowed_from("")), resolver=system)
        assert said in str(await refused(hook))
        return
    with pytest.raises(DeliveryRefused) as caught:
        webhook_from(url, secrets=[SECRET], allowed=allowed_from(""))
    assert said in str(caught.value)
    assert "s3cret" not in str(caught.value)


def test_nothing_shows_a_secret_or_the_path_of_an_address() -> None:
    hook = webhook_from("https://hooks.test/T00/s3cret?key=s3cret", secrets=[SECRET], allowed=allowed_from(""))
    assert "s3cret" not in repr(hook)
    assert "0123456789abcdef" not in repr(hook)


def secret_file(folder: Path, content: bytes, mode: int = 0o600) -> Path:
    path = folder / "secret"
    path.write_bytes(content)
    os.chmod(path, mode)
    return path


def test_secrets_are_one_a_line_raw_or_in_base64(tmp_path: Path) -> None:
    coded = b"whsec_" + base64.b64encode(SECRET)
    assert secrets_from(secret_file(tmp_path, coded + b"\n\n" + b"r" * 24 + b"\n")) == (SECRET, b"r" * 24)


@pytest.mark.parametrize(
    ("content", "mode", "said"),
    [
        (SECRET, 0o640, "its owner alone may read"),
        (SECRET, 0o604, "its owner alone may read"),
        (b"x" * 23, 0o600, "Secret 1 is shorter than 24 bytes"),
        (SECRET + b"\nwhsec_" + base64.b64encode(b"short"), 0o600, "Secret 2 is shorter"),
        (b"whsec_!!!!", 0o600, "is no base64"),
        (b"\n \n", 0o600, "one secret a line"),
    ],
)
def test_a_file_of_secrets_that_is_not_fit_is_refused_and_not_repeated(
    tmp_path: Path, content: bytes, mode: int, said: str
) -> None:
    with pytest.raises(DeliveryRefused) as caught:
        secrets_from(secret_file(tmp_path, content, mode))
    assert said in str(caught.value)
    assert content.decode().strip()[:10] not in str(caught.value) or not content.strip()


def settings(**more: Any) -> ProcessSettings:
    return ProcessSettings(database_url="x", application="x", deployment="test", **more)


def test_the_worker_starts_with_a_webhook_only_where_it_can_be_signed(tmp_path: Path) -> None:
    assert webhook_of(settings()) is None
    for hooked in (webhook_of, delivery_of):
        named = {"webhook_url" if hooked is webhook_of else "delivery_url": "https://hooks.test/x"}
        with pytest.raises(StartRefused, match="JOBSERVICE_WEBHOOK_SECRET is not set"):
            hooked(settings(**named))
        with pytest.raises(StartRefused, match="JOBSERVICE_WEBHOOK_ALLOW is not taken"):
            hooked(settings(**named, webhook_secret=secret_file(tmp_path, SECRET), webhook_allow="10.0.0.1/8"))
        made = hooked(settings(**named, webhook_secret=secret_file(tmp_path, SECRET)))
        assert isinstance(made, Webhook)
        assert made.secrets == (SECRET,)
    with pytest.raises(StartRefused, match="JOBSERVICE_WEBHOOK_URL is not taken"):
        webhook_of(settings(webhook_url="http://hooks.test/x", webhook_secret=secret_file(tmp_path, SECRET)))


def test_the_process_reads_it_from_the_workers_environment_alone() -> None:
    environment = {
        "JOBSERVICE_DATABASE_URL": "x",
        "JOBSERVICE_APPLICATION": "x",
        "JOBSERVICE_DEPLOYMENT": "x",
        "JOBSERVICE_KEYRING": "/k",
        "JOBSERVICE_WEBHOOK_URL": "https://hooks.test/x",
        "JOBSERVICE_WEBHOOK_SECRET": "/s",
        "JOBSERVICE_WEBHOOK_ALLOW": "10.0.0.0/8",
    }
    worker = ProcessSettings.read(environment, keyring=False)
    assert (worker.webhook_url, worker.webhook_secret, worker.webhook_allow) == (
        "https://hooks.test/x",
        Path("/s"),
        "10.0.0.0/8",
    )
    api = ProcessSettings.read(environment, keyring=True)
    assert (api.webhook_url, api.webhook_secret, api.webhook_allow) == (None, None, "")
    assert "hooks.test" not in repr(worker)
