"""Owns what a use case that moves money may do inside its turn: look, refuse, or say done. It has no effect of its own
on the item: its outcome alone decides, and the turn writes that (MONEY.md 1).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NoReturn

from jobcontract.states import ItemState


@dataclass(frozen=True, slots=True, kw_only=True)
class MoneyCall:
    """`jobservice.application.Call` of one turn. Each effect raises, which makes the outcome *failed*."""

    tenant: str
    person: str
    """The owner of the plan, who confirmed it."""
    now: datetime

    async def set_aside(self, until: datetime) -> None:
        """RuntimeError: see the class."""
        _refuse(f"set_aside({until})")

    async def reopen(self, state: ItemState) -> None:
        """RuntimeError: see the class."""
        _refuse(f"reopen({state})")

    async def close(self, state: ItemState) -> None:
        """RuntimeError: see the class."""
        _refuse(f"close({state})")

    async def hand_over(self, colleague: str) -> None:
        """RuntimeError: see the class."""
        _refuse(f"hand_over({colleague})")


def _refuse(effect: str) -> NoReturn:
    raise RuntimeError(f"a use case that moves money has no effect like {effect}: it refuses, or says done")
