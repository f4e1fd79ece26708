"""Owns the cover: it hides every screen after some minutes without a key, and wants the token again (MONEY.md 26)."""

from __future__ import annotations

from typing import ClassVar

from jobconsole.screens.sign_in import SignInScreen


class CoverScreen(SignInScreen):
    """Nothing of what was on screen can be seen through it, and nothing but the token or quitting leads past it."""

    HEADING: ClassVar[str] = "Covered"
    DEFAULT_CSS = "CoverScreen { background: $background; }"

    def action_cancel(self) -> None:
        """There is no way back without the token."""
