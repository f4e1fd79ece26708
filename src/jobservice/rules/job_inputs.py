"""Owns checking the inputs of a job: declared fields only, and nothing that looks like a credential (requirement INV-09).
Pure. Never repeats a value in what it says.
"""

from __future__ import annotations

import difflib
import itertools
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from jobservice.rules.inputs import InputValue, check_inputs
from jobservice.rules.job_kinds import KindInput
from jobservice.rules.queues import DeclaredInput

NAME_SHOWN = 80
LONG_LEAST = 28
"""Fewest characters of a run of letters and digits that may be a key by its looks alone."""
MIXED_LEAST = 0.38
"""Share of neighbours of different classes (small, capital, digit) from which on such a run looks random; random ones have
about 0.64, names and file names under 0.35."""
HEX_LEAST = 64
"""Hexadecimal digits of a key of 256 bits; a shorter run is an id, and a digest says so: `sha256:...`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedInputs:
    """Inputs as they are kept; `faults` are sentences, empty where all is well."""

    kept: Mapping[str, InputValue]
    faults: tuple[str, ...]


def judge_inputs(declared: Sequence[KindInput], given: Mapping[str, object]) -> JudgedInputs:
    """Compare what was given with what the kind declares: names, presence, types, lengths, no credentials. Everything that
    is wrong is said at once."""
    fields = [
        DeclaredInput(name=each.name, type=each.type, title=each.label, required=each.required, most=each.most)
        for each in declared
    ]
    names = [each.name for each in declared]
    checked = check_inputs(fields, {name: value for name, value in given.items() if name in names})
    faults = [*_unknown(names, given), *checked.faults]
    for name, value in given.items():
        if isinstance(value, str) and (found := credential_in(value)) is not None:
            shown = f"`{name}`" if name in names else "An input"
            faults.append(
                f"{shown} looks like it holds {found}: inputs of a job carry no secrets. Give the name of it."
            )
    return JudgedInputs(kept=checked.kept, faults=tuple(faults))


def _unknown(names: Sequence[str], given: Mapping[str, object]) -> Iterator[str]:
    known = ", ".join(names) or "none"
    for name in given:
        if name in names:
            continue
        if credential_in(name) is not None:
            yield f"An input's name looks like a credential; the kind declares {known}."
            continue
        close = difflib.get_close_matches(name, names, n=1)
        hint = f"Did you mean `{close[0]}`?" if close else f"It declares {known}."
        yield f"`{name[:NAME_SHOWN]}` is not declared by the kind. {hint}"


_LOOKS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "a private key",
        re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY|PuTTY-User-Key-File-|AGE-SECRET-KEY-1", re.IGNORECASE),
    ),
    ("the secret of a phone", re.compile(r"otpauth(?:-migration)?://", re.IGNORECASE)),
    ("a signed token", re.compile(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{6,}\.[A-Za-z0-9_-]{4,}")),
    ("a password in an address", re.compile(r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]*://[^/\s:@]*:[^/\s@]+@", re.IGNORECASE)),
    (
        "a signed address",
        re.compile(
            r"[?&](?:x-amz-signature|x-goog-signature|sig|signature|access_token|token|api_?key)=[^&\s]{8,}", re.I
        ),
    ),
    (
        "a password or key",
        re.compile(
            r"(?<![A-Za-z])(?:pass(?:word|wd|phrase|code)?|pwd|secret|token|api[ _-]?key|(?:client|shared)[ _-]?secret"
            r"|(?:access|auth|private|secret|account|refresh)[ _-]?(?:key|token))[\"']?\s*(?:=|:=)\s*\S",
            re.IGNORECASE,
        ),
    ),
    (
        "a password or key",
        re.compile(
            r"(?<![A-Za-z])(?:password|passwd|passphrase|pwd|api[ _-]?key|client[ _-]?secret|(?:access|auth|private|secret)"
            r"[ _-]?(?:key|token))[\"']?\s*:\s*\S",
            re.IGNORECASE,
        ),
    ),
    ("a password or key", re.compile(r"(?<![a-z])[A-Z]+(?:PASSWORD|PASSWD|SECRET|TOKEN)\s*[=:]\s*\S")),
    (
        "a password or key",
        re.compile(
            r"(?<![A-Za-z])(?:secret|token|pass|passwort|kennwort|mot de passe)[\"']?\s*[:=]\s*(?=[^\s\d]*\d)(?=\S*[a-z])\S{6,}",
            re.IGNORECASE,
        ),
    ),
    ("a bearer token", re.compile(r"(?<![A-Za-z])authorization[\"']?\s*[:=]\s*[\"']?[a-z]+\s+\S{6,}", re.IGNORECASE)),
    ("a token of a service", re.compile(r"://hooks\.slack\.com/(?:services|workflows)/\S{8,}", re.IGNORECASE)),
    ("a bearer token", re.compile(r"\b(?:bearer|basic)\s+(?=[^\s]*[0-9=])[A-Za-z0-9._~+/-]{8,}", re.IGNORECASE)),
    (
        "a token of a service",
        re.compile(
            r"(?<![A-Za-z0-9])(?:"
            r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{6,}|sk-(?:[a-z0-9]+-)*[A-Za-z0-9_]{16,}|whsec_[A-Za-z0-9+/]{8,}"
            r"|(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{12,}|gh[pousr]_[A-Za-z0-9]{12,}|github_pat_[A-Za-z0-9_]{12,}"
            r"|gl(?:pat|ptt|dt|rt|soat)-[A-Za-z0-9_-]{8,}|xox[abeoprs]-[A-Za-z0-9-]{6,}|xapp-[0-9]-[A-Za-z0-9-]{6,}"
            r"|npm_[A-Za-z0-9]{16,}|hf_[A-Za-z0-9]{20,}|dckr_pat_[A-Za-z0-9_-]{16,}|lin_api_[A-Za-z0-9]{16,}|pypi-[A-Za-z0-9_-]{16,}|SG\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}"
            r"|AIza[A-Za-z0-9_-]{20,}|ya29\.[A-Za-z0-9_-]{8,}|hv[sbr]\.[A-Za-z0-9_-]{12,}|do[opr]_v1_[a-f0-9]{16,}"
            r"|shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{16,}|token_[A-Za-z0-9]{8,}|jc_[A-Za-z0-9_-]{32,}"
            r")"
        ),
    ),
)
_RUN = re.compile(rf"[A-Za-z0-9+/_=-]{{{LONG_LEAST},}}")
_HEX = re.compile(rf"(?<![A-Za-z0-9])(?<!sha256:)(?<!sha512:)[0-9a-fA-F]{{{HEX_LEAST},}}(?![A-Za-z0-9])")


def credential_in(value: str, *, drawn: bool = True) -> str | None:
    """What a text looks like that should not be here, in words like `a private key`; None where it looks like none.
    `drawn` False: what only looks drawn at random is none, for what may be an idempotency token.

    Ids, UUIDs, IBANs, business keys, file names, digests that say so and prose are none.
    """
    read = _read(value)
    for words, pattern in _LOOKS:
        if pattern.search(read):
            return words
    if drawn and (_HEX.search(value) or any(_random(run) for run in _RUN.findall(value))):
        return "a key or token"
    return None


def _read(value: str) -> str:
    """A text as people read it: full-width letters are letters, and what nobody sees is not there."""
    if value.isascii():
        return value
    return "".join(sign for sign in unicodedata.normalize("NFKC", value) if unicodedata.category(sign) != "Cf")


def _random(run: str) -> bool:
    """Whether a long run of letters and digits looks like it was drawn at random."""
    classes = [_class_of(sign) for sign in run]
    if not {"small", "capital", "digit"} <= set(classes):
        return False
    pairs = list(itertools.pairwise(classes))
    changes = sum(first != second and "mark" not in (first, second) for first, second in pairs)
    letters = sum("mark" not in pair for pair in pairs)
    return letters >= LONG_LEAST - 4 and changes / letters >= MIXED_LEAST


def _class_of(sign: str) -> str:
    if sign.isdigit():
        return "digit"
    if sign.isalpha():
        return "capital" if sign.isupper() else "small"
    return "mark"
