"""Owns the console's configuration: what can be set, where each value came from, and what is wrong with a file.

Precedence: typed option, then environment, then profile, then file, then default. Never holds a token.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from zoneinfo import ZoneInfo

DEFAULT_URL = "http://127.0.0.1:8414"
THEMES = ("dark", "light", "high-contrast", "colour-blind")
PROFILE_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}", re.ASCII)


class SettingsError(Exception):
    """Configuration that cannot be used; the text names every fault with its file and line, one a line."""


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
    """Command id to keys, as written; `commands.keymap.read_keymap` judges them."""
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


def _theme(value: object) -> str:
    if value not in THEMES:
        raise ValueError(f"must be one of {', '.join(THEMES)}")
    return str(value)


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
    Setting(name="theme", default="dark", help=f"One of {', '.join(THEMES)}.", check=_theme),
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
_SECTIONS = ("keymap", "profile")
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
    written, text = _read(file)
    faults: list[str] = []
    document = _Document(file=file, text=text, faults=faults)
    profiles, keymap = document.sections(written)
    sources: dict[str, Sourced] = {}
    around = os.environ if environ is None else environ
    for setting in SETTINGS:
        profile = str(sources["profile"].value) if "profile" in sources else ""
        layers = (
            ("the command line", typed),
            (f"environment {setting.environment}", _from_environment(setting, around)),
            (f"profile {profile}", profiles.get(profile, {}) if setting.in_profile else {}),
            (f"file {file}", _from_file(written)),
        )
        sources[setting.name] = _first(setting, layers, document)
    profile = str(sources["profile"].value)
    if profile != "default" and profile not in profiles and not faults:
        near = get_close_matches(profile, profiles, n=1)
        known = f'did you mean "{near[0]}"?' if near else f"known: {', '.join(sorted(profiles)) or 'none yet'}"
        faults.append(f"{file}: no [profile.{profile}] (asked for by {sources['profile'].source}); {known}")
    if faults:
        raise SettingsError("\n".join(faults))
    return _settings(sources, keymap, tuple(sorted(profiles)), file)


def _settings(
    sources: Mapping[str, Sourced], keymap: Mapping[str, str], profiles: tuple[str, ...], file: Path
) -> Settings:
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
        profiles=profiles,
        sources=sources,
        file=file,
    )


def _read(file: Path) -> tuple[dict[str, object], str]:
    try:
        # A pipe would keep the console waiting, a device would never end.
        if file.exists() and not file.is_file():
            raise SettingsError(f"{file}: is no regular file; the configuration is a text file")
        text = file.read_text("utf-8")
    except FileNotFoundError:
        return {}, ""
    except (OSError, UnicodeError) as error:
        raise SettingsError(f"{file}: cannot be read: {error}") from None
    try:
        return tomllib.loads(text), text
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{file}: not in the form of TOML: {error}") from None
    except RecursionError:
        raise SettingsError(f"{file}: brackets are nested too deep; nothing in a configuration is") from None


def _from_environment(setting: Setting, environ: Mapping[str, str]) -> Mapping[str, object]:
    given = environ.get(setting.environment, "") if setting.environment else ""
    return {setting.name: given} if given else {}


def _from_file(written: Mapping[str, object]) -> Mapping[str, object]:
    """The file's own values. TOML cannot have `profile` both as a value and as sections: the value has a longer name."""
    values = {name: value for name, value in written.items() if name not in _SECTIONS}
    if DEFAULT_PROFILE in values:
        values["profile"] = values.pop(DEFAULT_PROFILE)
    return values


def _first(setting: Setting, layers: tuple[tuple[str, Mapping[str, object]], ...], document: _Document) -> Sourced:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Document:
    """The file as text, to say where a fault is."""

    file: Path
    text: str
    faults: list[str]

    def fault(self, sentence: str, *, key: str, section: str = "") -> None:
        """Notes `sentence` with the line on which `key` stands in `[section]`, where it does."""
        number = self._line(key, section)
        self.faults.append(f"{self.file}{f':{number}' if number else ''}: {sentence}")

    def sections(self, written: Mapping[str, object]) -> tuple[dict[str, dict[str, object]], dict[str, str]]:
        """The profiles and the keymap; everything unknown becomes a fault with the nearest known name."""
        profiles: dict[str, dict[str, object]] = {}
        keymap: dict[str, str] = {}
        self._unknown(written, _IN_FILE, "")
        given = written.get("profile", {})
        if not isinstance(given, dict):
            self.fault(f'write {DEFAULT_PROFILE} = "…"; profiles are sections such as [profile.prod]', key="profile")
        for name, values in given.items() if isinstance(given, dict) else ():
            section = f"profile.{name}"
            if PROFILE_NAME.fullmatch(name) is None or not isinstance(values, dict):
                self.fault(f"[{section}]: a profile is a section such as [profile.prod]", key=name, section="profile")
                continue
            self._unknown(values, [s.name for s in SETTINGS if s.in_profile], section)
            profiles[name] = values
        keys = written.get("keymap", {})
        if not isinstance(keys, dict):
            self.fault("keymap is a section: [keymap]", key="keymap")
            keys = {}
        for command, keys_text in keys.items():
            if isinstance(keys_text, str):
                keymap[command] = keys_text
            elif isinstance(keys_text, dict):
                self.fault(f'keymap: write the id in quotes, e.g. "{command}.…" = "c"', key=command, section="keymap")
            else:
                self.fault(f"keymap: {command}: keys are text", key=command, section="keymap")
        return profiles, keymap

    def _unknown(self, values: Mapping[str, object], known: tuple[str, ...] | list[str], section: str) -> None:
        for key in values:
            if key not in known:
                near = get_close_matches(key, known, n=1)
                hint = f'; did you mean "{near[0]}"?' if near else f"; known: {', '.join(known)}"
                where = f"[{section}] " if section else ""
                self.fault(f'{where}no setting "{key}"{hint}', key=key, section=section)

    def _line(self, key: str, section: str) -> int | None:
        wanted = re.compile(rf"\s*\[?\[?\s*[\"']?(?:{re.escape(section)}\.)?{re.escape(key)}[\"']?\s*[=\].]")
        here = ""
        fallback = None
        for number, text in enumerate(self.text.splitlines(), start=1):
            header = re.match(r"\s*\[([^\]]+)\]", text)
            if header:
                here = header[1].replace('"', "").replace(" ", "")
            if wanted.match(text):
                if here == section or header:
                    return number
                fallback = fallback or number
        return fallback
