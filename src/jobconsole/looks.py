"""Owns the colours of the themes that come with the console, and themes as a person writes them: `[themes.NAME]` in the
configuration, judged with line and nearest name. Plain values; makes no theme of Textual's (`present/themes.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from jobconsole.document import Document

Colours = Mapping[str, str]
"""A colour `#rrggbb` by what it is for."""
BUILT_IN: Mapping[str, Colours] = {
    "dark": {
        "primary": "#5fa8d3",
        "secondary": "#8aa0b4",
        "accent": "#f2c14e",
        "foreground": "#e6e9ec",
        "background": "#12161a",
        "surface": "#181d22",
        "panel": "#242c34",
        "success": "#6cc08b",
        "warning": "#f2c14e",
        "error": "#ef6f6c",
        "text-muted": "#9aa8b4",
        "text-disabled": "#8391a0",
    },
    "light": {
        "primary": "#1d5c8a",
        "secondary": "#50636f",
        "accent": "#8a4b00",
        "foreground": "#16202a",
        "background": "#fbfbf9",
        "surface": "#f2f2ee",
        "panel": "#e1e4e2",
        "success": "#1a6b3c",
        "warning": "#8a5a00",
        "error": "#a81e22",
        "text-muted": "#4c5a65",
        "text-disabled": "#6d7780",
    },
    "high-contrast": {
        "primary": "#00d7ff",
        "secondary": "#ffffff",
        "accent": "#ffff00",
        "foreground": "#ffffff",
        "background": "#000000",
        "surface": "#000000",
        "panel": "#1c1c1c",
        "success": "#00ff5f",
        "warning": "#ffff00",
        "error": "#ff5f5f",
        "text-muted": "#ffffff",
        "text-disabled": "#b2b2b2",
    },
    "colour-blind": {
        "primary": "#56b4e9",
        "secondary": "#999999",
        "accent": "#f0e442",
        "foreground": "#eeeeee",
        "background": "#111418",
        "surface": "#171b20",
        "panel": "#232a31",
        "success": "#0fb5ae",
        "warning": "#e69f00",
        "error": "#d55e00",
        "text-muted": "#a3adb8",
        "text-disabled": "#8a949f",
    },
}
"""The colours of every theme that comes with the console. Those of `colour-blind` are after Okabe and Ito: told apart
with every common kind of colour vision."""
THEMES = tuple(BUILT_IN)
COLOURS = tuple(BUILT_IN["dark"])
"""What a theme of one's own may give a colour to."""
SECTION = "themes"
BASE = "base"
LEAST_CONTRAST = 3.0
"""Least contrast of any text with the background (WCAG 2.2, 1.4.11): below it a sentence cannot be read."""
_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}", re.ASCII)
_COLOUR = re.compile(r"#[0-9a-fA-F]{6}", re.ASCII)
_ON_BACKGROUND = ("foreground", "secondary", "primary", "success", "warning", "error", "accent")
"""Colours that text has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenTheme:
    """A theme of a person's own: one that comes with the console, with some colours (`#rrggbb`) changed."""

    name: str
    base: str
    colours: Colours
    """Those that differ from the base's."""

    @property
    def dark(self) -> bool:
        """Whether its background is darker than its text."""
        return _luminance(self.whole["background"]) < _luminance(self.whole["foreground"])

    @property
    def whole(self) -> Colours:
        """All its colours."""
        return {**BUILT_IN[self.base], **self.colours}


def written_themes(document: Document) -> tuple[WrittenTheme, ...]:
    """The themes of the file that are in order; whatever is not becomes a fault of the document."""
    given = document.written.get(SECTION, {})
    if not isinstance(given, dict):
        document.fault("themes of your own are sections such as [themes.mine]", key=SECTION)
        return ()
    return tuple(theme for name, values in given.items() if (theme := _theme(document, name, values)) is not None)


def _theme(document: Document, name: str, values: object) -> WrittenTheme | None:
    section = f"{SECTION}.{name}"
    if _NAME.fullmatch(name) is None or not isinstance(values, dict):
        document.fault(f"[{section}]: a theme is a section such as [themes.mine]", key=name, section=SECTION)
        return None
    if name in THEMES:
        document.fault(f"[{section}]: {name} comes with the console; take another name", key=name, section=SECTION)
        return None
    before = len(document.faults)
    document.unknown(values, (BASE, *COLOURS), section, what="colour")
    base = values.get(BASE, THEMES[0])
    if base not in THEMES:
        document.fault(f"[{section}] base must be one of {', '.join(THEMES)}", key=BASE, section=section)
    for colour, value in values.items():
        if colour in COLOURS and (not isinstance(value, str) or _COLOUR.fullmatch(value) is None):
            document.fault(f"[{section}] {colour} must be a colour such as #5fa8d3", key=colour, section=section)
    if len(document.faults) > before:
        return None
    theme = WrittenTheme(
        name=name, base=str(base), colours={key: str(value) for key, value in values.items() if key != BASE}
    )
    for colour in unreadable(theme.whole):
        sentence = f"[{section}] {colour} cannot be read on the background: contrast below {LEAST_CONTRAST:g} to 1"
        document.fault(sentence, key=colour if colour in values else "background", section=section)
    return theme if len(document.faults) == before else None


def contrast(one: str, other: str) -> float:
    """The contrast of two colours `#rrggbb`, 1 to 21 (WCAG 2.2, relative luminance)."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def unreadable(colours: Colours) -> tuple[str, ...]:
    """Which colours of text cannot be read on the background: below `LEAST_CONTRAST`."""
    ground = colours["background"]
    return tuple(name for name in _ON_BACKGROUND if contrast(colours[name], ground) < LEAST_CONTRAST)


def _luminance(colour: str) -> float:
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
