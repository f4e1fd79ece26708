"""Owns what is asked where a plan is confirmed: what is released to whom, and a button named by the amounts."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from jobconsole.present.plan_confirm import confirm_label, confirm_lines, confirm_title, plan_change_lines
from jobconsole.screens.edition_confirm import Edition, EditionConfirm
from jobcontract.plans import Plan

if TYPE_CHECKING:
    from jobconsole.client.plans import Confirming
    from jobconsole.client.service import Service
    from jobconsole.present.plans import PlanSeen


class ConfirmDialog(EditionConfirm[Plan]):
    """Asks for the code and confirms the plan, once."""

    def __init__(self, confirming: Confirming, service: Service, seen: Callable[[], PlanSeen]) -> None:
        """`confirming` is the intent, with its one key."""
        plan = confirming.plan
        edition = Edition(
            title=confirm_title(plan),
            label=lambda width: confirm_label(plan, width),
            about=lambda at: confirm_lines(plan, at.now),
            changes=plan_change_lines,
            noun="plan",
            undone="nothing was released",
            coded=plan.confirm_by is not None,
            expires_at=plan.expires_at,
            confirm=lambda code: confirming.confirm(service, code),
            looked_up=lambda: confirming.looked_up(service),
        )
        super().__init__(edition, service, seen)
