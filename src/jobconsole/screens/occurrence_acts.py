"""Owns replaying and discarding one occurrence from a screen: what that does to it as it stands, the reason, its version as
it was seen. Many at once are a recovery."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jobconsole.client import acts as client
from jobconsole.present.acts import discard_lines, replay_lines, replayed_words
from jobconsole.screens.acts import WHY, acted, command_of
from jobconsole.screens.order_form import Order

if TYPE_CHECKING:
    from jobconsole.screens.plan_seen import SeenScreen
    from jobcontract.occurrences import Occurrence


async def replay(screen: SeenScreen, occurrence: Occurrence) -> Occurrence | None:
    """Asks for a reason and has it run again; the occurrence as it is then, None where it was given up."""
    service, about = screen.shell.service, replay_lines(occurrence, screen.at())
    order = Order(
        title="Replay this occurrence?",
        act="Replay the occurrence",
        back="Leave it as it is",
        about=lambda: about,
        reason=WHY,
        command=command_of(screen, ("occurrences", "replay", occurrence.name)),
        send=lambda given, key: client.replay_occurrence(
            service, occurrence.id, given.reason, key, version=occurrence.version
        ),
    )
    answer = await acted(screen, order, lambda answer: replayed_words(answer.occurrence))
    return answer.occurrence if answer is not None else None


async def discard(screen: SeenScreen, occurrence: Occurrence) -> Occurrence | None:
    """Asks for a reason and puts the dead letter away; the occurrence as it is then, None where it was given up."""
    service, about = screen.shell.service, discard_lines(occurrence, screen.at())
    order = Order(
        title="Discard this dead letter?",
        act="Discard the dead letter",
        back="Leave it as it is",
        about=lambda: about,
        reason=WHY,
        command=command_of(screen, ("occurrences", "discard", occurrence.name)),
        send=lambda given, key: client.discard_occurrence(
            service, occurrence.id, given.reason, key, version=occurrence.version
        ),
    )
    answer = await acted(
        screen, order, lambda answer: f"{answer.occurrence.name} is discarded: it counts and alarms no more."
    )
    return answer.occurrence if answer is not None else None
