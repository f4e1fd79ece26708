"""Owns what the twins that confirm share, of a plan or a recovery: what the service would refuse for certain is said first, the
code is asked for only where one can be given, and where no answer came what a look at it says.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

from pydantic import SecretStr

from jobconsole.cli_codes import typed_code
from jobconsole.cli_connection import AWAY, REFUSED, SignedIn, fail
from jobconsole.client import money
from jobconsole.client.confirming import Intent
from jobconsole.client.errors import OutcomeUnknown
from jobconsole.present.plain_plans import standing_text
from jobcontract.session import Person

F = TypeVar("F")


class Frozen(Protocol):
    """What is confirmed."""

    @property
    def name(self) -> str:
        """What people call it."""

    @property
    def owner(self) -> Person:
        """Who made it, and alone may confirm it."""


def refuse_unfit(at: SignedIn, of: Frozen, noun: str, state: str, *, opened: bool) -> None:
    """Ends the process where the service would refuse for certain, before fifty thousand rows are read for it."""
    if of.owner.id != at.session.person.id:
        fail(f"{of.name} is a {noun} of {of.owner.name}: only its owner confirms it.", REFUSED)
    if not opened:
        fail(f"{of.name} is {state}: only an open {noun} is confirmed.", REFUSED)


async def code_for(at: SignedIn, prompt: str, code_from: str | None, *, again: bool) -> SecretStr:
    """The code that the person gives; ends the process where they can give none. `again`: a try is repeated under its key."""
    refused = standing_text(await money.code_standing(at.service), at.settings.zone)
    if refused is not None and not again:
        fail(refused, REFUSED)
    return typed_code(code_from, prompt)


async def confirmed(at: SignedIn, intent: Intent[F], code: SecretStr | None) -> F:
    """What was confirmed; where no answer came, what a look at it says."""
    try:
        return await intent.confirm(at.service, code)
    except OutcomeUnknown as error:
        looked_up = await intent.looked_up(at.service)
        if looked_up is None:
            again = f"To repeat it: the same command with --key {error.key}"
            fail(f"outcome unknown: {error.sentence}", AWAY, error, again)
        return looked_up
