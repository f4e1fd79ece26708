"""Owns parsing style sheets once a test process: hundreds of tests open a console, each would parse the same sheets anew.

What is shared is what the parser made of the same text under the same variables; consoles only read it.
"""

from __future__ import annotations

from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.css.types import CSSLocation

_parse = Stylesheet._parse_rules
_parsed: dict[tuple[object, ...], list[RuleSet]] = {}


def share() -> None:
    """From now on in this process."""
    Stylesheet._parse_rules = _shared  # type: ignore[method-assign]  # there is no seam for it


def _shared(
    self: Stylesheet,
    css: str,
    read_from: CSSLocation,
    is_default_rules: bool = False,
    tie_breaker: int = 0,
    scope: str = "",
) -> list[RuleSet]:
    key = (css, read_from, is_default_rules, tie_breaker, scope, *self._variables.items())
    found = _parsed.get(key)
    if found is None:
        found = _parsed[key] = _parse(self, css, read_from, is_default_rules, tie_breaker, scope)
    return found
