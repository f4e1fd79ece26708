"""Owns opening a screen that is named by text: two screens that lead to each other cannot both import the other."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any, cast

from textual.screen import Screen


def opened(name: str, *given: object) -> Screen[Any] | None:
    """The screen that `module:Class` names, made with `given`; None where this console has no such module."""
    module, _, kind = name.partition(":")
    if find_spec(module) is None:
        return None
    return cast("Screen[Any]", getattr(import_module(module), kind)(*given))
