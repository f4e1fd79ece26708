"""Owns what every place of the console has: the frame, its bindings from the catalogue, and how a command is run.

A place is a subclass that says `PLACE`, composes its body and maps command ids to what carries them out:

    class QueuesScreen(PlaceScreen):
        PLACE = "queues"
        TITLE_WORDS = "Queues"
        EXPLANATION = "Work that waits for a person, oldest first."

        def compose_body(self) -> ComposeResult: ...
        def handlers(self) -> Mapping[str, Handler]: return {"queue.claim": self.claim}
        def situation(self) -> Situation: return replace(super().situation(), item=...)
        async def reload(self) -> None: ...                 # first shown, r, a reset, a lost connection regained
        def changed(self, hints: Sequence[Hint]) -> None: ...   # live hints of this tenant, newest of each thing
        def tick(self) -> None: ...                         # once a second: countdowns

A handler may be a coroutine function: it runs as a worker of the screen, and what it raises becomes an error line,
never the end of the console. Call `situation_changed()` whenever the selection changes. Never calls the service itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, cast

from textual.app import ComposeResult
from textual.binding import Binding, BindingsMap
from textual.containers import Container
from textual.css.query import NoMatches
from textual.getters import query_one
from textual.screen import Screen
from textual.widgets import Input, TextArea

from jobconsole.commands.catalogue import BY_ID, applies, commands_of, unavailable
from jobconsole.commands.command import NONE_SELECTED
from jobconsole.commands.keymap import PLACE_KEYS, Keymap, bound, keymap_at
from jobconsole.commands.situation import Situation
from jobconsole.screens.dialog import ActingDialog
from jobconsole.screens.shell import Handler, Shell
from jobconsole.widgets.entry import CommandLine
from jobconsole.widgets.frame import KeyLine, NoticeLine, StopLine, TopLine

if TYPE_CHECKING:
    from jobcontract.events import Hint


class PlaceScreen(Screen[None]):
    """A place: frame around a body of its own."""

    PLACE: ClassVar[str] = ""
    TITLE_WORDS: ClassVar[str] = ""
    EXPLANATION: ClassVar[str] = ""
    """What the place shows, for its help."""
    DEFAULT_CSS = """
    PlaceScreen { layers: default notice; }
    PlaceScreen > #body { height: 1fr; width: 1fr; }
    """

    top = query_one(TopLine)
    stop_line = query_one(StopLine)
    keys = query_one(KeyLine)
    notices = query_one(NoticeLine)

    _seen: int | None = None
    """The console's revision that this place shows."""

    def compose(self) -> ComposeResult:
        """Top line, what is stopped, body, notice, key line."""
        yield TopLine()
        yield StopLine()
        with Container(id="body"):
            yield from self.compose_body()
        yield NoticeLine()
        yield KeyLine()
        yield CommandLine()

    def compose_body(self) -> ComposeResult:
        """The place's own part."""
        raise NotImplementedError

    @property
    def shell(self) -> Shell:
        """The console around this screen."""
        return cast(Shell, self.app)

    @property
    def composed(self) -> bool:
        """Whether the frame is there: not before it is composed, nor once it is taken down. Asked at every key."""
        try:
            return self.keys.is_attached
        except NoMatches:
            return False

    def handlers(self) -> Mapping[str, Handler]:
        """Command id to what carries it out, for the commands of this place."""
        return {}

    def situation(self) -> Situation:
        """The facts now. A place with a selection replaces `item` and `queue`."""
        return self.shell.situation(self.PLACE)

    async def reload(self) -> None:
        """Asks the service again for everything shown."""

    def changed(self, hints: Sequence[Hint]) -> None:
        """Live hints arrived, at most five times a second; refetch what of them is on screen."""

    def tick(self) -> None:
        """A second passed. Called while this place is shown."""

    def copyable(self) -> str | None:
        """What `text.copy` copies when no text is selected: e.g. the id of the row under the cursor."""
        return None

    def go_back(self) -> bool:
        """Closes something of this place's own (a detail, a filter); False when there is nothing to close."""
        return False

    def keeps_key(self, key: str) -> bool:  # noqa: ARG002  for subclasses
        """Whether the key of a place means something else here just now, and leads nowhere."""
        return False

    def names(self) -> tuple[str, ...]:
        """Further words that `:` understands here, e.g. the queues."""
        return ()

    def go_to_name(self, word: str) -> bool:  # noqa: ARG002  for subclasses
        """Shows what a person means by `word`; False where it means nothing here."""
        return False

    def run_command(self, command_id: str) -> None:
        """Runs the command, or says why not."""
        command = BY_ID[command_id]
        reason = unavailable(command, self.situation())
        if reason is not None:
            self.say(f"{command.title}: {reason}", error=True)
            return
        handler = self.handlers().get(command_id) or self.shell.shell_handlers().get(command_id)
        if handler is None:
            raise LookupError(f"{type(self).__name__} does not carry out {command_id}")
        if inspect.iscoroutinefunction(handler):
            self.work(handler(), doing=command.title)
        else:
            handler()

    def work(self, todo: Awaitable[Any], *, doing: str, group: str = "commands", exclusive: bool = False) -> None:
        """Runs `todo` in the background; a failure is said in a sentence that begins with `doing`."""
        self.run_worker(self._guarded(todo, doing), group=group, exclusive=exclusive, exit_on_error=False)

    def say(self, sentence: str, *, error: bool = False) -> None:
        """Shows one sentence above the key line. Text of the service is safe in it."""
        self.notices.say(sentence, error=error)

    def situation_changed(self) -> None:
        """Shows top line and keys for what is selected now."""
        if not self.composed:
            return
        situation = self.situation()
        hinted = sorted((c for c in commands_of(self.PLACE) if c.hint), key=lambda c: c.rank)
        told = [(command, unavailable(command, situation)) for command in hinted]
        # What the shell cannot do now is no news, nor that a list is empty; what this place cannot do with a row is.
        shown = [
            (command, reason is None)
            for command, reason in told
            if (reason is None or (command.places and not reason.endswith(NONE_SELECTED)))
            and (command.concerns is None or command.concerns(situation))
        ]
        self.keys.show(shown, self._keymap)
        self._show_frame()

    def _show_frame(self) -> None:
        frame = self.shell.frame
        self.top.show(frame, self.shell.link)
        self.stop_line.show(frame)

    @cached_property
    def _keymap(self) -> Keymap:
        return keymap_at(self.shell.keymap, self.PLACE)

    def bind_commands(self) -> None:
        """Takes the keys of this place from the keymap."""
        commands = [command for command in commands_of(self.PLACE) if applies(command, self.PLACE)]
        made = [
            Binding(
                "comma" if key == "," else key, f"{action}('{command.id}')", command.title, show=False, priority=now
            )
            for key, command in bound(self._keymap, commands)
            # At once, in the order in which keys came; while text is typed, only what the input leaves over.
            for action, now in (("run_at_once", True), ("run_command", False))
        ]
        places = [Binding(key, f"app.go_to('{key}')", show=False) for key in PLACE_KEYS]
        moves = BindingsMap(
            [
                Binding("tab", "app.focus_next", show=False),
                Binding("shift+tab", "app.focus_previous", show=False),
            ]
        )
        self._bindings = BindingsMap.merge([moves, BindingsMap([*made, *places])])

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Keys are text for an input that has the keyboard."""
        if action == "run_at_once" and isinstance(self.focused, Input | TextArea):
            return False
        return super().check_action(action, parameters)

    def action_run_at_once(self, command_id: str) -> None:
        """What a key of the catalogue runs, before the next key is looked at."""
        self.action_run_command(command_id)

    def action_run_command(self, command_id: str) -> None:
        """What every key of the catalogue runs; one that comes late, while another screen is in front, runs nothing."""
        if self.app.screen is self:
            self.run_command(command_id)

    def on_mount(self) -> None:
        """Takes keys and words from the console, and loads what the place shows."""
        self.bind_commands()
        self.situation_changed()
        if self.shell.session is not None:
            self.refresh_all()

    def refresh_all(self) -> None:
        """Asks again for everything shown, in the background; a reload that still runs is replaced."""
        self._seen = self.shell.revision
        self.work(self.reload(), doing=f"Loading {self.TITLE_WORDS or self.PLACE}", group="reload", exclusive=True)

    def take_changes(self, hints: Sequence[Hint]) -> None:
        """Takes live hints from the console."""
        self._seen = self.shell.revision
        if self.composed:
            self.changed(hints)

    def on_screen_resume(self) -> None:
        """Shows what changed while another screen was in front."""
        self.situation_changed()
        if self._seen not in (None, self.shell.revision) and self.shell.session is not None:
            self.refresh_all()

    def open_command_line(self, known: Sequence[str]) -> None:
        """Lets the person type the name of a place or command, completed to one of `known`."""
        self.query_one(CommandLine).open(known)

    def tick_frame(self) -> None:
        """Ages of the frame and what the place counts; called by the console's one timer, also before it is composed."""
        if not self.is_mounted or not self.composed:
            return
        self._show_frame()
        self.notices.tick()
        self.tick()
        if isinstance(self.app.screen, ActingDialog) and self.app.screen.is_mounted:
            self.app.screen.second()

    async def _guarded(self, todo: Awaitable[Any], doing: str) -> None:
        try:
            await todo
        except Exception as error:  # outermost frame of a worker: a failure is a sentence, not the end (TUI-07)
            self.shell.failed(error, doing)


def bindings_everywhere(keymap: Keymap, command_ids: Sequence[str]) -> BindingsMap:
    """Bindings of the App, for commands whose keys count in dialogs too."""
    return BindingsMap(
        [
            Binding(key, f"run_command('{command_id}')", show=False, priority=True)
            for command_id in command_ids
            for key in keymap[command_id]
        ]
    )
