"""Owns delivering by SMTP (RFC 5321): encrypted, but for a server of this machine; one connection a letter, in a thread.

Never repeats a letter, never follows a server to another, never shows its password.
"""

from __future__ import annotations

import asyncio
import smtplib
import socket
import ssl
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from email.message import EmailMessage
from enum import StrEnum
from typing import Any

from jobservice.delivery.letters import Letter, NotDelivered
from jobservice.delivery.mail import address, mail

REPLY_SECONDS = 15.0
"""How long one reply of the server may take."""
WHOLE_SECONDS = 45.0
"""How long a whole delivery may take, however its replies come."""
WORDS_MOST = 200


class Encryption(StrEnum):
    """How the connection is encrypted."""

    TLS = "tls"
    """From its first byte."""
    STARTTLS = "starttls"
    """From STARTTLS on (RFC 3207), before anything is said; a server without it gets nothing."""
    NONE = "none"
    """On this machine alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Smtp:
    """A mail server, and whom letters come from."""

    host: str
    port: int
    sender: str
    encryption: Encryption
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    context: ssl.SSLContext | None = field(default=None, repr=False)
    """Whom it trusts; None where nothing is encrypted."""
    reply_seconds: float = REPLY_SECONDS
    whole_seconds: float = WHOLE_SECONDS

    async def deliver(self, letter: Letter) -> None:
        """Hand the letter to the server; NotDelivered where it did not take it, or gave no answer."""
        receiver = address(letter.address)
        if receiver is None:
            raise NotDelivered("The person's contact is no e-mail address.", for_good=True)
        call = _Call(self, mail(letter, sender=self.sender, receiver=receiver), receiver)
        try:
            async with asyncio.timeout(self.whole_seconds):
                await call.made()
        except TimeoutError:
            raise NotDelivered(f"{self.host} took no letter within {self.whole_seconds:g} s.") from None
        finally:
            call.end()


class _Call:
    """One delivery on a thread of its own: nothing waits for that thread, and ending the connection ends it."""

    def __init__(self, server: Smtp, message: EmailMessage, receiver: str) -> None:
        self._server = server
        self._message = message
        self._receiver = receiver
        self._client: smtplib.SMTP | None = None
        self._ended = False

    async def made(self) -> None:
        """Return when the server took it; NotDelivered."""
        loop = asyncio.get_running_loop()
        taken: asyncio.Future[None] = loop.create_future()

        def settle(error: NotDelivered | None) -> None:
            if not taken.done():
                taken.set_result(None) if error is None else taken.set_exception(error)

        def say(error: NotDelivered | None) -> None:
            with suppress(RuntimeError):  # the loop has ended, and nobody waits any more
                loop.call_soon_threadsafe(settle, error)

        threading.Thread(target=self._run, args=(say,), daemon=True, name="delivery").start()
        await taken

    def end(self) -> None:
        """Let go of the connection, whatever it waits for."""
        self._ended = True
        client = self._client
        if client is not None and client.sock is not None:
            with suppress(OSError):
                client.sock.shutdown(socket.SHUT_RDWR)

    def watch(self, client: smtplib.SMTP) -> None:
        """Called before each reply is read: a call that was ended reads none."""
        self._client = client
        if self._ended:
            raise smtplib.SMTPServerDisconnected("ended")

    def _run(self, say: Callable[[NotDelivered | None], None]) -> None:
        try:
            client = self._connected()
            client.send_message(self._message, from_addr=self._server.sender, to_addrs=[self._receiver])
            say(None)
            client.quit()
        except Exception as error:  # the outermost frame of the thread; nothing is hidden: whoever waits is told
            say(_reason(self._server.host, error))
        finally:
            if self._client is not None:
                self._client.close()

    def _connected(self) -> smtplib.SMTP:
        """A client that has said who it is, over an encrypted connection."""
        server = self._server
        options: dict[str, Any] = {"timeout": server.reply_seconds, "local_hostname": socket.gethostname()}
        if server.encryption is Encryption.TLS:
            client: smtplib.SMTP = _TlsClient(self, server.host, server.port, context=server.context, **options)
        else:
            client = _Client(self, server.host, server.port, **options)
        if server.encryption is Encryption.STARTTLS:
            client.starttls(context=server.context)
        if server.user is not None and server.password is not None:
            client.login(server.user, server.password)
        return client


class _Client(smtplib.SMTP):
    """A client that another thread can end while it waits for a reply, the first one included."""

    def __init__(self, call: _Call, *arguments: Any, **options: Any) -> None:
        self._call = call
        super().__init__(*arguments, **options)

    def getreply(self) -> tuple[int, bytes]:
        """The next reply of the server."""
        self._call.watch(self)
        return super().getreply()


class _TlsClient(smtplib.SMTP_SSL):
    """The same over TLS from the first byte on."""

    def __init__(self, call: _Call, *arguments: Any, **options: Any) -> None:
        self._call = call
        super().__init__(*arguments, **options)

    def getreply(self) -> tuple[int, bytes]:
        """The next reply of the server."""
        self._call.watch(self)
        return super().getreply()


def _reason(host: str, error: Exception) -> NotDelivered:
    """What went wrong, for a log line: the server's words, and no address of ours."""
    match error:
        case smtplib.SMTPRecipientsRefused(recipients=recipients):
            code, words = next(iter(recipients.values()))
            return NotDelivered(f"{host} does not take the address: {_words(code, words)}", for_good=code >= 500)
        case smtplib.SMTPDataError(smtp_code=code, smtp_error=words):
            return NotDelivered(f"{host} does not take the letter: {_words(code, words)}", for_good=code >= 500)
        case smtplib.SMTPAuthenticationError(smtp_code=code, smtp_error=words):
            return NotDelivered(f"{host} does not take the user and password: {_words(code, words)}")
        case smtplib.SMTPResponseException(smtp_code=code, smtp_error=words):
            return NotDelivered(f"{host} refused: {_words(code, words)}")
        case smtplib.SMTPNotSupportedError():
            return NotDelivered(f"{host} does not offer what is wanted of it: {error}")
        case ssl.SSLCertVerificationError():
            return NotDelivered(f"{host} has a certificate that nobody here vouches for: {error.verify_message}.")
        case smtplib.SMTPException() | OSError():
            return NotDelivered(f"{host} cannot be reached or broke off: {type(error).__name__}.")
    return NotDelivered(f"The letter could not be sent: {type(error).__name__}.")


def _words(code: int, words: bytes | str) -> str:
    text = words.decode("utf-8", "replace") if isinstance(words, bytes) else words
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return f"{code} {line[:WORDS_MOST]}"
