"""Owns saying that somebody looks after an alarm: what it tells of, a note that everybody reads, the same command without a
screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jobconsole.client import alarms as client
from jobconsole.present.alarms import KINDS
from jobconsole.present.columns import Line, Piece, Tone
from jobconsole.screens.acts import acted, command_of
from jobconsole.screens.order_form import Order

if TYPE_CHECKING:
    from jobconsole.screens.plan_seen import SeenScreen
    from jobcontract.alarms import Alarm


async def acknowledge(screen: SeenScreen, alarm: Alarm) -> Alarm | None:
    """Asks for a note and acknowledges; the alarm as it is then, None where it was given up."""
    service = screen.shell.service
    word, tone = KINDS[alarm.kind]
    by = alarm.acknowledged_by
    again: Sequence[Line] = ((Piece(f"{by.id} looks after it already: {alarm.note or ''}", Tone.WARN),),) if by else ()
    about: Sequence[Line] = (
        (Piece(word, tone), Piece(f" · {alarm.subject} · {alarm.sentence}")),
        *again,
        (Piece("It stays open until what it tells of is over; everybody sees that you look after it.", Tone.QUIET),),
    )

    order = Order(
        title="Acknowledge this alarm?",
        act="I look after it",
        about=lambda: about,
        reason="What you do about it; everybody reads it",
        send=lambda given, key: client.acknowledge(service, alarm.id, given.reason, key),
        command=command_of(screen, ("alarms", "acknowledge", alarm.id), lambda given: {"note": given.reason}),
    )
    answer = await acted(screen, order, lambda _: "Acknowledged: everybody sees that you look after it.")
    return answer.alarm if answer is not None else None
