"""Owns the headless twins of what follows the confirmation of a recovery: watching, pausing, resuming, aborting.

`watch` ends with 0 where every row was done, else 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from jobconsole.cli_bulk_steering import KEY, REASON, key_or_new, wait
from jobconsole.cli_codes import code_options, typed_code
from jobconsole.cli_connection import DONE, REFUSED, Shown, SignedIn, sure, twin, within
from jobconsole.client import recoveries as client
from jobconsole.client.errors import ServiceAway
from jobconsole.present import plain_recoveries as plain
from jobconsole.present.text import line
from jobcontract.ids import KEY_MAX
from jobcontract.operating import RecoveryState
from jobcontract.recoveries import Recovery
from jobcontract.states import Moves, Turn

RECOVERY = click.argument("recovery_name", metavar="RECOVERY", callback=within(KEY_MAX))


async def found(at: SignedIn, name: str) -> Recovery:
    """The recovery of that id or name."""
    return await client.find(at.service, name)


def shown_recovery(at: SignedIn, answer: Recovery, *, acted: bool = True) -> Shown:
    """A recovery as it is printed; of an open one how it is confirmed."""
    lines = plain.recovery_lines(answer, at.settings.zone)
    confirm = ["", plain.confirm_words(answer)] if answer.state is RecoveryState.OPEN else []
    return Shown(answer=answer, lines=[*lines, *confirm], acted=acted)


@RECOVERY
@twin
async def watch(at: SignedIn, recovery_name: str) -> Shown:
    """Say how far a RECOVERY is, on standard error, until it ends; then its account."""
    of, said = await found(at, recovery_name), ""
    while True:
        now = plain.progress_line(of)
        if now != said:
            click.echo(now, err=True)
            said = now
        if of.state.ended:
            break
        await wait()
        try:
            of = (await client.recovery(at.service, of.id)).recovery
        except ServiceAway as away:
            click.echo(f"still watching: {line(away.sentence)}", err=True)
    done = sum(each.count for each in of.account if each.turn is Turn.DONE)
    code = DONE if of.account and done == of.count else REFUSED
    return Shown(answer=of, lines=plain.recovery_lines(of, at.settings.zone), code=code)


@RECOVERY
@REASON
@KEY
@twin
async def pause(at: SignedIn, recovery_name: str, reason: str, key: str | None) -> Shown:
    """Let no further row of RECOVERY begin."""
    of, once = await found(at, recovery_name), key_or_new(key)
    return shown_recovery(at, await sure(client.pause(at.service, of.id, reason, once), once))


@RECOVERY
@REASON
@KEY
@code_options
@twin
async def resume(at: SignedIn, recovery_name: str, reason: str, key: str | None, code_from: str | None) -> Shown:
    """Go on with a paused RECOVERY; one that moves money takes a code of yours."""
    of, once = await found(at, recovery_name), key_or_new(key)
    code = typed_code(code_from, f"Go on with {of.name}: {of.words}") if of.moves is Moves.MONEY else None
    return shown_recovery(at, await sure(client.resume(at.service, of.id, reason, code, once), once))


@RECOVERY
@REASON
@KEY
@twin
async def abort(at: SignedIn, recovery_name: str, reason: str, key: str | None) -> Shown:
    """End RECOVERY: what has begun goes on to its end, nothing else is begun."""
    of, once = await found(at, recovery_name), key_or_new(key)
    return shown_recovery(at, await sure(client.abort(at.service, of.id, reason, once), once))


STEERING: tuple[tuple[str, Callable[..., Any]], ...] = (
    ("watch", watch),
    ("pause", pause),
    ("resume", resume),
    ("abort", abort),
)
"""Name and callback of each, for the `recoveries` group."""
