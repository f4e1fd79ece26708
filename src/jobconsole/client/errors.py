"""Owns every way in which a call to the service can end other than well. Never carries a token.

    ClientError
      ServiceRefused      the service understood and said no; nothing was changed
      SignInAgain         the token is missing, expired, revoked, or its person is no longer active
      ServiceAway         no usable answer; nothing was done by this call
      OutcomeUnknown      an act was sent, no answer came: it may have been done (HTTP-03)
      ConnectionUnfit     address or token cannot be used at all (MONEY.md 25)
      PlanUnknown         no plan has the name that a person gave; nothing was sent about it
      PlanUnfit           what the service says of a plan does not fit together: it must not be confirmed (MONEY.md 9)

Every one has a `sentence` for a person, and `reference` where the service gave one for its log line.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import JsonValue, ValidationError

from jobcontract.errors import BY_CODE, ErrorCode
from jobcontract.items import Change
from jobcontract.plans import PlanChange
from jobcontract.wire import Problem


class ClientError(Exception):
    """A call that did not end well; `str()` of it is the sentence."""

    def __init__(self, sentence: str, *, reference: str | None = None) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.reference = reference


class ServiceRefused(ClientError):
    """The service said no; nothing was changed. `problem` is its answer (RFC 9457)."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail, reference=problem.reference)
        self.problem = problem

    @property
    def code(self) -> str:
        """The failure's code, e.g. `claim-held`; may be one that this client does not know."""
        return self.problem.code

    @property
    def kind(self) -> ErrorCode | None:
        """The failure as the contract knows it; None for a code of a newer service."""
        return BY_CODE.get(self.problem.code)

    @property
    def extra(self) -> Mapping[str, JsonValue]:
        """Further members of the problem, e.g. `holder`, `changes`."""
        return dict(self.problem.model_extra or {})

    @property
    def changes(self) -> tuple[Change, ...]:
        """Of `version-changed`: the fields that changed since the item was on the screen, before and after."""
        listed = self.extra.get("changes")
        if not isinstance(listed, list):
            return ()
        try:
            return tuple(Change.model_validate(row) for row in listed)
        except ValidationError:
            return ()

    @property
    def plan_changes(self) -> tuple[PlanChange, ...]:
        """Of `plan-changed`: which rows of the plan are no longer what it shows, before and after."""
        listed = self.extra.get("changes")
        if not isinstance(listed, list):
            return ()
        try:
            return tuple(PlanChange.model_validate(row) for row in listed)
        except ValidationError:
            return ()


class SignInAgain(ClientError):
    """The token is no longer good: ask the person for another, do not try again with this one."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.detail, reference=problem.reference)
        self.problem = problem


class ServiceAway(ClientError):
    """No usable answer came and nothing was done; `retry_after` seconds where the service named them."""

    def __init__(self, sentence: str, *, retry_after: float | None = None, reference: str | None = None) -> None:
        super().__init__(sentence, reference=reference)
        self.retry_after = retry_after


class OutcomeUnknown(ClientError):
    """An act was sent and no answer came back within the deadline: look the item up, or repeat with the same `key`."""

    def __init__(self, sentence: str, *, key: str, reference: str | None = None) -> None:
        super().__init__(sentence, reference=reference)
        self.key = key


class ConnectionUnfit(ClientError):
    """The address or the token cannot be used; nothing was sent."""


class PlanUnknown(ClientError):
    """No plan that is listed has the name."""


class PlanUnfit(ClientError):
    """The rows of a plan, its head and this client's own tables contradict each other."""
