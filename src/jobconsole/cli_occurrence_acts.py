"""Owns the headless twins that act on one occurrence or one Worker: replay, discard, drain, undrain. Each runs the function
of `client/` that the dialog runs; each takes a reason and a key."""

from __future__ import annotations

import click

from jobconsole.cli_bulk_steering import KEY, REASON, key_or_new
from jobconsole.cli_connection import REFUSED, Shown, SignedIn, fail, sure, twin, within
from jobconsole.cli_occurrences import OCCURRENCE
from jobconsole.client import acts as client
from jobconsole.client import workers as workers_client
from jobconsole.present import plain_acts as plain
from jobcontract.acts import WorkerChanged
from jobcontract.ids import KEY_MAX

VERSION = click.option(
    "--version", type=click.IntRange(min=1), help="Its version that you saw: another one is refused; else as it stands."
)
WORKER = click.argument("worker", callback=within(KEY_MAX))


@OCCURRENCE
@REASON
@VERSION
@KEY
@twin
async def replay(at: SignedIn, occurrence: str, reason: str, version: int | None, key: str | None) -> Shown:
    """Replay an OCCURRENCE that ended: every item of it that is not done runs again."""
    once = key_or_new(key)
    answer = await sure(client.replay_occurrence(at.service, occurrence, reason, once, version), once)
    return Shown(answer=answer, lines=plain.replayed_lines(answer.occurrence, at.settings.zone), acted=True)


@OCCURRENCE
@REASON
@VERSION
@KEY
@twin
async def discard(at: SignedIn, occurrence: str, reason: str, version: int | None, key: str | None) -> Shown:
    """Discard a dead letter: it stays to be read, and counts and alarms no more."""
    once = key_or_new(key)
    answer = await sure(client.discard_occurrence(at.service, occurrence, reason, once, version), once)
    return Shown(answer=answer, lines=plain.discarded_lines(answer.occurrence, at.settings.zone), acted=True)


@WORKER
@REASON
@KEY
@twin
async def drain(at: SignedIn, worker: str, reason: str, key: str | None) -> Shown:
    """Drain a WORKER (its incarnation, or how it begins): it takes nothing new and ends what it has."""
    once = key_or_new(key)
    named = await _incarnation(at, worker)
    return _shown(at, await sure(client.drain_worker(at.service, named, reason, once), once))


@WORKER
@REASON
@KEY
@twin
async def undrain(at: SignedIn, worker: str, reason: str, key: str | None) -> Shown:
    """Let a WORKER (its incarnation, or how it begins) that was asked to drain take work again."""
    once = key_or_new(key)
    named = await _incarnation(at, worker)
    return _shown(at, await sure(client.undrain_worker(at.service, named, reason, once), once))


async def _incarnation(at: SignedIn, text: str) -> str:
    """The Worker whose incarnation begins so, as lists show it; ends the process where that are several."""
    if len(text) >= len("00000000-0000-4000-8000-000000000000"):
        return text
    listed = (await workers_client.workers(at.service)).workers
    found = [each for each in listed if each.incarnation.startswith(text.casefold())]
    if len(found) == 1:
        return found[0].incarnation
    names = ", ".join(f"{each.incarnation} on {each.host}" for each in found or listed) or "none"
    word = f"{len(found)} Workers begin with" if found else "There is no Worker"
    fail(f"{word} {text}. Workers: {names}.", REFUSED)


def _shown(at: SignedIn, answer: WorkerChanged) -> Shown:
    return Shown(answer=answer, lines=plain.worker_lines(answer.worker, at.settings.zone), acted=True)


OCCURRENCE_ACTS = (("replay", replay), ("discard", discard))
"""For the group `occurrences`."""
WORKER_ACTS = (("drain", drain), ("undrain", undrain))
"""For the group `workers`."""
