"""Owns what is asked where a recovery is confirmed: what it does to how many, and a button named by the act."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from jobconsole.present.recoveries import act_words
from jobconsole.present.recovery_confirm import confirm_lines, recovery_change_lines
from jobconsole.screens.edition_confirm import Edition, EditionConfirm
from jobcontract.recoveries import Recovery

if TYPE_CHECKING:
    from jobconsole.client.recovery_confirming import ConfirmingRecovery
    from jobconsole.client.service import Service
    from jobconsole.present.plans import PlanSeen

WIDTH = 62
"""Cells of a line in the dialog."""


class RecoveryConfirm(EditionConfirm[Recovery]):
    """Says what is done, asks for the code where it moves money, and confirms once."""

    def __init__(
        self, confirming: ConfirmingRecovery, undone: str, service: Service, seen: Callable[[], PlanSeen]
    ) -> None:
        """`confirming` is the intent, with its one key; `undone`: how many items run again, in words."""
        recovery = confirming.recovery
        edition = Edition(
            title=f"{act_words(recovery)}?",
            label=lambda width: act_words(recovery, width),
            about=lambda at: confirm_lines(recovery, undone, at, WIDTH),
            changes=recovery_change_lines,
            noun="recovery",
            undone="nothing was done",
            coded=recovery.confirm_by is not None,
            expires_at=recovery.expires_at,
            confirm=lambda code: confirming.confirm(service, code),
            looked_up=lambda: confirming.looked_up(service),
        )
        super().__init__(edition, service, seen)
