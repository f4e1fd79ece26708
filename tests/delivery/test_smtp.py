"""Delivering by SMTP, against real servers on loopback: encrypted, refused, silent, away."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

import pytest

from jobservice.delivery import NotDelivered, delivery_from
from jobservice.delivery.smtp import Smtp
from tests.delivery.servers import PASSWORD, Certificate, Silent, a_certificate, a_letter, a_mail_server, listening

pytestmark = pytest.mark.requirement("MONEY-14")


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    """One for all tests."""
    return a_certificate(tmp_path_factory.mktemp("certificate"))


def smtp(url: str, **other: float) -> Smtp:
    """The way that an address names, with other time-outs."""
    way = delivery_from(url)
    assert isinstance(way, Smtp)
    return replace(way, **other)  # type: ignore[arg-type]  # numbers alone


def plain(port: int, **other: float) -> Smtp:
    """A server of this machine, without encryption."""
    return smtp(f"smtp://127.0.0.1:{port}/?from=jobs@example.org&starttls=none", **other)


async def refused(way: Smtp, **letter: str) -> NotDelivered:
    """Why a letter was not delivered."""
    with pytest.raises(NotDelivered) as caught:
        await way.deliver(a_letter(**letter))
    return caught.value


async def test_a_letter_arrives_as_it_was_written_and_a_repetition_can_be_told() -> None:
    async with a_mail_server() as server:
        for _ in range(2):
            await plain(server.port).deliver(a_letter())
    first, again = server.received
    assert server.receivers == ["m.ito@example.org"] * 2
    assert (first["From"], first["To"]) == ("jobs@example.org", "m.ito@example.org")
    assert first["Subject"] == "Plan lark-42 was confirmed"
    assert first["Date"].datetime == a_letter().at
    assert first["Message-ID"] == "<notice-00000000-0000-0000-0000-000000000007@example.org>" == again["Message-ID"]
    assert first.get_content().splitlines() == ["412 payouts, £18,204.11.", "To stop it: jobconsole plan stop lark-42"]


async def test_user_and_password_go_over_starttls_alone(certificate: Certificate) -> None:
    account = f"jobs%40example.org:{quote(PASSWORD, safe='')}"
    rest = f"/?from=jobs@example.org&ca={certificate.authorities}"
    async with a_mail_server(starttls=certificate.server) as server:
        await smtp(f"smtp://{account}@127.0.0.1:{server.port}{rest}").deliver(a_letter())
        assert (len(server.received), server.users) == (1, [b"jobs@example.org"])
        wrong = await refused(smtp(f"smtp://jobs:wrong@127.0.0.1:{server.port}{rest}"))
        assert str(wrong).startswith("127.0.0.1 does not take the user and password: 535 ")
        assert not wrong.for_good
    async with a_mail_server() as bare:
        without = await refused(smtp(f"smtp://{account}@127.0.0.1:{bare.port}{rest}"))
        assert str(without) == (
            "127.0.0.1 does not offer what is wanted of it: STARTTLS extension not supported by server."
        )
        assert bare.received == []


async def test_tls_from_the_first_byte_and_a_certificate_that_nobody_vouches_for(certificate: Certificate) -> None:
    async with a_mail_server(tls=certificate.server) as server:
        url = f"smtps://127.0.0.1:{server.port}/?from=jobs@example.org"
        assert "certificate that nobody here vouches for" in str(await refused(smtp(url)))
        assert server.received == []
        await smtp(f"{url}&ca={certificate.authorities}").deliver(a_letter())
        assert len(server.received) == 1


@pytest.mark.parametrize(
    ("rcpt", "data", "said", "for_good"),
    [
        ("550 No such\tperson", "250 OK", "does not take the address: 550 No such person", True),
        ("451 Later", "250 OK", "does not take the address: 451 Later", False),
        ("250 OK", "554 Smells", "does not take the letter: 554 Smells", True),
        ("250 OK", "452 Full", "does not take the letter: 452 Full", False),
    ],
)
async def test_what_a_server_refuses_for_good_is_told_from_what_it_refuses_now(
    rcpt: str, data: str, said: str, for_good: bool
) -> None:
    async with a_mail_server() as server:
        server.answer_rcpt, server.answer_data = rcpt, data
        error = await refused(plain(server.port))
    assert (str(error), error.for_good) == (f"127.0.0.1 {said}", for_good)


async def test_a_server_that_is_away_or_breaks_off_is_said() -> None:
    async with listening(Silent) as port:
        pass
    assert str(await refused(plain(port))) == "127.0.0.1 cannot be reached or broke off: ConnectionRefusedError."


@pytest.mark.parametrize("says", [b"", b"220 mail.test\r\n", b"220-mail"])
async def test_a_server_that_hangs_is_let_go_of_and_so_is_its_thread(says: bytes) -> None:
    before = set(threading.enumerate())
    silent = Silent(says)
    async with listening(lambda: silent) as port:
        assert str(await refused(plain(port, whole_seconds=0.1))) == "127.0.0.1 took no letter within 0.1 s."
        async with asyncio.timeout(5):  # its replies may take 15 s: this ends because the connection was ended
            await silent.gone.wait()
    for thread in set(threading.enumerate()) - before:
        if thread.name == "delivery":
            thread.join(5)
            assert not thread.is_alive()


@pytest.mark.parametrize(
    "address",
    [
        "m.ito",
        "",
        "a@b, c@d",
        "m.ito@example.org\r\nRCPT TO:<x@y>",
        "a@b\nBcc: c@d",
        "<a@b>",
        "é@example.org",
        "a@" + "b" * 300,
    ],
)
async def test_what_is_no_single_address_gets_nothing(address: str) -> None:
    async with a_mail_server() as server:
        error = await refused(plain(server.port), address=address)
    assert (str(error), error.for_good) == ("The person's contact is no e-mail address.", True)
    assert server.receivers == []


async def test_nothing_in_a_letter_adds_a_header_or_ends_it() -> None:
    async with a_mail_server() as server:
        await plain(server.port).deliver(
            a_letter(
                subject="Plan\r\nBcc: x@example.net\r\n\r\nBody \x1b[2J\u202e",
                text="one\r\n.\r\nMAIL FROM:<x@example.net>\r\n\x00\x1b[2Jtwo\n..three",
            )
        )
    (message,) = server.received
    assert server.receivers == ["m.ito@example.org"]
    headers = {"From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted"}
    assert set(message.keys()) == headers | {"MIME-Version", "Content-Type", "Content-Transfer-Encoding"}
    assert len(message.keys()) == len(headers) + 3
    assert message["Subject"] == "Plan  Bcc: x@example.net    Body  [2J "
    assert message.get_content().splitlines() == ["one", ".", "MAIL FROM:<x@example.net>", "  [2Jtwo", "..three"]


def test_a_password_stands_in_no_repr(tmp_path: Path) -> None:
    way = smtp(f"smtp://jobs:{quote(PASSWORD, safe='')}@mail.test/?from=jobs@example.org")
    assert way.password == PASSWORD
    assert PASSWORD not in repr(way)
