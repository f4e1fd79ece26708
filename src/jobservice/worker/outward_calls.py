"""Owns the call to the outside world for one item, and the question what became of one (MONEY.md 3, 4).

One call, ever: whatever its answer, or none, nothing here calls again. Sees no transaction, logs no account.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import structlog

from jobcontract.states import OutcomeKind
from jobservice.application import Outcome, Outward, OutwardOrder
from jobservice.rules.turns import asked

_log = structlog.get_logger("jobservice.worker")


@dataclass(frozen=True, slots=True, kw_only=True)
class OutwardCalls:
    """The outside half of a use case, with the Worker's patience. All values but `outward` are seconds."""

    outward: Outward
    send_seconds: float = 30.0
    """How long the call may take before it counts as unanswered."""
    ask_seconds: float = 5.0
    pauses: tuple[float, ...] = (0.2, 1.0)
    """Between the questions what became of a call: one question more than pauses."""

    async def send(self, order: OutwardOrder) -> Outcome:
        """Make the call; where nobody knows what it did, ask by its key."""
        why = "the call was not answered in time."
        try:
            async with asyncio.timeout(self.send_seconds):
                outcome = await self.outward.send(order)
            if not isinstance(outcome, Outcome):
                raise TypeError(f"a call returns an Outcome, not {type(outcome).__name__}")
        except TimeoutError:
            _log.warning("outward-call-timed-out", item=order.item.id, seconds=self.send_seconds)
        except Exception:  # whatever the application's half raises: nobody knows what the call did
            _log.exception("outward-call-broke", item=order.item.id)
            why = "the call broke off."
        else:
            if outcome.kind is not OutcomeKind.UNCERTAIN:
                return outcome
            why = outcome.sentence
        return await self.ask(order.key, why)

    async def ask(self, key: str, why: str) -> Outcome:
        """What became of a call, by its key: done or refused where the outside world says so, else uncertain.

        An answer that says nothing of it, or none, leaves it uncertain: `why` goes into the sentence.
        """
        answer: Outcome | None = None
        for pause in (*self.pauses, None):
            answer, answered = await self._look_up(key)
            if answered and answer is not None:
                break
            if pause is not None:
                await asyncio.sleep(pause)
        told = asked(answer, why)
        if told.kind is OutcomeKind.UNCERTAIN:
            return Outcome(kind=told.kind, sentence=told.sentence, reference=key)
        return told

    async def _look_up(self, key: str) -> tuple[Outcome | None, bool]:
        """The answer, and whether there was one."""
        try:
            async with asyncio.timeout(self.ask_seconds):
                answer = await self.outward.look_up(key)
        except TimeoutError:
            return None, False
        except Exception as error:  # no answer: asked again, then uncertain; a trace for each would drown the rest
            _log.warning("outward-question-broke", reason=type(error).__name__)
            return None, False
        return (answer if isinstance(answer, Outcome) else None), True
