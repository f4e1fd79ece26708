"""Owns a process's first look at its database: one that is away is waited for, one that is wrong is refused at once.

Away is what may pass by itself: nobody answers there, a name that is not known yet, a server that starts, stops or has no
connection left. All else (a password, a role, a database's name, an address in the wrong form) a person has to mend.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import psycopg
import structlog
from psycopg.conninfo import make_conninfo
from psycopg.pq import PGconn, Ping

from jobcontract.errors import Refusal
from jobservice.bootstrap.children import FIRST_PAUSE, longer, sleep_unless, with_jitter
from jobservice.bootstrap.process import connect_once
from jobservice.settings import StartRefused
from jobservice.store.database import reason

SAY_SECONDS = 60.0
"""Between two lines of the log that say the same."""
GLANCE_SECONDS = 5.0
"""How long a process that can do without may be kept from starting by a server that says nothing."""
PING_SECONDS = 2
"""How long the server may take to say that it takes connections: the least that the client's library knows. It blocks the
process, and is asked only where a try just failed at once."""
_NEVER_BY_ITSELF = ("SSL was required", "certificate")
"""What the client's own library says, in English always, of a server that it must not talk to, though nobody refused."""
_UNKNOWN_NAME = "failed to resolve host"
"""What the driver says of a host that the name service does not know, or not yet."""
_FULL = ("too many clients", "too many connections", "remaining connection slots")
"""What a server says that has no connection left. That has no other sign that reaches a client that was not let in; in another
language it is taken for a refusal, as whatever is not known."""
_PASSES = (_UNKNOWN_NAME, *_FULL)

_log = structlog.get_logger("jobservice.start")


class DatabaseAway(Exception):
    """Nobody can say yet whether the database is right; why, without a password."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstLook:
    """The database at `url`, and `check`, which judges it once it answers: StartRefused for what is wrong with it, Refusal
    where it went away meanwhile."""

    url: str
    check: Callable[[], Awaitable[None]]

    async def take(self) -> str | None:
        """Look once: None where all is well, why it is away otherwise. StartRefused where anything is wrong."""
        try:
            await answers(self.url)
            await self.check()
        except DatabaseAway as away:
            return str(away)
        except Refusal as refusal:
            return refusal.detail
        return None

    async def is_right(self) -> bool:
        """Look once, and not for long: whether all is well. StartRefused where anything is wrong."""
        try:
            async with asyncio.timeout(GLANCE_SECONDS):
                return await self.take() is None
        except TimeoutError:
            return False

    async def until_taken(self, stop: asyncio.Event) -> bool:
        """Look until all is well; False where `stop` came first. StartRefused where anything is wrong."""
        looking = asyncio.create_task(self._look_again(stop), name="first-look")
        stopping = asyncio.create_task(stop.wait(), name="stop")
        try:
            await asyncio.wait({looking, stopping}, return_when=asyncio.FIRST_COMPLETED)
            return looking.done() and looking.result()
        finally:
            looking.cancel()
            stopping.cancel()
            await asyncio.gather(looking, stopping, return_exceptions=True)

    async def _look_again(self, stop: asyncio.Event) -> bool:
        clock = asyncio.get_running_loop().time
        began_at, said_at, said, pause = clock(), 0.0, None, FIRST_PAUSE
        while (why := await self.take()) is not None:
            wait, pause = with_jitter(pause), longer(pause)
            if why != said or clock() - said_at >= SAY_SECONDS:
                said, said_at = why, clock()
                _log.warning(
                    "database-away",
                    seconds=round(clock() - began_at, 2),
                    reason=why,
                    again_in_seconds=round(wait, 2),
                )
            await sleep_unless(stop, wait)
            if stop.is_set():
                return False
        if said is not None:
            _log.info("database-there-again", seconds=round(clock() - began_at, 2), reason=said)
        return True


async def answers(url: str) -> None:
    """Return where the database takes this login and is new enough. DatabaseAway; StartRefused with the server's own reason."""
    refused: psycopg.Error | None = None
    for _ in range(2):  # it may have come, or gone, between the try and the question: twice the same is an answer
        try:
            await connect_once(url)
        except psycopg.OperationalError as error:
            refused = error
        except psycopg.Error as error:
            raise _wrong(error) from error
        else:
            return
        if _away(url, refused):
            raise DatabaseAway(reason(refused)) from refused
    assert refused is not None  # noqa: S101  # both tries failed
    raise _wrong(refused) from refused


def _away(url: str, error: psycopg.OperationalError) -> bool:
    """Whether the try failed because the server is away or full, and not because it refused whoever asked."""
    said = str(error)
    if isinstance(error, psycopg.errors.ConnectionTimeout) or any(words in said for words in _PASSES):
        return True
    if any(words in said for words in _NEVER_BY_ITSELF):
        return False
    asked = make_conninfo(url, connect_timeout=PING_SECONDS).encode()
    return PGconn.ping(asked) in (Ping.NO_RESPONSE, Ping.REJECT)


def _wrong(error: psycopg.Error) -> StartRefused:
    return StartRefused(f"The database cannot be reached: {reason(error)}")
