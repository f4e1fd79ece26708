"""Owns the file of public keys: what the Worker knows of the key ring, to tell a confirmation from a row written past
the API (MONEY.md 19).

`{"keys": {id: base64 of 32 bytes}}`. Holds nothing secret; nobody but its owner may change it.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import stat
from pathlib import Path

from jobservice.rules.keys import PublicKeys
from jobservice.settings import PUBLIC_KEYS, StartRefused

PUBLIC_KEY_BYTES = 32
_MAKE = "Write it with: jobservice keyring public --out FILE."


def public_text(keys: PublicKeys) -> str:
    """The file's text."""
    encoded = {key_id: base64.b64encode(key).decode("ascii") for key_id, key in sorted(keys.keys.items())}
    return json.dumps({"keys": encoded}, indent=2) + "\n"


def write_public_keys(keys: PublicKeys, file: Path) -> None:
    """Put the file in place of what is there, at once and whole; 0644. StartRefused where it cannot be written."""
    fresh = file.with_name(f".{file.name}.new")
    try:
        fresh.unlink(missing_ok=True)
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        with os.fdopen(descriptor, "w", encoding="ascii") as writing:
            os.fchmod(writing.fileno(), 0o644)  # whatever the umask: the Worker may be another user
            writing.write(public_text(keys))
        fresh.replace(file)
    except OSError as error:
        raise StartRefused(
            f"{file} cannot be written: {error.strerror}. Name a file in a folder that exists."
        ) from error


def read_public_keys(file: Path) -> PublicKeys:
    """The public keys; StartRefused where the file is missing, can be changed by others, or is not such a file."""
    try:
        found = file.stat()
        if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            raise StartRefused(f"{file} can be changed by others. Run: chmod go-w {file}")
        text = file.read_text("ascii")
    except OSError as error:
        raise StartRefused(f"{file} ({PUBLIC_KEYS}) cannot be read: {error.strerror}. {_MAKE}") from error
    except UnicodeDecodeError:
        raise StartRefused(f"{file} ({PUBLIC_KEYS}) is not a file of public keys. {_MAKE}") from None
    keys = _parsed(text)
    if keys is None:
        raise StartRefused(f"{file} ({PUBLIC_KEYS}) is not a file of public keys. {_MAKE}")
    return keys


def _parsed(text: str) -> PublicKeys | None:
    try:
        found = json.loads(text)["keys"]
        keys = {str(key_id): base64.b64decode(key, validate=True) for key_id, key in found.items()}
    except (ValueError, KeyError, TypeError, AttributeError, binascii.Error):
        return None
    if not keys or any(len(key) != PUBLIC_KEY_BYTES for key in keys.values()):
        return None
    return PublicKeys(keys=keys)
