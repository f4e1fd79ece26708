"""Owns the configuration file as a text: reading it, and saying on which line a mistake stands. Knows no setting."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path


class SettingsError(Exception):
    """Configuration that cannot be used; the text names every fault with its file and line, one a line."""


def read_document(file: Path) -> Document:
    """The file as it is written; empty where there is none. SettingsError where it cannot be read as TOML."""
    try:
        # A pipe would keep the console waiting, a device would never end.
        if file.exists() and not file.is_file():
            raise SettingsError(f"{file}: is no regular file; the configuration is a text file")
        text = file.read_text("utf-8")
    except FileNotFoundError:
        return Document(file=file, text="", written={})
    except (OSError, UnicodeError) as error:
        raise SettingsError(f"{file}: cannot be read: {error}") from None
    try:
        return Document(file=file, text=text, written=tomllib.loads(text))
    except tomllib.TOMLDecodeError as error:
        raise SettingsError(f"{file}: not in the form of TOML: {error}") from None
    except RecursionError:
        raise SettingsError(f"{file}: brackets are nested too deep; nothing in a configuration is") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """The file's text and what TOML makes of it. Every fault found is kept in `faults`."""

    file: Path
    text: str
    written: Mapping[str, object]
    faults: list[str] = field(default_factory=list)

    def fault(self, sentence: str, *, key: str, section: str = "") -> None:
        """Notes `sentence` with the line on which `key` stands in `[section]`, where it does."""
        number = self.line(key, section)
        self.faults.append(f"{self.file}{f':{number}' if number else ''}: {sentence}")

    def unknown(self, values: Iterable[str], known: Iterable[str], section: str, *, what: str = "setting") -> None:
        """Notes each of `values` that is not `known`, with the nearest one."""
        names = list(known)
        for key in values:
            if key not in names:
                near = get_close_matches(key, names, n=1)
                hint = f'; did you mean "{near[0]}"?' if near else f"; known: {', '.join(names)}"
                where = f"[{section}] " if section else ""
                self.fault(f'{where}no {what} "{key}"{hint}', key=key, section=section)

    def line(self, key: str, section: str) -> int | None:
        """The line on which `key` stands in `[section]`; None where it cannot be told."""
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
