"""Owns what the connection tells the console. Workers post these; only the App acts on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from jobconsole.present.link import Link

if TYPE_CHECKING:
    from jobcontract.events import Hint


@dataclass
class LinkChanged(Message):
    """The link to the service changed."""

    link: Link
    sentence: str = ""
    """Why, where the person should know."""


@dataclass
class HintsArrived(Message):
    """These things changed in the service: the newest hint of each."""

    hints: tuple[Hint, ...]


@dataclass
class ReloadAsked(Message):
    """Something may have been missed: everything on screen is to be asked for again."""


@dataclass
class TokenEnded(Message):
    """The token is no longer good; nothing is asked with it any more."""

    sentence: str
