"""Owns the console's configuration: what can be set, where each value came from, and what is wrong with a file.

Precedence: typed option, then environment, then profile, then file, then default. Never holds a token.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from zoneinfo import ZoneInfo

from jobconsole.document import Document, SettingsError, read_document
from jobconsole.looks import SECTION, THEMES, WrittenTheme, written_themes

__all__ = ["SETTINGS", "Settings", "SettingsError", "Sourced", "load", "local_zone"]

DEFAULT_URL = "http://127.0.0.1:8414"
PROFILE_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One thing that can be set."""

    name: str
    default: str | bool | int | None
    help: str
    check: Callable[[object], object]
    """Gives the value, or raises ValueError with what is wrong and what to write."""
    environment: str | None = None
    in_profile: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Sourced:
    """A value and where it came from, in words."""

    value: object
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What this run of the console goes by."""

    profile: str
    url: str
    tenant: str | None
    """None: the first tenant of the person."""
    read_only: bool
    production: bool
    zone: ZoneInfo
    theme: str
    cover_minutes: int
    """Minutes without a key after which the screen is covered."""
    refresh_seconds: int
    """Seconds between the slow refreshes that stand behind the live feed."""
    keymap: Mapping[str, str]
    """Command id to keys, as written; `commands.keymap.keymap_of` judges them."""
    keymap_lines: Mapping[str, int]
    """On which line of the file each stands."""
    themes: tuple[WrittenTheme, ...]
    """Themes of the person's own."""
    profiles: tuple[str, ...]
    sources: Mapping[str, Sourced]
    file: Path


