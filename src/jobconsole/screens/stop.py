"""Owns stopping all money of the tenant from any place, and starting it again: what it does, the reason, and for starting
the code of another person than the one who stopped it (MONEY.md 20).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jobconsole.client import money as client
from jobconsole.present.columns import Line, Piece, Tone
from jobconsole.present.money import stopped_words
from jobconsole.screens.order_form import Order, asked
from jobconsole.screens.plan_seen import key_words

if TYPE_CHECKING:
    from jobconsole.screens.place import PlaceScreen
    from jobcontract.plans import Money


async def stop_money(screen: PlaceScreen) -> None:
    """Asks for a reason, then stops all money of the tenant."""
    shell, tenant = screen.shell, screen.shell.tenant
    again = key_words(screen, "money.start")["money.start"]
    about: Sequence[Line] = (
        (Piece("No item of any plan begins any more, whoever made it. What is under way goes on to its end."),),
        (Piece(f"Everybody here sees that you did it and why. {again} starts it again: that takes another person."),),
    )
    order = Order(
        title=f"Stop all money of {tenant}?",
        act=f"Stop all money of {tenant}",
        about=lambda: about,
        reason="Why; everybody reads it",
        send=lambda given, key: client.stop_money(shell.service, given.reason, key),
    )
    answer = await asked(screen, order)
    if answer is not None and answer.stopped is not None:
        screen.say(f"{_words(screen, answer).capitalize()}.")


async def start_money(screen: PlaceScreen) -> None:
    """Asks for a reason and a code, then lets money move again."""
    shell, tenant = screen.shell, screen.shell.tenant
    money = await client.money(shell.service)
    if money.stopped is None:
        screen.say("Money is not stopped.")
        return
    about: Sequence[Line] = (
        (Piece(f"■ {_words(screen, money)}", Tone.BAD),),
        (Piece("Plans that run go on at once; paused ones stay paused."),),
    )
    order = Order(
        title=f"Start all money of {tenant} again?",
        act=f"Start all money of {tenant} again",
        about=lambda: about,
        reason="Why it may move again",
        send=lambda given, key: client.start_money(shell.service, given.reason, given.required, key),
        code=True,
    )
    answer = await asked(screen, order)
    if answer is not None and answer.stopped is None:
        screen.say(f"All money of {tenant} moves again.")


def _words(screen: PlaceScreen, money: Money) -> str:
    return stopped_words(money.stopped, screen.shell.frame.zone, money.as_of) if money.stopped is not None else ""
