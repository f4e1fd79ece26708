"""Owns telling what was drawn at random (keys, secrets, tokens) from what people and programs name things by.

Pure, by looks alone: hexadecimal, base32, base64 and runs of letters and digits, each by its own alphabet and length. How many
of random ones are met, and which names are not, is measured by the tests.
"""

from __future__ import annotations

import itertools
import re
import string

LONG_LEAST = 28
"""Fewest characters of a run of letters and digits that may be a key by its looks alone."""
MIXED_LEAST = 0.38
"""Share of neighbours of different classes (small, capital, digit) from which on such a run looks random; random ones have
about 0.64, names and file names under 0.35."""
TWO_CLASSES_LEAST = 32
TWO_CLASSES_MIXED = 0.28
"""The same where letters are all small or all capital; random ones have about 0.40."""
HEX_LEAST = 32
"""Hexadecimal digits of a key of 128 bits; a digest says what it is: `sha256:...`."""
HEX_KINDS = 8
"""Fewest different digits of such a key; padded counters and patterns have fewer."""
BASE32_LENGTHS = frozenset({16, 24, 26, 32, 39, 40, 48, 52, 56, 64, 103})
"""Characters of 10 to 64 random bytes in base32, as phones take their secrets."""
DIGITS_OF_GROUP = 1.75
"""Most digits in a row, on the average, of what is drawn from base32 (about 1.2); in names numbers have more."""
VOWELS_MOST = 0.38
"""Share of vowels among letters up to which they look drawn (about 0.19), where digits are strewn over them; words have more."""
FEW_VOWELS = {0: 0.20, 1: 0.28}
"""The same where there is no digit, or one group of them: what has more letters in a row may be words."""
LETTERS_ALONE_LEAST = 24

_RUN = re.compile(rf"[A-Za-z0-9+/_=-]{{{LONG_LEAST},}}")
_HEX = re.compile(
    rf"(?<![A-Za-z0-9])(?<!sha\d:)(?<!sha\d\d\d:)(?<!md5:)[0-9a-fA-F]{{{HEX_LEAST},}}(?![A-Za-z0-9])"
    r"(?!\.[A-Za-z][A-Za-z0-9]{1,4}(?![A-Za-z0-9]))",  # a file is often named by its digest
    re.ASCII,
)
_UUID = re.compile(r"[0-9a-f]{12}[1457][0-9a-f]{3}[89ab][0-9a-f]{15}", re.IGNORECASE)
_PADDED = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{22}==(?![A-Za-z0-9=])", re.ASCII)
_BASE32 = re.compile(
    r"(?<![A-Za-z0-9])(?:[A-Z2-7]{16,}|[a-z2-7]{16,}|[A-Z2-7]{4}(?:[ -][A-Z2-7]{4}){3,}|[a-z2-7]{4}(?:[ -][a-z2-7]{4}){3,})"
    r"={0,6}(?![A-Za-z0-9])",
    re.ASCII,
)


def looks_drawn(text: str) -> bool:
    """Whether a part of the text looks as if it had been drawn at random."""
    return (
        any(_random_hex(each) for each in _HEX.findall(text))
        or any(_three_classes(each) for each in _PADDED.findall(text))
        or any(_random_base32(re.sub(r"[ =-]", "", each)) for each in _BASE32.findall(text))
        or any(_random(each) for each in _RUN.findall(text))
    )


def _random_hex(run: str) -> bool:
    """Whether it looks like a key: letters and digits, many kinds of them, and no UUID without its dashes."""
    if run.isdigit() or len(set(run.lower())) < HEX_KINDS:
        return False
    return _UUID.fullmatch(run) is None


def _random_base32(run: str) -> bool:
    """Whether it looks like the secret of a phone: single digits strewn over letters that are no words."""
    digits = re.findall(r"\d+", run)
    if len(run) not in BASE32_LENGTHS or (not digits and len(run) < LETTERS_ALONE_LEAST) or _HEX.fullmatch(run):
        return False
    strewn = sum(map(len, digits)) <= DIGITS_OF_GROUP * len(digits)
    return strewn and _few_vowels(run, FEW_VOWELS.get(len(digits), VOWELS_MOST))


def _few_vowels(run: str, most: float = VOWELS_MOST) -> bool:
    letters = [sign for sign in run.lower() if sign in string.ascii_lowercase]
    return sum(sign in "aeiou" for sign in letters) <= most * len(letters)


def _random(run: str) -> bool:
    """Whether a long run of letters and digits looks like it was drawn at random."""
    classes = [_class_of(sign) for sign in run]
    pairs = [pair for pair in itertools.pairwise(classes) if "mark" not in pair]
    if len(pairs) < LONG_LEAST - 4:
        return False
    mixed = sum(first != second for first, second in pairs) / len(pairs)
    if {"small", "capital", "digit"} <= set(classes):
        return mixed >= MIXED_LEAST
    return (
        "digit" in classes
        and len(pairs) >= TWO_CLASSES_LEAST - 4
        and mixed >= TWO_CLASSES_MIXED
        and not _HEX.fullmatch(run)
        and _few_vowels(run)
    )


def _three_classes(run: str) -> bool:
    return {"small", "capital", "digit"} <= {_class_of(sign) for sign in run}


def _class_of(sign: str) -> str:
    if sign.isdigit():
        return "digit"
    if sign.isalpha():
        return "capital" if sign.isupper() else "small"
    return "mark"
