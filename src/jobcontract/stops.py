"""Owns the wire models of stops: what is held still, by whom, and why everyone sees it. The switch of money has its own."""

from __future__ import annotations

from pydantic import AwareDatetime

from jobcontract.operating import StopScope
from jobcontract.plans import Code
from jobcontract.session import Person
from jobcontract.wire import Answer, Key, Reason, Wire


class Stop(Answer):
    """A stop that is in force. `name`: the id of the queue, command or kind of job; the tenant's for all of its work."""

    scope: StopScope
    name: str
    title: str
    at: AwareDatetime
    by: Person
    reason: str
    lifted_by_code: bool
    """Whether lifting it takes the code of another person: it holds money."""
    version: int


class Stops(Answer):
    """Every stop in force in the tenant, the latest first; money that is stopped stands in `money`."""

    stops: tuple[Stop, ...]
    now: AwareDatetime


class StopOrder(Wire):
    """Hold something still, and why."""

    scope: StopScope
    name: Key
    reason: Reason


class LiftOrder(Wire):
    """Let it go on."""

    scope: StopScope
    name: Key
    reason: Reason
    code: Code | None = None


class StopsChanged(Answer):
    """The stops after an order."""

    stops: tuple[Stop, ...]
    now: AwareDatetime
