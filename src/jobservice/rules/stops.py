"""Owns what is said of stops: the sentence that everyone sees, and what those who may stop work are told. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from jobcontract.operating import StopScope
from jobservice.rules.notices import Words


@dataclass(frozen=True, slots=True, kw_only=True)
class InForce:
    """A stop that is in force: what it holds (a queue's or command's id, the tenant's for all of its work), since when
    (UTC), by whom, why."""

    scope: StopScope
    name: str
    at: datetime
    by: str
    by_name: str
    reason: str
    version: int


def _plain(text: str) -> str:
    """Without control characters and the last full stop: what people wrote adds no line to a sentence."""
    shown = "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)
    return shown.rstrip(".")


def what(scope: StopScope, name: str) -> str:
    """What a stop holds, to begin a sentence with."""
    match scope:
        case StopScope.QUEUE:
            return f"Queue {name}"
        case StopScope.BULK_COMMAND:
            return f"Bulk command {name}"
        case StopScope.JOB_KIND:
            return f"Job kind {name}"
        case StopScope.TENANT:
            return f"All work of {name}"


def sentence(stop: InForce) -> str:
    """Who stopped what, when and why."""
    at = f"{stop.at:%Y-%m-%d %H:%M:%S} UTC"
    return f"{what(stop.scope, stop.name)} is stopped since {at}, by {stop.by_name}: {_plain(stop.reason)}."


def heading(stop: InForce) -> str:
    """The same beside the name of what is held, where a line has little room: who and why are never cut off."""
    held = "All work stopped" if stop.scope is StopScope.TENANT else "Stopped"
    return f"{held} by {stop.by_name} since {stop.at:%Y-%m-%d %H:%M} UTC: {_plain(stop.reason)}."


_HOLDS = {
    StopScope.QUEUE: "No claim, act or new plan of it goes on; items still come in, and what was confirmed is applied.",
    StopScope.BULK_COMMAND: "No plan of it is made, confirmed or resumed, and those that apply wait.",
    StopScope.JOB_KIND: "No step of a job of it is begun; what runs goes on, and jobs can be submitted and cancelled.",
    StopScope.TENANT: "No run starts, nothing is claimed, acted on or planned; money is stopped with it.",
}


def stopped(scope: StopScope, name: str, *, by: str, reason: str, at: datetime) -> Words:
    """What those who may stop work are told when somebody did."""
    return Words(
        kind="work-stopped",
        subject=f"{what(scope, name)} was stopped by {by}",
        text=f"{what(scope, name)} was stopped by {by} at {at:%Y-%m-%d %H:%M:%S} UTC: {_plain(reason)}.\n"
        f"{_HOLDS[scope]}\n",
    )


def lifted(stop: InForce, *, by: str, reason: str, at: datetime) -> Words:
    """What they are told when it was lifted."""
    subject = what(stop.scope, stop.name)
    return Words(
        kind="work-goes-on",
        subject=f"{subject} goes on again",
        text=f"{by} lets {subject[0].lower()}{subject[1:]} go on again, at {at:%Y-%m-%d %H:%M:%S} UTC: "
        f"{_plain(reason)}.\nIt was stopped since {stop.at:%Y-%m-%d %H:%M:%S} UTC, by {stop.by_name}: "
        f"{_plain(stop.reason)}.\n",
    )
