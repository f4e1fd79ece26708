"""Owns the key ring: a folder of key files that only the API process and the server's own commands read.

Checked at start: folder 0700, files 0600, all of this user. Never logs or shows a key; the Worker never opens it.
"""

from __future__ import annotations

import os
import secrets
import stat
from pathlib import Path

from jobservice.settings import KEYRING, StartRefused

SIGNING_KEY = "signing.key"
"""Signs listing cursors and digests request bodies."""
KEY_BYTES = 32


def make_keyring(folder: Path) -> None:
    """Make the folder and the keys that are missing in it; what is there stays."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        file = os.open(folder / SIGNING_KEY, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    with os.fdopen(file, "wb") as writing:
        writing.write(secrets.token_bytes(KEY_BYTES))


def read_signing_key(folder: Path) -> bytes:
    """The signing key; StartRefused where the ring is missing, open to others, or its key too short."""
    check_keyring(folder)
    file = folder / SIGNING_KEY
    if not file.exists():
        raise StartRefused(f"{file} is missing. Make the keys with: jobservice keyring init.")
    key = file.read_bytes()
    if len(key) < KEY_BYTES:
        raise StartRefused(
            f"{file} holds {len(key)} bytes and needs {KEY_BYTES}. Restore it, or remove it and run: jobservice keyring init."
        )
    return key


def check_keyring(folder: Path) -> None:
    """StartRefused with one sentence for everything in the ring that others could read or change."""
    if not folder.is_dir():
        raise StartRefused(f"{folder} ({KEYRING}) is not a folder. Make it with: jobservice keyring init.")
    wrong = [_wrong(folder, 0o700), *(_wrong(file, 0o600) for file in sorted(folder.iterdir()))]
    sentences = [sentence for sentence in wrong if sentence is not None]
    if sentences:
        raise StartRefused(*sentences)


def _wrong(path: Path, mode: int) -> str | None:
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        return f"{path} is a link; the key ring holds plain files only."
    if found.st_uid != os.geteuid():
        return f"{path} belongs to another user. Give it to the user that runs the service."
    if stat.S_IMODE(found.st_mode) & ~mode:
        return f"{path} is open to others ({stat.S_IMODE(found.st_mode):04o}). Run: chmod {mode:o} {path}"
    return None