def _text(value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ValueError("must be text")
    return value.strip()


def _flag(value: object) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.casefold() in {"true", "false"}:
        return value.casefold() == "true"
    raise ValueError("must be true or false")


def _whole(least: int, most: int) -> Callable[[object], int]:
    def check(value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
            raise ValueError(f"must be a whole number from {least} to {most}")
        return value

    return check


def _profile(value: object) -> str:
    text = _text(value)
    if PROFILE_NAME.fullmatch(text) is None:
        raise ValueError("must be a name of small letters, digits and hyphens, e.g. prod")
    return text


def _zone(value: object) -> str:
    text = _text(value)
    try:
        ZoneInfo(text)
    except (KeyError, ValueError, OSError):
        raise ValueError(f'"{text}" is no time zone; write one such as Europe/London or UTC') from None
    return text


def local_zone() -> str:
    """The name of this machine's zone, UTC where it has none."""
    named = os.environ.get("TZ", "").lstrip(":")
    linked = os.path.realpath("/etc/localtime").partition("zoneinfo/")[2]
    for name in (named, linked):
        try:
            return _zone(name)
        except ValueError:
            continue
    return "UTC"


SETTINGS: tuple[Setting, ...] = (
    Setting(
        name="profile",
        default="default",
        help="Which [profile.NAME] is used; default_profile in the file.",
        check=_profile,
        environment="JOBCONSOLE_PROFILE",
        in_profile=False,
    ),
    Setting(name="url", default=DEFAULT_URL, help="Address of the service.", check=_text, environment="JOBCONSOLE_URL"),
    Setting(name="tenant", default=None, help="The tenant shown first.", check=_text),
    Setting(name="read_only", default=False, help="Look, never act.", check=_flag),
    Setting(name="production", default=False, help="Marked by word and colour.", check=_flag),
    Setting(name="zone", default=None, help="Time zone of what is shown; else this machine's.", check=_zone),
    Setting(name="theme", default="dark", help=f"One of {', '.join(THEMES)}, or one of your own.", check=_text),
    Setting(
        name="cover_minutes",
        default=5,
        help="Minutes without a key until the screen is covered.",
        check=_whole(1, 60),
        in_profile=False,
    ),
    Setting(
        name="refresh_seconds",
        default=60,
        help="Seconds between slow refreshes behind the live feed.",
        check=_whole(5, 3_600),
        in_profile=False,
    ),
)
"""Everything that can be set, in the order that `config show` prints."""

_BY_NAME = {setting.name: setting for setting in SETTINGS}
_SECTIONS = ("keymap", "profile", SECTION)
DEFAULT_PROFILE = "default_profile"
"""What the setting `profile` is called in the file."""
_IN_FILE = (*(name for name in _BY_NAME if name != "profile"), DEFAULT_PROFILE, *_SECTIONS)


def load(
    options: Mapping[str, object] | None = None,
    *,
    file: Path,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """The settings after typed `options` (None values count as not typed), the environment and `file`.

    Raises `SettingsError` with every fault found.
    """
    typed = {name: value for name, value in (options or {}).items() if value is not None}
    document = read_document(file)
    document.unknown(document.written, _IN_FILE, "")
    profiles, keymap, themes = _profiles(document), _keymap(document), written_themes(document)
    faults = document.faults
    sources: dict[str, Sourced] = {}
    around = os.environ if environ is None else environ
    for setting in SETTINGS:
        profile = str(sources["profile"].value) if "profile" in sources else ""
        layers = (
            ("the command line", typed),
            (f"environment {setting.environment}", _from_environment(setting, around)),
            (f"profile {profile}", profiles.get(profile, {}) if setting.in_profile else {}),
            (f"file {file}", _from_file(document.written)),
        )
        sources[setting.name] = _first(setting, layers, document)
    profile = str(sources["profile"].value)
    if profile != "default" and profile not in profiles and not faults:
        near = get_close_matches(profile, profiles, n=1)
        known = f'did you mean "{near[0]}"?' if near else f"known: {', '.join(sorted(profiles)) or 'none yet'}"
        faults.append(f"{file}: no [profile.{profile}] (asked for by {sources['profile'].source}); {known}")
    _judge_theme(sources["theme"], document, themes)
    if faults:
        raise SettingsError("\n".join(faults))
    return _settings(sources, document, keymap, themes, tuple(sorted(profiles)))


def _judge_theme(theme: Sourced, document: Document, own: Sequence[WrittenTheme]) -> None:
    known = (*THEMES, *(each.name for each in own))
    if theme.value in known or any(f"[{SECTION}" in fault for fault in document.faults):
        return  # it may be the one that is at fault
    near = get_close_matches(str(theme.value), known, n=1)
    hint = f'; did you mean "{near[0]}"?' if near else ""
    document.fault(f"theme ({theme.source}): must be one of {', '.join(known)}{hint}", key="theme")


def _settings(
    sources: Mapping[str, Sourced],
    document: Document,
    keymap: Mapping[str, str],
    themes: tuple[WrittenTheme, ...],
    profiles: tuple[str, ...],
) -> Settings:
    lines = ((command, document.line(command, "keymap")) for command in keymap)
    value = {name: sourced.value for name, sourced in sources.items()}
    tenant = value["tenant"]
    return Settings(
        profile=str(value["profile"]),
        url=str(value["url"]),
        tenant=None if tenant is None else str(tenant),
        read_only=value["read_only"] is True,
        production=value["production"] is True,
        zone=ZoneInfo(str(value["zone"])),
        theme=str(value["theme"]),
        cover_minutes=int(str(value["cover_minutes"])),
        refresh_seconds=int(str(value["refresh_seconds"])),
        keymap=keymap,
        keymap_lines={command: number for command, number in lines if number is not None},
        themes=themes,
        profiles=profiles,
        sources=sources,
        file=document.file,
    )


def _from_environment(setting: Setting, environ: Mapping[str, str]) -> Mapping[str, object]:
    given = environ.get(setting.environment, "") if setting.environment else ""
    return {setting.name: given} if given else {}


def _from_file(written: Mapping[str, object]) -> Mapping[str, object]:
    """The file's own values. TOML cannot have `profile` both as a value and as sections: the value has a longer name."""
    values = {name: value for name, value in written.items() if name not in _SECTIONS}
    if DEFAULT_PROFILE in values:
        values["profile"] = values.pop(DEFAULT_PROFILE)
    return values


def _first(setting: Setting, layers: tuple[tuple[str, Mapping[str, object]], ...], document: Document) -> Sourced:
    for source, layer in layers:
        if setting.name in layer:
            try:
                return Sourced(value=setting.check(layer[setting.name]), source=source)
            except ValueError as error:
                document.fault(f"{setting.name} ({source}): {error}", key=setting.name)
                break
    if setting.name == "zone":
        return Sourced(value=local_zone(), source="this machine")
    return Sourced(value=setting.default, source="default")


def _profiles(document: Document) -> dict[str, dict[str, object]]:
    """The profiles of the file by name; whatever is wrong becomes a fault of the document."""
    profiles: dict[str, dict[str, object]] = {}
    given = document.written.get("profile", {})
    if not isinstance(given, dict):
        document.fault(f'write {DEFAULT_PROFILE} = "…"; profiles are sections such as [profile.prod]', key="profile")
        return profiles
    for name, values in given.items():
        section = f"profile.{name}"
        if PROFILE_NAME.fullmatch(name) is None or not isinstance(values, dict):
            document.fault(f"[{section}]: a profile is a section such as [profile.prod]", key=name, section="profile")
            continue
        document.unknown(values, [s.name for s in SETTINGS if s.in_profile], section)
        profiles[name] = values
    return profiles


def _keymap(document: Document) -> dict[str, str]:
    """The keys of the file by command id, as written."""
    keys = document.written.get("keymap", {})
    if not isinstance(keys, dict):
        document.fault("keymap is a section: [keymap]", key="keymap")
        return {}
    for command, text in keys.items():
        if isinstance(text, dict):
            document.fault(f'keymap: write the id in quotes, e.g. "{command}.…" = "c"', key=command, section="keymap")
        elif not isinstance(text, str):
            document.fault(f"keymap: {command}: keys are text", key=command, section="keymap")
    return {command: text for command, text in keys.items() if isinstance(text, str)}
