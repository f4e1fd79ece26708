"""Owns asking that an occurrence be cancelled: what that does to it as it stands, the reason, a button named by the act."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jobconsole.client import occurrences as client
from jobconsole.commands.situation import SelectedOccurrence
from jobconsole.present.attempts import cancel_words
from jobconsole.present.columns import Line, Piece, Tone
from jobconsole.screens.acts import acted, command_of
from jobconsole.screens.order_form import Order
from jobcontract.states import OccurrenceState

if TYPE_CHECKING:
    from jobconsole.screens.plan_seen import SeenScreen
    from jobcontract.occurrences import Occurrence


CANCELLING = "Cancelling: a Worker ends it within a second or two."


async def cancel(screen: SeenScreen, occurrence: Occurrence) -> Occurrence | None:
    """Asks for a reason and cancels; the occurrence as it is then, None where it was given up."""
    service = screen.shell.service
    about: Sequence[Line] = (
        (Piece(occurrence.name, Tone.STRONG),),
        *((Piece(words),) for words in cancel_words(occurrence)),
    )
    order = Order(
        title="Cancel this occurrence?",
        act="Cancel the occurrence",
        back="Leave it as it is",
        about=lambda: about,
        reason="Why; everybody who sees the occurrence reads it",
        command=command_of(screen, ("occurrences", "cancel", occurrence.name)),
        send=lambda given, key: client.cancel_occurrence(service, occurrence.id, given.reason, key),
    )
    answer = await acted(screen, order, lambda answer: _cancelled_words(answer.occurrence))
    return answer.occurrence if answer is not None else None


def _cancelled_words(occurrence: Occurrence) -> str:
    return "Cancelled: it is a dead letter." if occurrence.state is OccurrenceState.DEAD_LETTER else CANCELLING


def end_cancelling(screen: SeenScreen, occurrence: Occurrence | None) -> None:
    """Takes back what was said of the cancelling of `occurrence`, once it has ended."""
    if occurrence is not None and occurrence.state.ended and screen.notices.sentence == CANCELLING:
        screen.notices.clear()


def selected_facts(occurrence: Occurrence | None, *, money: bool = False) -> SelectedOccurrence | None:
    """What of an occurrence decides which commands can be run; `money`: its schedule is known to move some."""
    if occurrence is None:
        return None
    return SelectedOccurrence(
        state=occurrence.state,
        cancelling=occurrence.cancel_asked_at is not None,
        discarded=occurrence.discarded_at is not None,
        money=money,
    )
