"""Owns what a text looks like that should stand nowhere where people read: keys, tokens, passwords, payment cards (INV-09).

Pure. Says what it looks like in words and never repeats it. Looks are all there is: a key that looks like a name passes.
"""

from __future__ import annotations

import re
import unicodedata

from jobcontract.ids import NOTE_MAX
from jobservice.rules.drawn import looks_drawn
from jobservice.rules.payment_cards import card_in

CARD = "the number of a payment card"
DRAWN = "a key or token"
"""What is told by its looks alone: it could be something else, and what was given may say what."""

LOOKED_AT = NOTE_MAX
"""Characters that are looked at: what is longer is refused for its length, wherever it is given."""

_LOOKS: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "a private key",
        re.compile(r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY|PuTTY-User-Key-File-|AGE-SECRET-KEY-1", re.IGNORECASE),
    ),
    ("a key or a certificate", re.compile(r"-----BEGIN [A-Z0-9 ]+-----", re.IGNORECASE)),
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
    ("a password or key", re.compile(r"(?<![A-Z])[A-Z]+(?:PASSWORD|PASSWD|SECRET|TOKEN)\s*[=:]\s*\S")),
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


def credential_in(value: str, *, drawn: bool = True) -> str | None:
    """What a text looks like that should not be here, in words like `a private key`; None where it looks like none.
    `drawn` False: what only looks drawn at random is none, for what may be an idempotency token or a digest.

    Ids, UUIDs, IBANs, business keys, file names, digests that say so and prose are none.
    """
    read = _read(value[:LOOKED_AT])
    for words, pattern in _LOOKS:
        if pattern.search(read):
            return words
    if card_in(read):
        return CARD
    return DRAWN if drawn and looks_drawn(read) else None


def _read(value: str) -> str:
    """A text as people read it: full-width letters are letters, every dash is one, and what nobody sees is not there."""
    if value.isascii():
        return value
    shown = (sign for sign in unicodedata.normalize("NFKC", value) if unicodedata.category(sign) != "Cf")
    return "".join("-" if unicodedata.category(sign) == "Pd" else sign for sign in shown)
