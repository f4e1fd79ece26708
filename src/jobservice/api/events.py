"""Owns the operation of the live stream: who hears of what, and the answer that does not end by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Annotated

from fastapi import Header, Response
from starlette.types import Receive, Scope, Send

from jobcontract import routes
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.events import Topic
from jobcontract.permissions import GRANTS, Permission
from jobservice.api.admission import Admission, Admitted
from jobservice.api.endpoints import Endpoint
from jobservice.api.stream import Heard, Hearing, Pace, Stream
from jobservice.usecases.hints import Audience
from jobservice.usecases.session import SignedIn, authenticate

EVENTS_TYPE = "text/event-stream"
_NEEDS: Mapping[Topic, Permission] = {
    Topic.ITEM: Permission.QUEUE_READ,
    Topic.ITEMS: Permission.QUEUE_READ,
    Topic.PLAN: Permission.PLAN_READ,
    Topic.MONEY: Permission.QUEUE_READ,
    Topic.SCHEDULE: Permission.SCHEDULE_READ,
    Topic.SCHEDULES: Permission.SCHEDULE_READ,
    Topic.RECOVERY: Permission.RECOVERY_READ,
    Topic.ALARMS: Permission.SCHEDULE_READ,
    Topic.STOPS: Permission.COLLEAGUE_READ,
    Topic.JOB: Permission.JOB_READ,
    Topic.JOBS: Permission.JOB_READ,
}
"""Who hears of what: whoever may look at it."""


async def events(
    admitted: Admitted, last_event_id: Annotated[str | None, Header(include_in_schema=False)] = None
) -> Response:
    """Hints of what changed in the tenants that the token may read, until its rights end."""
    context = admitted.context
    heard = _heard_by(admitted.signed_in, admitted.tenant)
    context.streams.enter(admitted.signed_in.person)
    bounds = context.bounds
    pace = Pace(beat_seconds=bounds.beat_seconds, recheck_seconds=bounds.recheck_seconds)
    stream = Stream(context.hub, heard, _Rights(admitted, had=bool(heard)).look, pace, context.metrics.hints.inc)

    def close() -> None:
        stream.close()
        context.streams.leave(admitted.signed_in.person)

    try:
        await stream.open(last_event_id, seconds=bounds.body_seconds)
    except BaseException:  # a client that went away while it opened gives its place back too
        close()
        raise
    return EventStream(stream, close, send_seconds=bounds.send_seconds)


def _heard_by(signed_in: SignedIn, named: str | None) -> Heard:
    """What the person may be told of each tenant that they may read of, within the tenant that the request names."""
    told = {
        membership.tenant: Hearing(
            topics=frozenset(topic for topic in Topic if _NEEDS[topic] in GRANTS[membership.role]),
            audience=Audience.of(signed_in.actor(membership.tenant)),
        )
        for membership in signed_in.memberships
        if named in (None, membership.tenant)
    }
    return {tenant: hearing for tenant, hearing in told.items() if hearing.topics}


class _Rights:
    """Looks again at what a stream's token may hear."""

    def __init__(self, admitted: Admission, *, had: bool) -> None:
        """`had`: whether there was anything to hear of when the stream began."""
        self._admitted = admitted
        self._had = had

    async def look(self) -> Heard | None:
        """What to hear of now; None where the token, the person or all that it could hear has ended.

        Refusal DATABASE_AWAY or TIMED_OUT where nobody can tell.
        """
        database = self._admitted.context.service.database
        try:
            signed_in = await authenticate(database, self._admitted.token.get_secret_value())
        except Refusal as refusal:
            if refusal.kind in (ErrorCode.UNAUTHENTICATED, ErrorCode.TOKEN_EXPIRED):
                return None
            raise
        heard = _heard_by(signed_in, self._admitted.tenant)
        return None if self._had and not heard else heard


class EventStream(Response):
    """The endless answer. Ends with its stream, when the client leaves, or when it takes nothing for too long."""

    media_type = EVENTS_TYPE

    def __init__(self, stream: Stream, close: Callable[[], None], *, send_seconds: float) -> None:
        self.status_code = 200
        self.background = None
        self.init_headers({"X-Accel-Buffering": "no"})
        self._stream = stream
        self._close = close
        self._send_seconds = send_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 - ASGI's own form
        """Send frames until one side has had enough."""
        sending = asyncio.create_task(self._send(send))
        leaving = asyncio.create_task(_left(receive))
        try:
            await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if sending.done():
                sending.result()
        finally:
            self._close()
            for task in (sending, leaving):
                task.cancel()
                # Any exception: the answer is over, and an error of the sending side was raised by `result` above.
                with suppress(asyncio.CancelledError, Exception):  # outermost frame of two tasks of this answer
                    await task

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        try:
            async for frame in self._stream.frames():
                async with asyncio.timeout(self._send_seconds):
                    await send({"type": "http.response.body", "body": frame, "more_body": True})
        except TimeoutError:
            return  # the client takes nothing: it is cut off, and resumes from its last event id
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


ENDPOINTS = (
    Endpoint(
        route=routes.EVENTS,
        function=events,
        media=EVENTS_TYPE,
        summary="Live hints",
        refusals=(ErrorCode.TOO_MANY_STREAMS,),
    ),
)
