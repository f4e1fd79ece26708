"""Owns the one HTTP connection to the service: sending, bounded reading, repeating, and what a bad answer means.

A reading call is repeated a few times. An acting call is repeated only under the same idempotency key, within one
deadline; where no answer came by then it is OutcomeUnknown, never "failed" (HTTP-03). No redirect is followed.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from secrets import SystemRandom
from typing import TypeVar

import httpx
from pydantic import SecretStr

from jobconsole.client.answers import Reply, away, body_of, problem, value
from jobconsole.client.clock import ServerClock
from jobconsole.client.errors import ClientError, ConnectionUnfit, OutcomeUnknown, ServiceRefused
from jobconsole.client.wiring import Bearer, Times, check_address, fill, written
from jobcontract.errors import ErrorCode
from jobcontract.ids import is_slug
from jobcontract.routes import KEY_HEADER, TENANT_HEADER, Route
from jobcontract.wire import Answer, Wire

BODY_MOST = 20 * 1024 * 1024
"""Most bytes of one answer; the largest payload that a setting allows fits in."""
UNSENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
"""Failures before anything was sent."""
AGAIN = frozenset({500, 502, 503, 504})
"""Answers after which the same call may be sent once more."""
BEFORE_LOOKUP = frozenset({401, 403, 429})
"""Refusals that the service makes before it looks a key up: they say nothing about an earlier try."""

A = TypeVar("A", bound=Answer)
Query = Mapping[str, str | int | None]


class _NoReply(Exception):
    """No answer came. `sent`: whether the service may have received the request."""

    def __init__(self, reason: str, *, sent: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.sent = sent


@dataclass(frozen=True, slots=True, kw_only=True)
class _Failed:
    """What one failed try of an acting call means. `judged`: refused after its key was looked up, so surely not done."""

    error: ClientError
    again: bool
    perhaps_done: bool
    judged: bool = False
    retry_after: float | None = None


class Service:
    """The service as one signed-in person sees it, in one tenant. Close it; use it from one event loop."""

    def __init__(
        self,
        url: str,
        token: SecretStr,
        tenant: str | None = None,
        *,
        transport: httpx.AsyncBaseTransport | None = None,
        times: Times | None = None,
        clock: ServerClock | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """`url` and `token` are checked here: ConnectionUnfit says what is wrong with them. Nothing is sent yet."""
        address = check_address(url)
        self.address = str(address)
        self.times = times or Times()
        self.clock = clock or ServerClock()
        self.on_checking: Callable[[str], None] | None = None
        """Called with the key whenever an act's answer got lost and it is asked for again."""
        self._tenant: str | None = None
        self.tenant = tenant
        self._sleep = sleep
        self._random = SystemRandom()
        self.http = httpx.AsyncClient(
            base_url=address,
            auth=Bearer(token),
            transport=transport,
            timeout=httpx.Timeout(self.times.read, connect=self.times.connect),
            follow_redirects=False,
            # Over http there is no certificate to check, and the trust store of the machine stays unread (2.5 MB).
            verify=address.scheme == "https",
            # Over http the token stays on this machine: no proxy of the environment may carry it away.
            trust_env=address.scheme == "https",
            headers={"Accept": "application/json", "Accept-Encoding": "identity"},
        )

    def __repr__(self) -> str:
        return f"<Service {self.address} tenant={self._tenant}>"

    @property
    def tenant(self) -> str | None:
        """The tenant that calls are made in; None lets the service take the person's only one."""
        return self._tenant

    @tenant.setter
    def tenant(self, tenant: str | None) -> None:
        if tenant is not None and not is_slug(tenant):
            raise ConnectionUnfit("A tenant's id is in small letters, like leeds.")
        self._tenant = tenant

    async def close(self) -> None:
        """Close the connections."""
        await self.http.aclose()

    async def get(
        self,
        route: Route,
        model: type[A],
        *,
        parts: Mapping[str, str] | None = None,
        query: Query | None = None,
        body: Wire | None = None,
    ) -> A:
        """Read `route`; a question that needs a `body` acts no more than one that needs none.

        ServiceRefused, SignInAgain, or ServiceAway after a few tries.
        """
        params = {name: given for name, given in (query or {}).items() if given is not None}
        content = None if body is None else written(body)
        headers = self.headers() if body is None else {**self.headers(), "Content-Type": "application/json"}
        request = self.http.build_request(
            route.method, fill(route, parts or {}), params=params, content=content, headers=headers
        )
        return self._read(await self._asked(request), model)

    async def fetch(self, route: Route, *, parts: Mapping[str, str] | None = None, query: Query | None = None) -> bytes:
        """The body of `route` as it came: a file, or rows that are too many for models. Raises what `get` raises."""
        params = {name: given for name, given in (query or {}).items() if given is not None}
        headers = {**self.headers(), "Accept": "*/*"}
        request = self.http.build_request(route.method, fill(route, parts or {}), params=params, headers=headers)
        return body_of(await self._asked(request), self.address)

    async def _asked(self, request: httpx.Request) -> Reply:
        """The last answer to a reading call, good or bad; ServiceAway where none came."""
        stop = self.clock.monotonic() + self.times.deadline
        tries = 0
        while True:
            tries += 1
            last = tries >= self.times.tries
            try:
                reply = await self._send(request, stop)
            except _NoReply as lost:
                if last or not await self._pause(tries, stop, None):
                    raise away(self.address, lost.reason) from None
                continue
            if reply.status not in (502, 503, 504) or last or not await self._pause(tries, stop, reply.retry_after):
                return reply

    async def post(
        self, route: Route, body: Wire, model: type[A], *, key: str, parts: Mapping[str, str] | None = None
    ) -> A:
        """Act. ServiceRefused, SignInAgain and ServiceAway mean that nothing was done; OutcomeUnknown means just that."""
        content = written(body)
        headers = {**self.headers(), KEY_HEADER: key, "Content-Type": "application/json"}
        request = self.http.build_request(route.method, fill(route, parts or {}), content=content, headers=headers)
        stop = self.clock.monotonic() + self.times.deadline
        unsure = False
        tries = 0
        while True:
            tries += 1
            tried = await self._attempt(request, stop, model)
            if not isinstance(tried, _Failed):
                return tried
            unsure = unsure or tried.perhaps_done
            if unsure and tried.again and self.on_checking is not None:
                self.on_checking(key)
            if not tried.again or not await self._pause(tries, stop, tried.retry_after):
                raise tried.error if not unsure or tried.judged else _unknown(tried.error, key)

    @asynccontextmanager
    async def stream(
        self, route: Route, *, headers: Mapping[str, str], silence: float
    ) -> AsyncIterator[httpx.Response]:
        """Open an endless answer; `silence` seconds without a byte end it with httpx.ReadTimeout."""
        timeout = httpx.Timeout(self.times.connect, read=silence)
        sent = {**self.headers(), **headers}
        async with self.http.stream(route.method, route.path, headers=sent, timeout=timeout) as response:
            yield response

    def headers(self) -> dict[str, str]:
        """The headers of every call, without the token."""
        return {} if self._tenant is None else {TENANT_HEADER: self._tenant}

    def _read(self, reply: Reply, model: type[A]) -> A:
        answer = value(reply, model, self.address)
        told = getattr(answer, "now", None) or getattr(answer, "as_of", None)
        if told is not None:
            self.clock.learn(told, sent=reply.sent, received=reply.received)
        return answer

    async def _attempt(self, request: httpx.Request, stop: float, model: type[A]) -> A | _Failed:
        """One try of an acting call: its answer, or what its failure means."""
        try:
            reply = await self._send(request, stop)
        except _NoReply as lost:
            return _Failed(error=away(self.address, lost.reason), again=True, perhaps_done=lost.sent)
        try:
            return value(reply, model, self.address)
        except ClientError as error:
            unread, again = reply.status < 300, _repeat(reply)
            return _Failed(
                error=error,
                again=again or unread,
                perhaps_done=unread or (again and not _not_done(reply)),
                judged=not again and isinstance(error, ServiceRefused) and reply.status not in BEFORE_LOOKUP,
                retry_after=reply.retry_after,
            )

    async def _pause(self, tries: int, stop: float, asked: float | None) -> bool:
        """Wait before the next try; False, without waiting, where it would begin past the deadline."""
        times = self.times
        longest = min(times.first_pause * 2 ** (tries - 1), times.longest_pause)
        pause = max(self._random.uniform(longest / 2, longest), asked or 0.0)
        if self.clock.monotonic() + pause >= stop:
            return False
        await self._sleep(pause)
        return True

    async def _send(self, request: httpx.Request, stop: float) -> Reply:
        """One try, answered whole before `stop` (monotonic seconds) or _NoReply."""
        sent = self.clock.monotonic()
        try:
            async with asyncio.timeout(max(stop - sent, 0.01)):
                response = await self.http.send(request, stream=True)
                try:
                    body = await _bounded(response)
                finally:
                    await response.aclose()
        except UNSENT as error:
            raise _NoReply(_why(error), sent=False) from None
        except (httpx.HTTPError, httpx.StreamError) as error:
            raise _NoReply(_why(error), sent=True) from None
        except TimeoutError:
            raise _NoReply("no answer in time", sent=True) from None
        return Reply(
            status=response.status_code,
            headers=response.headers,
            body=body,
            sent=sent,
            received=self.clock.monotonic(),
        )


