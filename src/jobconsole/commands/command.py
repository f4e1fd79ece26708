"""Owns what a command is. Data only: how it is carried out belongs to the screen or the twin that runs it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from jobconsole.commands.situation import Situation
from jobcontract.permissions import Permission

NONE_SELECTED = " is selected"
"""How the reason of a judge ends where the list has nothing that the command could be of: `no job is selected`."""


class Danger(StrEnum):
    """How far a command reaches; the value is the word shown in help."""

    LOOKS = "looks"
    """Changes nothing in the service."""
    CLAIMS = "claims"
    """Takes or gives back a claim of one's own: a key is enough, and another key undoes it."""
    ACTS = "acts"
    """Changes an item or what a colleague holds: opens an acting dialog, never one key alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One thing that a person can do. Bindings, bottom line, help, palette, keymap and `jobconsole keys` are views of it."""

    id: str
    """`noun.verb`, for ever the same: keymaps name it."""
    title: str
    """What it does, in the words of the field: `Release claim`, never only `Release`."""
    help: str
    """One sentence for the help screen."""
    keys: tuple[str, ...]
    """Keys as a person types them (`c`, `?`, `ctrl+p`); a keymap replaces all of them."""
    places: tuple[str, ...] = ()
    """Ids of the places where it applies; none means everywhere."""
    danger: Danger = Danger.LOOKS
    permission: Permission | None = None
    twin: str | None = None
    """The headless command that does the same, e.g. `queues claim ITEM`; None where there is nothing to do without a screen."""
    hint: str = ""
    """A word or two for the bottom line; empty keeps it out of there."""
    rank: int = 50
    """Order in bottom line, palette and help: the smallest first. The bottom line has room for about six."""
    yields: tuple[str, ...] = ()
    """Places whose own commands may have its keys; there it is run from the palette or by its id."""
    concerns: Callable[[Situation], bool] | None = None
    """Whether it has to do with what is shown at all; where it does not, the bottom line leaves it out."""
    judge: Callable[[Situation], str | None] | None = None
    """The command's own condition: the reason why it cannot be run now, or None. Asked last."""

    @property
    def changes(self) -> bool:
        """Whether it changes anything in the service."""
        return self.danger is not Danger.LOOKS
