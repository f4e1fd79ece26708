"""Owns the themes as Textual takes them. State is always a sign and a word as well; no theme is needed to read a screen."""

from __future__ import annotations

from collections.abc import Sequence

from textual.theme import Theme

from jobconsole.looks import THEMES, WrittenTheme


def themes(own: Sequence[WrittenTheme] = ()) -> tuple[Theme, ...]:
    """Those that come with the console, then a person's `own`."""
    return tuple(map(_theme, (*(WrittenTheme(name=name, base=name, colours={}) for name in THEMES), *own)))


def _theme(written: WrittenTheme) -> Theme:
    colours = written.whole
    return Theme(
        name=written.name,
        dark=written.dark,
        primary=colours["primary"],
        secondary=colours["secondary"],
        accent=colours["accent"],
        foreground=colours["foreground"],
        background=colours["background"],
        surface=colours["surface"],
        panel=colours["panel"],
        success=colours["success"],
        warning=colours["warning"],
        error=colours["error"],
        variables={name: colours[name] for name in ("text-muted", "text-disabled")},
    )
