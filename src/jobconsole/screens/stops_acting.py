"""Owns stopping work from where it is seen, and lifting a stop: what it holds still, the reason, for a command that moves
money the code of another person, the same command without a screen. The switch of money alone is `stop.py`'s."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jobconsole.client import stops as client
from jobconsole.places import resolve
from jobconsole.present.columns import Line, Piece, Tone
from jobconsole.present.stops import DOES, GOES_ON, SCOPES, stop_words
from jobconsole.screens.acts import acted, command_of
from jobconsole.screens.order_form import Order, asked
from jobconsole.screens.plan_seen import key_words, seen_of
from jobcontract.operating import StopScope

if TYPE_CHECKING:
    from jobconsole.screens.place import PlaceScreen
    from jobcontract.stops import Stop, StopsChanged

STOPS = "jobconsole.screens.stops:StopsScreen"
REASON = "Why; everybody reads it"


def list_stops(screen: PlaceScreen, wanted: str = "") -> None:
    """Shows what is stopped; where that is shown already, nothing changes."""
    if screen.PLACE == "stops":
        screen.say("This is the list of what is stopped.")
        return
    opened = resolve(STOPS)()
    opened.wanted = wanted or None
    screen.app.push_screen(opened)


async def stop_tenant(screen: PlaceScreen) -> StopsChanged | None:
    """Asks for a reason, then stops all work of the tenant, and its money with it."""
    tenant = screen.shell.tenant
    return await stop_work(screen, StopScope.TENANT, tenant, f"all work of {tenant}")


async def stop_work(screen: PlaceScreen, scope: StopScope, name: str, title: str) -> StopsChanged | None:
    """Asks for a reason, then holds it still; the stops then, None where it was given up."""
    shell = screen.shell
    again = key_words(screen, "money.start", "stop.list")
    money = (
        f"{again['money.start']} starts money again, by the code of another person: lifting this stop does not."
        if scope is StopScope.TENANT
        else ""
    )
    about: Sequence[Line] = (
        (Piece(f"{DOES[scope]} {GOES_ON}"),),
        *(((Piece(money, Tone.WARN),),) if money else ()),
        (Piece(f"Everybody here sees that you did it and why. {again['stop.list']} lists and lifts it.", Tone.QUIET),),
    )

    order = Order(
        title=f"Stop {title}?",
        act=f"Stop {title}",
        about=lambda: about,
        reason=REASON,
        send=lambda given, key: client.stop(shell.service, scope, name, given.reason, key),
        command=command_of(screen, ("stops", "stop", scope.value, name)),
    )
    answer = await asked(screen, order)
    stop = next((each for each in answer.stops if (each.scope, each.name) == (scope, name)), None) if answer else None
    if stop is not None:
        screen.say(f"{stop_words(stop, shell.frame.zone, stop.at)}.")
    return answer


async def lift_stop(screen: PlaceScreen, stop: Stop) -> StopsChanged | None:
    """Asks for a reason, and where it holds money for a code, then lets it go on."""
    shell = screen.shell
    money = key_words(screen, "money.start")["money.start"]

    def about() -> Sequence[Line]:
        lines: list[Line] = [(Piece(f"■ {stop_words(stop, shell.frame.zone, seen_of(screen).now)}", Tone.BAD),)]
        if stop.scope is StopScope.TENANT:
            lines.append(
                (Piece(f"Occurrences start and items can be claimed again. Money stays stopped: {money} starts it."),)
            )
        else:
            lines.append((Piece("It goes on at once; plans that were paused stay paused."),))
        return lines

    order = Order(
        title=f"Lift the stop of {stop.title}?",
        act=f"Let {SCOPES[stop.scope]} {stop.title} go on"
        if stop.scope is not StopScope.TENANT
        else "Let all work go on",
        about=about,
        reason="Why it may go on",
        send=lambda given, key: client.lift(shell.service, stop.scope, stop.name, given.reason, key, code=given.code),
        code=stop.lifted_by_code,
        command=command_of(screen, ("stops", "lift", stop.scope.value, stop.name)),
    )
    return await acted(screen, order, lambda _: f"{stop.title} goes on.")
