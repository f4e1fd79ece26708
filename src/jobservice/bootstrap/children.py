"""Owns one child process: started, watched, started again with growing pauses when it dies, ended in good order.

A child ends by itself when this process goes, however it goes: its standard input closes.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import structlog

from jobservice.settings import StartRefused

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 15.0
LIVED_SECONDS = 60.0
"""A child that lived this long before it died is started again after the first pause."""
ENDING_SECONDS = 10.0
"""How long a child may take to end after SIGTERM."""

_log = structlog.get_logger("jobservice.dev")


@dataclass(slots=True, kw_only=True)
class Child:
    """A process of ours: `python -m <module> <arguments>`. `environment` holds its own role's address alone."""

    name: str
    arguments: Sequence[str]
    environment: Mapping[str, str]
    module: str = "jobservice"
    descriptors: Sequence[int] = ()
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when it first said that it is ready."""

    async def keep(self, stop: asyncio.Event) -> None:
        """Run it until `stop`, again after each death; StartRefused where it dies before it was ever ready."""
        pause = FIRST_PAUSE
        clock = asyncio.get_running_loop().time
        while not stop.is_set():
            began = clock()
            process = await self._start()
            watching = asyncio.create_task(self._watch(process), name=self.name)
            stopping = asyncio.create_task(stop.wait())
            try:
                await asyncio.wait((watching, stopping), return_when=asyncio.FIRST_COMPLETED)
            finally:
                await self._end(process)
                stopping.cancel()
                await watching
            if stop.is_set():
                return
            if not self.ready.is_set():
                raise StartRefused(f"The {self.name} process ended with {process.returncode}; its lines above say why.")
            pause = FIRST_PAUSE if clock() - began > LIVED_SECONDS else pause
            wait, pause = with_jitter(pause), longer(pause)
            _log.warning("child-ended", child=self.name, code=process.returncode, again_in_seconds=round(wait, 2))
            await sleep_unless(stop, wait)

    async def _start(self) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", self.module, *self.arguments, "--until-stdin-closes"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            env=dict(self.environment),
            pass_fds=tuple(self.descriptors),
            start_new_session=True,  # ctrl+c reaches this process, which ends them in their order
        )

    async def _watch(self, process: asyncio.subprocess.Process) -> None:
        """Read what it says until it ends."""
        assert process.stdout is not None  # noqa: S101  # asked for above
        async for line in process.stdout:
            if _says_ready(line):
                self.ready.set()
                _log.info("child-ready", child=self.name, process=process.pid)
        await process.wait()

    async def _end(self, process: asyncio.subprocess.Process) -> None:
        if process.stdin is not None:
            process.stdin.close()
        if process.returncode is not None:
            return
        try:
            process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(ENDING_SECONDS):
                await process.wait()
        except ProcessLookupError:
            return
        except TimeoutError:
            _log.warning("child-killed", child=self.name, after_seconds=ENDING_SECONDS)
            process.kill()


def child_environment(**own: str) -> Mapping[str, str]:
    """This process's environment without any address, key or token of another process, and with `own`."""
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("JOBSERVICE_", "JOBCONSOLE_", "PG"))
    }
    return {**kept, **own}


def _says_ready(line: bytes) -> bool:
    try:
        said = json.loads(line)
    except ValueError:
        return False
    return isinstance(said, dict) and said.get("event") == "ready"


def with_jitter(pause: float) -> float:
    """That pause, seconds, a fifth longer or shorter."""
    return pause * random.uniform(0.8, 1.2)  # noqa: S311  # jitter, not a secret


def longer(pause: float) -> float:
    """The pause after that one, seconds."""
    return min(pause * 2, LONGEST_PAUSE)


async def sleep_unless(stop: asyncio.Event, seconds: float) -> None:
    """Wait that long, or until `stop`."""
    try:
        async with asyncio.timeout(seconds):
            await stop.wait()
    except TimeoutError:
        return
