"""Owns how the commands of the shell are carried out. Each is a view of catalogue, places or session; none asks the
service for anything by itself."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from textual.widgets import Input

from jobconsole import clipboard
from jobconsole.commands.catalogue import BY_ID, commands_of, unavailable
from jobconsole.commands.keymap import keymap_at, named, shown
from jobconsole.looks import THEMES
from jobconsole.places import Place, find, first_of, nearest, resolve
from jobconsole.present.link import LinkState
from jobconsole.screens.choose import Choice, ChooseScreen
from jobconsole.screens.dialog import Ask
from jobconsole.screens.help import HelpScreen, HelpText
from jobconsole.screens.place import PlaceScreen
from jobconsole.screens.shell import Handler
from jobcontract.permissions import Permission

if TYPE_CHECKING:
    from jobconsole.app import Console

STOP, START = "jobconsole.screens.stop:stop_money", "jobconsole.screens.stop:start_money"
STOPS = "jobconsole.screens.stops_acting:list_stops"
FIND, SHOW_FOUND = "jobconsole.screens.find:ask_find", "jobconsole.screens.find:show_found"
OPEN_OWN = "jobconsole.screens.plans_opening:open_own"
QUEUE_NAMED = "jobconsole.screens.queues_opening:queue_named"
SHOW_QUEUE = "jobconsole.screens.queues_opening:show_at"
"""Resolved when they are asked for: they bring the client with them."""
QUEUES = "queues"
"""The place of the queues."""
FIND_WORD = "find"
"""`:find TEXT` looks a text up."""


@runtime_checkable
class OffersCopy(Protocol):
    """A dialog that has something to copy: an order its headless command."""

    def copyable(self) -> str | None:
        """What is copied where nothing is selected."""


class Actions:
    """The shell's commands, for one console."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._before: list[Place] = []
        self._here: Place | None = None
        self._generation = 0

    def handlers(self) -> dict[str, Handler]:
        """Command id to what carries it out: every command that every place has."""
        return {
            "help.show": self.help,
            "palette.open": self.palette,
            "place.go": self.open_command_line,
            "screen.refresh": self._screen.refresh_all,
            "theme.choose": self.choose_theme,
            "live.pause": self.pause,
            "tenant.switch": self.choose_tenant,
            "text.copy": self.copy,
            "screen.cover": self.cover,
            "session.sign-in": self._console.entrance.ask,
            "screen.back": self.back,
            "money.stop": self.stop_money,
            "money.start": self.start_money,
            "plan.mine": self.show_own_plan,
            "stop.list": lambda: resolve(STOPS)(self._screen),
            "find.ask": self.find,
            "console.quit": self.leave,
        }

    @property
    def _screen(self) -> PlaceScreen:
        return self._console.place_screen

    def open_first(self) -> None:
        """Shows the places anew, from the first or the one that was shown: for another person or tenant."""
        console = self._console
        old = [f"{place.id}@{self._generation}" for place in console.places] if self._generation else []
        self._generation += 1
        self._before.clear()
        console.held.clear()
        for place in console.places:
            console.add_mode(f"{place.id}@{self._generation}", _opener(place))
        role = console.connection.role if console.connection is not None else None
        first = first_of(console.places, role.permissions if role is not None else ())
        here, self._here = self._here or first, None
        self.go(here)
        for mode in old:
            console.remove_mode(mode)

    def go(self, place: Place, *, remember: bool = True) -> None:
        """Shows `place`, itself where one is below it already; `screen.back` returns to where one was."""
        if self._generation == 0:
            self._screen.say("Places open once you are signed in.", error=True)
            return
        if self._here is not None and self._here != place and remember:
            self._before.append(self._here)
        if self._here == place and remember:
            self._up_to_the_place()
        self._here = place
        self._console.switch_mode(f"{place.id}@{self._generation}")
        self._console.fit(self._console.size)

    def _up_to_the_place(self) -> None:
        """Leaves what was opened from the place, as going back does."""
        while len(self._console.screen_stack) > 1 and isinstance(self._console.screen, PlaceScreen):
            self._console.pop_screen()

    def go_to_key(self, key: str) -> None:
        """Shows the place with that key."""
        place = next((place for place in self._console.places if place.key == key), None)
        if place is not None:
            self.go(place)
            return
        known = ", ".join(f"{place.key} {place.id}" for place in self._console.places)
        self._screen.say(f"No place has the key {key}. Places: {known}.", error=True)

    def open_command_line(self) -> None:
        """`:` and a name."""
        self._screen.open_command_line(self._words())

    def run_word(self, word: str) -> None:
        """What was typed after `:`: a place, a command's id, a name of the screen's, a queue, or `find` and what is to be found."""
        verb, _, text = word.partition(" ")
        if verb.casefold() == FIND_WORD and (text.strip() or word == FIND_WORD):
            self._find(text)
            return
        place = find(word, self._console.places)
        if place is not None:
            self.go(place)
        elif word in BY_ID:
            self._screen.run_command(word)
        elif not self._screen.go_to_name(word):
            queues = self._queues()
            if queues is None:
                self._say_unknown(word)
            else:
                self._screen.work(self._go_to_queue(queues, word), doing=f"Go to {word}", group="word", exclusive=True)

    def _queues(self) -> Place | None:
        """The place of the queues, for who may read any."""
        connection = self._console.connection
        role = connection.role if connection is not None else None
        if role is None or Permission.QUEUE_READ not in role.permissions:
            return None
        return next((place for place in self._console.places if place.id == QUEUES), None)

    async def _go_to_queue(self, queues: Place, word: str) -> None:
        """Shows the queue with that name at its place; where there is none, says that the word means nothing."""
        screen = self._screen
        queue = await resolve(QUEUE_NAMED)(screen, word)
        if self._console.screen is not screen:
            return  # the person went on, or is asked something
        if queue is None:
            self._say_unknown(word)
            return
        self.go(queues)
        self._up_to_the_place()
        resolve(SHOW_QUEUE)(self._screen, queue)

    def _say_unknown(self, word: str) -> None:
        near = nearest(word, self._words())
        hint = f"Did you mean :{near}?" if near else f":find {word} looks it up; ^p lists everything."
        self._screen.say(f"There is no place, queue or command {word}. {hint}", error=True)

    def back(self) -> None:
        """Closes what is open, else the place before."""
        if self._screen.go_back():
            return
        if len(self._console.screen_stack) > 1:
            self._console.pop_screen()
        elif self._before:
            self.go(self._before.pop(), remember=False)
        else:
            self._screen.say(f"This is the first place; {self._key('console.quit')} leaves the console.")

    def help(self) -> None:
        """`?`"""
        screen, console = self._screen, self._console
        text = HelpText(
            title=screen.TITLE_WORDS,
            explanation=screen.EXPLANATION,
            situation=screen.situation(),
            keymap=keymap_at(console.keymap, screen.PLACE),
            places=[(place.key, place.id, place.title) for place in console.places],
        )
        console.push_screen(HelpScreen(text))

    def palette(self) -> None:
        """Every command of this place, and the places."""
        screen, console = self._screen, self._console
        situation, keymap = screen.situation(), keymap_at(console.keymap, screen.PLACE)
        choices = [
            Choice(
                id=command.id,
                title=command.title,
                aside=" ".join(shown(key) for key in keymap[command.id]),
                reason=unavailable(command, situation),
            )
            for command in commands_of(screen.PLACE)
            if command.id != "palette.open"
        ]
        choices += [Choice(id=place.id, title=f"Go to {place.title}", aside=place.key) for place in console.places]
        console.push_screen(ChooseScreen("Commands", choices), lambda word: self.run_word(word) if word else None)

    def choose_tenant(self) -> None:
        """The person's tenants."""
        console = self._console
        if console.session is None:
            return
        choices = [
            Choice(
                id=role.tenant,
                title=role.name,
                aside=role.role,
                reason="it is the one shown" if role.tenant == console.tenant else None,
            )
            for role in console.session.tenants
        ]
        console.push_screen(ChooseScreen("Switch tenant", choices), console.entrance.switch)

    def choose_theme(self) -> None:
        """The themes: those that come with the console, then the person's own."""
        console, settings = self._console, self._console.settings
        own = {theme.name: theme.base for theme in settings.themes}
        choices = [
            Choice(
                id=name,
                title=name,
                aside=f"yours, after {own[name]}" if name in own else "",
                reason="it is the one shown" if name == console.theme else None,
            )
            for name in (*THEMES, *own)
        ]

        def show(name: str | None) -> None:
            if name is not None:
                console.theme = name
                self._screen.say(f'Shown in {name}. To keep it: theme = "{name}" in {settings.file}')

        console.push_screen(ChooseScreen("Choose a theme", choices), show)

    def pause(self) -> None:
        """Holds live changes back, or lets go of them."""
        console = self._console
        if console.connection is None:
            return
        paused = not console.connection.paused
        console.connection.pause(paused)
        if console.link.connected:
            console.show_link(replace(console.link, state=LinkState.PAUSED if paused else LinkState.LIVE))
        held = f"Live changes are held back; {self._key('live.pause')} goes on."
        self._screen.say(held if paused else "Live changes are shown again.")

    def cover(self) -> None:
        """Hides everything and wants the token again."""
        self._console.entrance.cover("You covered the screen.")

    def copy(self) -> None:
        """Copies the selection or what the place offers, and says what became of it."""
        console = self._console
        focused = console.focused
        text = console.screen.get_selected_text()
        if not text and console.screen is not self._screen and isinstance(console.screen, OffersCopy):
            text = console.screen.copyable()  # it says so: before what an entry selects by itself
        if not text and isinstance(focused, Input) and not focused.password:
            text = focused.selected_text
        if not text and console.screen is self._screen:
            text = self._screen.copyable()
        if not text:
            self._screen.say(
                f"Nothing is selected to copy. Drag with the mouse; {self._key('console.quit')} leaves the console."
            )
            return
        console.copy_to_clipboard(text)
        self._screen.work(self._copy_here(text), doing="Copy")

    async def _copy_here(self, text: str) -> None:
        command = clipboard.local_tool()
        taken = command is not None and await asyncio.to_thread(clipboard.give, text, command)
        what = f"{len(text)} characters"
        if taken and command is not None:
            self._screen.say(f"Copied {what} with {command[0]}, and sent them to the terminal.")
        else:
            self._screen.say(f"Sent {what} to the terminal (OSC 52); whether it keeps them is its own setting.")

    def _find(self, text: str) -> None:
        """What stands after `:find`; nothing: it is asked for."""
        reason = unavailable(BY_ID["find.ask"], self._screen.situation())
        if reason is not None:
            self._screen.say(f"Find: {reason}", error=True)
        elif text.strip():
            resolve(SHOW_FOUND)(self._screen, text)
        else:
            self._screen.run_command("find.ask")

    async def find(self) -> None:
        """Asks for a text and shows what it leads to."""
        await resolve(FIND)(self._screen)

    async def stop_money(self) -> None:
        """Asks, then stops all money of the tenant."""
        await resolve(STOP)(self._screen)

    async def start_money(self) -> None:
        """Asks for a code, then lets money move again."""
        await resolve(START)(self._screen)

    def show_own_plan(self) -> None:
        """Shows the person's live plan; again: the next one."""
        connection = self._console.connection
        if connection is not None:
            resolve(OPEN_OWN)(self._screen, connection.watch.plans)

    def leave(self) -> None:
        """Quits; asks while claims are held."""
        console = self._console
        held = sum(console.held.values())
        if not held or isinstance(console.screen, Ask):
            console.exit()
            return
        word = "claim" if held == 1 else "claims"
        lines = ("They stay yours until they lapse; colleagues wait for them until then.",)
        ask = Ask(title=f"Leave while you hold {held} {word}?", act="Leave and keep them", lines=lines)
        console.push_screen(ask, lambda yes: console.exit() if yes else None)

    def _key(self, command: str) -> str:
        return named(self._console.keymap, command)

    def _words(self) -> tuple[str, ...]:
        commands = tuple(command.id for command in commands_of(self._screen.PLACE))
        return (*(place.id for place in self._console.places), FIND_WORD, *self._screen.names(), *commands)


def _opener(place: Place) -> Callable[[], PlaceScreen]:
    def opened() -> PlaceScreen:
        screen: PlaceScreen = resolve(place.screen)()
        return screen

    return opened