async def _bounded(response: httpx.Response) -> bytes | None:
    """The body, or None where it is larger than BODY_MOST; the rest of it is then not read."""
    chunks: list[bytes] = []
    size = 0
    async for chunk in response.aiter_bytes():
        size += len(chunk)
        if size > BODY_MOST:
            return None
        chunks.append(chunk)
    return b"".join(chunks)


def _repeat(reply: Reply) -> bool:
    """Whether an acting call is to be sent again: a failure that may pass, or its first try is still running."""
    if reply.status in AGAIN:
        return True
    found = problem(reply)
    return found is not None and found.code == ErrorCode.IDEMPOTENCY_RUNNING.code


def _not_done(reply: Reply) -> bool:
    """Whether the service itself says that nothing was done; a proxy's 503 or a bare 500 says no such thing."""
    found = problem(reply)
    return found is not None and found.code == ErrorCode.TIMED_OUT.code


def _unknown(failure: ClientError, key: str) -> OutcomeUnknown:
    sentence = f"Whether it was done is not known: {failure.sentence} Look the item up, or repeat: it happens once."
    return OutcomeUnknown(sentence, key=key, reference=failure.reference)


def _why(error: Exception) -> str:
    """A few words about a failed connection, without address or header."""
    if isinstance(error, httpx.TimeoutException):
        return "no answer in time"
    text = str(error).strip()[:200]
    if "CERTIFICATE" in text:
        return f"its certificate is not to be trusted: {text}"
    return text or type(error).__name__
