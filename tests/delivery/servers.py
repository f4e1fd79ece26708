"""Owns mail servers for tests: real ones on loopback, on the test's own loop, that keep what they are given or misbehave."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from email.message import EmailMessage
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from uuid import UUID

from aiosmtpd.smtp import SMTP, AuthResult
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from jobservice.delivery import Letter

PASSWORD = "p@ss/w:rd"
AT = datetime(2026, 3, 10, 9, 0, tzinfo=UTC)


def a_letter(**other: Any) -> Letter:
    """A letter to Mina Ito."""
    parts: dict[str, Any] = {
        "id": UUID(int=7),
        "address": "m.ito@example.org",
        "subject": "Plan lark-42 was confirmed",
        "text": "412 payouts, £18,204.11.\nTo stop it: jobconsole plan stop lark-42",
        "at": AT,
    }
    return Letter(**(parts | other))


@dataclass(slots=True)
class MailServer:
    """What it was given, oldest first. `answer_rcpt`, `answer_data`: what it says in place of yes."""

    port: int = 0
    received: list[EmailMessage] = field(default_factory=list)
    receivers: list[str] = field(default_factory=list)
    users: list[bytes] = field(default_factory=list)
    answer_rcpt: str = "250 OK"
    answer_data: str = "250 OK"

    async def handle_RCPT(self, _server: Any, _session: Any, envelope: Any, address: str, _options: Any) -> str:
        """Take the address, or say what was set."""
        if self.answer_rcpt.startswith("250"):
            envelope.rcpt_tos.append(address)
            self.receivers.append(address)
        return self.answer_rcpt

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:
        """Keep the message, or say what was set."""
        if self.answer_data.startswith("250"):
            self.received.append(message_from_bytes(envelope.content, _class=EmailMessage, policy=policy.default))
        return self.answer_data

    def authenticate(self, _server: Any, _session: Any, _envelope: Any, _mechanism: str, given: Any) -> AuthResult:
        """Take the one password."""
        right = given.password.decode() == PASSWORD
        if right:
            self.users.append(given.login)
        return AuthResult(success=right, handled=False)


@asynccontextmanager
async def a_mail_server(
    *, tls: ssl.SSLContext | None = None, starttls: ssl.SSLContext | None = None
) -> AsyncIterator[MailServer]:
    """A server that takes everything; with STARTTLS it wants a password, too."""
    mailbox = MailServer()
    options: dict[str, Any] = {"hostname": "mail.test", "timeout": 20}
    if starttls is not None:
        options |= {"tls_context": starttls, "auth_required": True, "authenticator": mailbox.authenticate}
    async with listening(lambda: SMTP(mailbox, **options), ssl=tls) as port:
        mailbox.port = port
        yield mailbox


@asynccontextmanager
async def listening(protocol: Any, **options: Any) -> AsyncIterator[int]:
    """The port of a server of `protocol` on loopback."""
    server = await asyncio.get_running_loop().create_server(protocol, "127.0.0.1", 0, **options)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


class Silent(asyncio.Protocol):
    """A server that takes a connection and says `says` at most. `gone` is set when the other side has let go of it."""

    def __init__(self, says: bytes = b"") -> None:
        self._says = says
        self.gone = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Say it."""
        assert isinstance(transport, asyncio.Transport)
        transport.write(self._says)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  # the library's call
        """The connection ended."""
        self.gone.set()


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """A certificate of one host, which vouches for itself: a server's context, and the file to trust it by."""

    server: ssl.SSLContext
    authorities: Path


def a_certificate(folder: Path, host: str = "127.0.0.1") -> Certificate:
    """A fresh one, for a day, of an address or a name."""
    try:
        names: list[x509.GeneralName] = [x509.IPAddress(ip_address(host))]
    except ValueError:
        names = [x509.DNSName(host)]
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    today = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(today - timedelta(days=1))
        .not_valid_after(today + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .sign(key, hashes.SHA256())
    )
    chain, secret = folder / "chain.pem", folder / "key.pem"
    chain.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, secret)
    return Certificate(server=context, authorities=chain)
