"""Owns when the names of two payees look alike: cut at the width shown, or by letters that are easily confused.

Pure. Skeletons follow UTS 39, section 4; its table of letters is that of the library. What looks alike is never called
wrong here: a person looks (MONEY.md 11).
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache

from confusable_homoglyphs.confusables import confusables_data

WIDTH_SHOWN = 24
"""How many characters of a payee's name a narrow screen shows."""


def skeleton(text: str) -> str:
    """What `text` is reduced to: two texts of one skeleton are easily taken for each other (UTS 39, section 4)."""
    if text.isascii():
        return text.translate(_ascii_prototypes())
    return unicodedata.normalize("NFD", unicodedata.normalize("NFD", text).translate(_prototypes()))


def look_alikes(payees: Iterable[tuple[str, str]]) -> Mapping[str, str]:
    """Of payees (id, name), those whose name looks like that of another id: to each, the name it looks like."""
    found: dict[str, str] = {}
    groups: dict[str, dict[str, str]] = defaultdict(dict)
    for identifier, name in payees:
        for key in _keys(name):
            groups[key].setdefault(identifier, name)
    for group in groups.values():
        if len(group) > 1:
            first, second = list(group.items())[:2]
            for identifier in group:
                found.setdefault(identifier, second[1] if identifier == first[0] else first[1])
    return found


def _keys(name: str) -> Iterator[str]:
    plain = " ".join(name.split())
    yield f"cut {plain[:WIDTH_SHOWN].casefold()}"
    yield f"letters {skeleton(plain)}"
    yield f"folded {skeleton(plain.casefold())}"


@cache
def _prototypes() -> Mapping[int, str]:
    """Letter to prototype. In the library's table a letter that has a prototype names it alone; a prototype names all
    its letters, and one that has a single letter is told from it by order."""
    prototypes: dict[int, str] = {}
    for letter, others in confusables_data.items():
        if len(others) != 1 or len(letter) != 1:
            continue
        other = others[0]["c"]
        pair = len(other) == 1 and len(confusables_data.get(other, ())) == 1
        prototypes[ord(letter)] = min(letter, other) if pair else other
    return prototypes


@cache
def _ascii_prototypes() -> Mapping[int, str]:
    """The few of them that ASCII has: nearly every name is made of these alone."""
    return {code: prototype for code, prototype in _prototypes().items() if code < 128}
