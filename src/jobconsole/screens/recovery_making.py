"""Owns asking for a recovery from where schedules and occurrences are seen, and showing it once it is frozen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from jobconsole.places import resolve
from jobconsole.screens.acts import where_of
from jobconsole.screens.plan_seen import seen_of
from jobconsole.screens.recovery_form import Asking, RecoveryForm
from jobcontract.operating import RecoveryAct

if TYPE_CHECKING:
    from jobconsole.screens.place import PlaceScreen
    from jobconsole.screens.shell import Handler
    from jobconsole.widgets.table import Table
    from jobcontract.recoveries import Recovery

PREVIEW = "jobconsole.screens.recovery:RecoveryScreen"
"""Of one that was not confirmed."""
PROGRESS = "jobconsole.screens.recovery_progress:RecoveryProgress"
"""Of one that was."""
Named = Callable[[], tuple[str, ...]]


def nothing() -> tuple[str, ...]:
    """Nothing is named."""
    return ()


def making_handlers(
    screen: PlaceScreen, schedules: Named = nothing, occurrences: Named = nothing
) -> Mapping[str, Handler]:
    """Commands that make a recovery; `schedules` are typed into its form, `occurrences` the marked ones."""

    async def make(act: RecoveryAct) -> None:
        marked = occurrences() if act is not RecoveryAct.DISABLE else ()
        await ask(screen, Asking(act=act, schedules=() if marked else schedules(), occurrences=marked))

    return {
        "recovery.replay": partial(make, RecoveryAct.REPLAY),
        "recovery.replay-listed": partial(make, RecoveryAct.REPLAY),
        "recovery.requeue": partial(make, RecoveryAct.REQUEUE),
        "recovery.discard": partial(make, RecoveryAct.DISCARD),
        "recovery.disable": partial(make, RecoveryAct.DISABLE),
    }


def mark_handlers(table: Callable[[], Table], changed: Callable[[], None]) -> Mapping[str, Handler]:
    """Commands that mark rows of a list for a recovery; `changed` is told."""

    def toggle() -> None:
        table().toggle_mark()
        table().action_move(1)
        changed()

    def clear() -> None:
        table().clear_marks()
        changed()

    return {"recovery.mark": toggle, "recovery.clear-marks": clear}


async def ask(screen: PlaceScreen, asking: Asking) -> Recovery | None:
    """Asks for the set, freezes it and shows it; None where it was given up, or a fast key opened another screen meanwhile."""
    if screen.app.screen is not screen:
        return None
    service = screen.shell.service
    form = RecoveryForm(asking, service, lambda: seen_of(screen), where_of(screen))
    service.on_checking = lambda _key: form.checking()
    made = await screen.app.push_screen_wait(form)
    if made is not None:
        open_recovery(screen, made)
    return made


def open_recovery(screen: PlaceScreen, recovery: Recovery, greeting: str = "") -> None:
    """Shows it: what it would do while it is open, how far it is after; in the place of another one where one is shown."""
    opened = resolve(PREVIEW if recovery.confirmed_at is None else PROGRESS)(recovery)
    opened.greeting = greeting
    if screen.PLACE == "recovery":
        screen.app.switch_screen(opened)
    else:
        screen.app.push_screen(opened)
