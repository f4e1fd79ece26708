"""Owns the colours. State is always a sign and a word as well; no theme is needed to read a screen."""

from __future__ import annotations

from textual.theme import Theme

THEMES: tuple[Theme, ...] = (
    Theme(
        name="dark",
        dark=True,
        primary="#5fa8d3",
        secondary="#8aa0b4",
        accent="#f2c14e",
        foreground="#e6e9ec",
        background="#12161a",
        surface="#181d22",
        panel="#242c34",
        success="#6cc08b",
        warning="#f2c14e",
        error="#ef6f6c",
        variables={"text-muted": "#9aa8b4", "text-disabled": "#8391a0"},
    ),
    Theme(
        name="light",
        dark=False,
        primary="#1d5c8a",
        secondary="#50636f",
        accent="#8a4b00",
        foreground="#16202a",
        background="#fbfbf9",
        surface="#f2f2ee",
        panel="#e1e4e2",
        success="#1a6b3c",
        warning="#8a5a00",
        error="#a81e22",
        variables={"text-muted": "#4c5a65", "text-disabled": "#6d7780"},
    ),
    Theme(
        name="high-contrast",
        dark=True,
        primary="#00d7ff",
        secondary="#ffffff",
        accent="#ffff00",
        foreground="#ffffff",
        background="#000000",
        surface="#000000",
        panel="#1c1c1c",
        success="#00ff5f",
        warning="#ffff00",
        error="#ff5f5f",
        variables={"text-muted": "#ffffff", "text-disabled": "#b2b2b2"},
    ),
    Theme(
        name="colour-blind",
        dark=True,
        # Okabe and Ito's colours: told apart with every common kind of colour vision.
        primary="#56b4e9",
        secondary="#999999",
        accent="#f0e442",
        foreground="#eeeeee",
        background="#111418",
        surface="#171b20",
        panel="#232a31",
        success="#0fb5ae",
        warning="#e69f00",
        error="#d55e00",
        variables={"text-muted": "#a3adb8", "text-disabled": "#8a949f"},
    ),
)
"""Every theme, by the name that `theme` in config.toml takes."""
