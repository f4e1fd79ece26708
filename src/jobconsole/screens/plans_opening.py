"""Owns opening one plan: the preview of an open one, the progress of any other; and going to one's own live ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jobconsole.screens.plan import PlanScreen
from jobconsole.screens.plan_progress import PlanProgress
from jobcontract.states import PlanState

if TYPE_CHECKING:
    from jobconsole.screens.place import PlaceScreen
    from jobcontract.plans import Plan


def open_plan(screen: PlaceScreen, plan: Plan) -> None:
    """Shows the plan; in the place of another one, where one is shown."""
    opened = PlanScreen(plan) if plan.state is PlanState.OPEN else PlanProgress(plan.id, plan)
    if isinstance(screen, PlanProgress | PlanScreen):
        screen.app.switch_screen(opened)
    else:
        screen.app.push_screen(opened)


def open_own(screen: PlaceScreen, plans: Sequence[Plan]) -> None:
    """Shows the first of a person's live plans; where that is shown already the one after it."""
    if not plans:
        screen.say("No plan of yours is open or running.", error=True)
        return
    ids = [plan.id for plan in plans]
    here = _shown(screen)
    at = (ids.index(here) + 1) % len(ids) if here in ids else 0
    if plans[at].id == here:
        screen.say(f"This is plan {plans[at].name}, the only one of yours that is open or running.")
    else:
        open_plan(screen, plans[at])


def _shown(screen: PlaceScreen) -> str | None:
    if isinstance(screen, PlanProgress):
        return screen.plan_id
    return screen.plan.id if isinstance(screen, PlanScreen) else None
