"""Owns the texts that a service could send and a screen must show as data: markup, escape bytes, direction, nothing to
see at all. `HOSTILE` goes through every screen; `harmless` says what a painted line may never hold."""

from __future__ import annotations

import re

MARKUP = (
    "job [/] end",
    "[/foo]",
    "[red]not red",
    "need [b + 3",
    "[link=http://x]y",
    "[@click=app.quit]go[/]",
    "arr[1]",
    "back\\[slash]",
    "[[x]]",
    "[$primary]theme",
    ":smile: {curly} %s $x",
    "trailing \\",
)
"""Square brackets and friends (case TUI-01, and what else markup parsers read)."""

CONTROLS = (
    "clip \x1b]52;c;ZXZpbA==\x1b\\ board",
    "clip \x1b]52;c;ZXZpbA==\x07 bell",
    "red \x1b[31m text \x1b[0m",
    "clear \x1b[2J\x1b[H home",
    "csi \x9b31m c1",
    "osc \x9d52;c;ZXZpbA==\x9c c1",
    "nul \x00 here",
    "two\nlines",
    "carriage\rreturn",
    "tab\tstop",
    "del \x7f here",
    "lone \ud800 surrogate",
)
"""Bytes that steer a terminal, or that it cannot be given at all."""

INVISIBLE = (
    "right \u202eoverride\u202c left",
    "isolate \u2066x\u2069 end",
    "zero\u200bwidth",
    "joined \U0001f468\u200d\U0001f469\u200d\U0001f467 family",
    "soft\u00adhyphen",
    "\ufeffmark",
    "hangul \u3164 filler",
    "tags \U000e0041\U000e0042 here",
    "separated \u2028 line",
)
"""Characters that reorder, join or hide."""

WIDE = ("株式会社 東京", "e\u0301a\u0308 combining", "🇬🇧 flag", "x" * 500, "")

HOSTILE = (*MARKUP, *CONTROLS, *INVISIBLE, *WIDE)

_BAD = re.compile(
    "[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\ud800-\udfff\U000e0000-\U000e0fff]"
)


def harmless(painted: str) -> bool:
    """Whether a painted line (without its newline) can do nothing but be read."""
    return _BAD.search(painted) is None
