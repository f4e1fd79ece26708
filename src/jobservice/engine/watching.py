"""Owns seeing that a job which runs here is to end: a person asked to cancel it, or it is another Worker's. Looks when it is
told, and every second behind that, while anything runs. Decides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass

from jobservice.engine.interpreter import Interpreter
from jobservice.engine.running import RunningJob, Why
from jobservice.engine.writing import Writing
from jobservice.store import engine as store
from jobservice.store.engine import HeldJob


@dataclass(frozen=True, slots=True, kw_only=True)
class Watching:
    """Watches the jobs of one process."""

    writing: Writing
    interpreter: Interpreter

    async def look(self) -> int:
        """End what is to end; how many. Refusal where the database is away."""
        held = [each for each in map(_held, self.interpreter.jobs.values()) if each is not None]
        if not held:
            return 0
        async with self.writing.alone(None) as transaction:
            ending = await store.look(transaction, self.interpreter.holder, held)
        fences = {each.handle: each.fence for each in held}
        for handle, lost in ending.items():
            running = self.interpreter.jobs.get(handle)
            # It may have gone on under another fence meanwhile, or have ended.
            if running is not None and running.held is not None and running.held.fence == fences[handle]:
                running.end(Why.LOST if lost else Why.CANCELLED)
        return len(ending)

    def let_go(self) -> None:
        """A stop was set or lifted: what is held looks again."""
        for running in self.interpreter.jobs.values():
            running.woken.set()


def _held(running: RunningJob) -> HeldJob | None:
    if running.held is None:
        return None
    return HeldJob(handle=running.handle, family=running.family, job=running.job, fence=running.held.fence)
