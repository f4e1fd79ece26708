"""Owns the one call of a step that acts outside, and the question what became of it (MONEY.md 3, 4). Nothing here calls a
second time for the same *sent*; sees no transaction, logs no account.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import structlog

from jobcontract.states import OutcomeKind
from jobservice.application import Outcome, done, retry, uncertain
from jobservice.application_jobs import OutwardStep, StepOrder
from jobservice.engine.outcomes import Broken, checked, ours
from jobservice.usecases.job_reports import Begun

_log = structlog.get_logger("jobservice.engine")

ASK_SECONDS = 10.0
"""How long the outside world has to say what it knows."""
PAUSES = (0.2, 1.0)
"""Seconds between the questions what became of a call: one question more than pauses."""
NO_ANSWER_SECONDS = 5.0
"""Until it is asked again, where nothing was sent yet."""
NOT_KNOWN = done("The outside world does not know of it: it may be sent.")
"""What `Call.known` gives where the call may be made; told apart by what it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One outward step's call. `bound`: seconds that it may take before it counts as unanswered."""

    step: OutwardStep
    begun: Begun
    order: StepOrder
    bound: float

    async def send(self) -> Outcome:
        """Make the call; where nobody knows what it did, ask by its key."""
        why = "the call was not answered in time."
        try:
            async with asyncio.timeout(self.bound):
                outcome = checked(await self.step.send(self.order), self.begun, self.order.job)
        except TimeoutError:
            _log.warning("outward-step-timed-out", job=self.order.job, step=self.begun.step.step, seconds=self.bound)
        except Broken:
            why = "the call broke off."
        except BaseException:  # whatever the application's half raises: nobody knows what the call did
            if ours():
                raise
            _log.exception("outward-step-broke", job=self.order.job, step=self.begun.step.step)
            why = "the call broke off."
        else:
            if outcome.kind is not OutcomeKind.UNCERTAIN:
                return outcome
            why = outcome.sentence
        return await self.ask(why)

    async def ask(self, why: str) -> Outcome:
        """What became of a call that was sent: done or refused where the outside world says so, else uncertain."""
        answer: Outcome | None = None
        for pause in (*PAUSES, None):
            answer, answered = await self._look_up()
            if answered and answer is not None:
                break
            if pause is not None:
                await asyncio.sleep(pause)
        if answer is not None and answer.kind in (OutcomeKind.DONE, OutcomeKind.REFUSED):
            return answer
        return unknown(self.begun, why)

    async def known(self) -> Outcome:
        """What the outside world knows of the key before this attempt sent anything: an earlier one, or an earlier job of
        the lineage, may have. `NOT_KNOWN`: it never heard of it, or refused it then, so the call may be made: that is what a
        retry is for."""
        answer, answered = await self._look_up()
        if not answered:
            return retry(
                "The outside world did not say what it knows; nothing was sent.", after_seconds=NO_ANSWER_SECONDS
            )
        return NOT_KNOWN if answer is None or answer.kind is OutcomeKind.REFUSED else answer

    async def _look_up(self) -> tuple[Outcome | None, bool]:
        """The answer, and whether there was one."""
        try:
            async with asyncio.timeout(ASK_SECONDS):
                answer = await self.step.look_up(self.order.key)
            return (None if answer is None else checked(answer, self.begun, self.order.job)), True
        except Broken:
            return None, False
        except TimeoutError:
            return None, False
        except BaseException as error:  # no answer: asked again, then uncertain; a trace for each would drown the rest
            if ours():
                raise
            _log.warning("outward-question-broke", job=self.order.job, reason=type(error).__name__)
            return None, False


def unknown(begun: Begun, why: str) -> Outcome:
    """Of a step that was sent, and of which nobody knows: a person looks."""
    sentence = f"Nobody knows whether it happened outside: {why} A person has to look, by the key {begun.outward_key}."
    return uncertain(sentence, reference=begun.outward_key)


def cannot_ask(begun: Begun) -> Outcome:
    """The same, where no step is registered any more that could ask."""
    return unknown(begun, f"it was sent, and this release does not know how to ask about {begun.step.use_case}.")
