"""Owns which keys run which command: the catalogue's keys, replaced by those of the person's own keymap. A person's
key always wins, and two commands that meet in one place on one key are a clash that is refused (Textual reports none).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from jobconsole.commands.catalogue import BY_ID, COMMANDS
from jobconsole.commands.command import Command
from jobconsole.settings import Settings

UNBOUND = "none"
"""What a keymap writes to take all keys from a command."""

Keymap = Mapping[str, tuple[str, ...]]
"""Command id to its keys, for every command of the catalogue."""

_MODIFIED = re.compile(r"(?:(?:ctrl|alt|shift|super)\+)*(?:[a-z]+[a-z0-9]*|[^\s,])", re.ASCII | re.IGNORECASE)
_NAMED = frozenset(
    {"enter", "escape", "tab", "space", "backspace", "delete", "insert", "home", "end", "pageup", "pagedown"}
    | {"up", "down", "left", "right"}
    | {f"f{number}" for number in range(1, 25)}
)
_RESERVED = frozenset({"tab", "shift+tab", "up", "down"})
"""Keys that move within a screen; a keymap cannot take them."""
PLACE_KEYS = "1234567890J"
"""Keys of the places (see `places`), in their order: everywhere the same, so that no keymap gives them to a command."""
_SHOWN = {"space": "space", "escape": "esc", "backspace": "⌫", "enter": "enter", "up": "↑", "down": "↓"}


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyClash:
    """Two commands that meet on one key in one place."""

    key: str
    first: Command
    second: Command

    def __str__(self) -> str:
        return f'key "{self.key}" runs both {self.first.id} ({self.first.title}) and {self.second.id} ({self.second.title})'


class KeymapError(Exception):
    """A keymap that cannot be used; the text names every fault, one a line."""


def keymap_of(settings: Settings) -> Keymap:
    """The keymap of a configuration; raises `KeymapError` with file and line of every fault."""
    return read_keymap(settings.keymap, where=str(settings.file), lines=settings.keymap_lines)


def read_keymap(written: Mapping[str, str], *, where: str = "", lines: Mapping[str, int] | None = None) -> Keymap:
    """The keymap after a person's `written` one: id to keys separated by commas, or `none`.

    Raises `KeymapError` naming unknown commands with the nearest one, malformed keys, and clashes with both commands,
    each with `where` and the line on which the command stands there.
    """
    faults: list[str] = []

    def place(*command_ids: str) -> str:
        number = next((lines[each] for each in command_ids if lines and each in lines), None)
        return f"{where}{f':{number}' if number else ''}: keymap" if where else "keymap"

    keymap: dict[str, tuple[str, ...]] = {command.id: command.keys for command in COMMANDS}
    for command_id, text in written.items():
        if command_id not in BY_ID:
            near = get_close_matches(command_id, BY_ID, n=1)
            hint = f'; did you mean "{near[0]}"?' if near else "."
            faults.append(f'{place(command_id)}: no command "{command_id}"{hint}')
            continue
        try:
            keymap[command_id] = _keys(text)
        except ValueError as error:
            faults.append(f"{place(command_id)}: {command_id}: {error}")
    for clash in clashes(keymap):
        faults.append(f"{place(clash.first.id, clash.second.id)}: {clash}. Give one of them another key.")
    if faults:
        raise KeymapError("\n".join(faults))
    return keymap


def default_keymap() -> Keymap:
    """The keys of the catalogue."""
    return read_keymap({})


def clashes(keymap: Keymap) -> list[KeyClash]:
    """Every pair of commands that share a key and a place, in the order of the catalogue."""
    found: list[KeyClash] = []
    by_key: dict[str, list[Command]] = {}
    for command in COMMANDS:
        for key in keymap.get(command.id, command.keys):
            for other in by_key.setdefault(key, []):
                if _meet(command, other):
                    found.append(KeyClash(key=key, first=other, second=command))
            by_key[key].append(command)
    return found


def keymap_at(keymap: Keymap, place: str) -> Keymap:
    """The keymap as it is in `place`: commands that yield there are without the keys that the place's own ones have."""
    here = [command for command in COMMANDS if not command.places or place in command.places]
    taken = {key for command in here if command.places for key in keymap.get(command.id, command.keys)}
    yielding = {command.id: command for command in here if place in command.yields}
    return {
        **keymap,
        **{
            each: tuple(key for key in keymap.get(each, command.keys) if key not in taken)
            for each, command in yielding.items()
        },
    }


def shown(key: str) -> str:
    """`key` as the screen names it: `^p` for ctrl+p."""
    if key.startswith("ctrl+"):
        return "^" + shown(key.removeprefix("ctrl+"))
    return _SHOWN.get(key, key)


def named(keymap: Keymap, command_id: str) -> str:
    """A command's first key as the screen names it; `:plan.pause` where a keymap took all of them."""
    keys = keymap.get(command_id)
    return shown(keys[0]) if keys else f":{command_id}"


def bound(keymap: Keymap, commands: Sequence[Command]) -> Iterator[tuple[str, Command]]:
    """Each key with its command, for those of `commands` that have keys."""
    for command in commands:
        for key in keymap.get(command.id, command.keys):
            yield key, command


def _meet(first: Command, second: Command) -> bool:
    """Whether both have their keys in one place: one that yields has none where the other one is a place's own."""
    if not first.places or not second.places:
        own, everywhere = (first, second) if first.places else (second, first)
        return not own.places or not set(own.places) <= set(everywhere.yields)
    return bool(set(first.places) & set(second.places))


def _keys(text: str) -> tuple[str, ...]:
    if not isinstance(text, str):
        raise ValueError(f'write keys as text, e.g. "c" or "ctrl+r", not {text!r}')
    if text.strip().casefold() == UNBOUND:
        return ()
    keys = (",",) if text.strip() == "," else tuple(part.strip() for part in text.split(","))
    for key in keys:
        _judge(key)
    return keys


def _judge(key: str) -> None:
    if not key.isprintable():
        raise ValueError(f"{key!r} holds a control character; a key is written by its name, such as enter or ctrl+r")
    name = key.rpartition("+")[2] if len(key) > 1 else key
    if len(key) == 1 and key.isprintable() and not key.isspace() and key not in PLACE_KEYS:
        return
    if not key or _MODIFIED.fullmatch(key) is None or (len(name) > 1 and name not in _NAMED):
        raise ValueError(f'"{key}" is not a key; write a character, a name such as enter or f2, or ctrl+ and a letter')
    if key in PLACE_KEYS:
        raise ValueError(f'"{key}" is the key of a place')
    if key in _RESERVED:
        raise ValueError(f'"{key}" moves within the screen and cannot be given away')
