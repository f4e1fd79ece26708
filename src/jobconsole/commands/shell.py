"""Owns the commands of the shell itself: those that every place has."""

from __future__ import annotations

from jobconsole.commands.command import Command
from jobconsole.commands.situation import Situation


def _shows_rows(situation: Situation) -> str | None:
    return "nothing is shown yet" if situation.place == "start" else None


def _several_tenants(situation: Situation) -> str | None:
    return None if situation.tenants > 1 else "you are in one tenant only"


def _signed_in(situation: Situation) -> str | None:
    return None if situation.signed_in else "sign in first"


def _signed_out(situation: Situation) -> str | None:
    return "you are signed in; sign out first" if situation.signed_in else None


SHELL_COMMANDS: tuple[Command, ...] = (
    Command(
        id="help.show",
        title="Help",
        help="Explains this screen: what it shows, every key, and why a command cannot be run now.",
        keys=("?", "f1"),
        hint="help",
        rank=99,
    ),
    Command(
        id="palette.open",
        title="Find a command",
        help="Lists every command of this place; type to narrow it, enter runs it.",
        keys=("ctrl+p",),
        hint="commands",
        rank=96,
    ),
    Command(
        id="place.go",
        title="Go to a place by name",
        help="Opens a line at the bottom: type a place's name or a command's id, tab completes it.",
        keys=(":",),
        hint="go to",
        rank=97,
    ),
    Command(
        id="screen.refresh",
        title="Refresh",
        help="Asks the service again for what is on screen.",
        keys=("r",),
        yields=("progress", "recovery", "job"),
        judge=_signed_in,
        hint="refresh",
        rank=98,
    ),
    Command(
        id="theme.choose",
        title="Choose a theme",
        help="Lists the themes, your own too, and shows this console in the chosen one until it is left.",
        keys=("ctrl+t",),
    ),
    Command(
        id="live.pause",
        title="Pause or resume live updates",
        help="Holds back live changes so that rows stand still; the top line says so, and the same key goes on.",
        keys=("p",),
        yields=("progress", "recovery", "job"),
        judge=_signed_in,
        rank=81,
    ),
    Command(
        id="tenant.switch",
        title="Switch tenant",
        help="Chooses another tenant of yours; every place then shows that tenant.",
        keys=("T",),
        yields=("schedules", "occurrences", "occurrence", "workers", "overview", "alarms"),
        judge=_several_tenants,
        rank=82,
    ),
    Command(
        id="text.copy",
        title="Copy",
        help="Copies the selected text (drag with the mouse), or else what is under the cursor. It never quits.",
        keys=("ctrl+c",),
        rank=83,
    ),
    Command(
        id="screen.cover",
        title="Cover the screen now",
        help="Hides everything and drops the token, as the console does by itself after some minutes without a key.",
        keys=("ctrl+l",),
        judge=_shows_rows,
        rank=84,
    ),
    Command(
        id="session.sign-in",
        title="Sign in",
        help="Asks for a token and connects with it.",
        keys=("L",),
        judge=_signed_out,
        rank=5,
        hint="sign in",
    ),
    Command(
        id="screen.back",
        title="Back",
        help="Closes what is open, or goes to the place before. Escape does the same, half a second later inside tmux.",
        keys=("backspace", "q", "escape"),
        hint="back",
        rank=95,
    ),
    Command(
        id="console.quit",
        title="Quit",
        help="Leaves the console; asks first while you hold claims.",
        keys=("ctrl+q",),
        rank=98,
    ),
)
