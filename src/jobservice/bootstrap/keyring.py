"""Owns the key ring: a folder of key files that only the API process and the server's own commands read.

    signing.key        signs listing cursors, digests request bodies
    seal-<id>.key      seals the secrets of phones (AES-256-GCM)
    sign-<id>.key      signs confirmations (Ed25519 seed)
      (id: a rising number and a random end, like 0002-9f31c4; the highest number is the current one)

Checked at start: folder 0700, files 0600, all of this user. Never logs or shows a key; the Worker never opens it.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path

from jobservice.rules.keys import Keys
from jobservice.settings import KEYRING, StartRefused

SIGNING_KEY = "signing.key"
"""Signs listing cursors and digests request bodies."""
KEY_BYTES = 32
SEAL, SIGN = "seal", "sign"
_FORM = re.compile(r"(seal|sign)-([0-9]{4,9}-[0-9a-f]{6})\.key", re.ASCII)


def make_keyring(folder: Path) -> None:
    """Make the folder and the keys that are missing in it; what is there stays."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _add(folder / SIGNING_KEY)
    for kind in (SEAL, SIGN):
        if not _names(folder)[kind]:
            _add(folder / f"{kind}-{_next_id(())}.key")


def add_keys(folder: Path) -> Keys:
    """Make a new key that seals and a new one that signs, which are then the current ones; all keys of the ring."""
    check_keyring(folder)
    for kind in (SEAL, SIGN):
        _add(folder / f"{kind}-{_next_id(_names(folder)[kind])}.key")
    return read_keys(folder)


def read_keys(folder: Path) -> Keys:
    """The keys that seal and sign; StartRefused where the ring is missing, open to others, or a key is not whole."""
    check_keyring(folder)
    read = {
        kind: {key_id: _read(folder / f"{kind}-{key_id}.key") for key_id in _names(folder)[kind]}
        for kind in (SEAL, SIGN)
    }
    for kind, purpose in ((SEAL, "seals the secrets of phones"), (SIGN, "signs confirmations")):
        if not read[kind]:
            raise StartRefused(
                f"{folder} ({KEYRING}) has no key that {purpose}. Make what is missing with: jobservice keyring init."
            )
    return Keys(
        seal_keys=read[SEAL],
        current_seal=max(read[SEAL], key=_place),
        sign_keys=read[SIGN],
        current_sign=max(read[SIGN], key=_place),
    )


def split_name(name: str) -> tuple[str, str] | None:
    """Kind (`seal` or `sign`) and id of a key's name, with or without `.key`; None where it is no such name."""
    found = _FORM.fullmatch(name if name.endswith(".key") else f"{name}.key")
    return None if found is None else (found[1], found[2])


def remove_key(folder: Path, kind: str, key_id: str) -> None:
    """Remove one key for ever; whoever calls has made sure that nothing needs it."""
    (folder / f"{kind}-{key_id}.key").unlink()


def read_signing_key(folder: Path) -> bytes:
    """The signing key; StartRefused where the ring is missing, open to others, or its key too short."""
    check_keyring(folder)
    file = folder / SIGNING_KEY
    if not file.exists():
        raise StartRefused(f"{file} is missing. Make the keys with: jobservice keyring init.")
    return _read(file)


def check_keyring(folder: Path) -> None:
    """StartRefused with one sentence for everything in the ring that others could read or change."""
    if not folder.is_dir():
        raise StartRefused(f"{folder} ({KEYRING}) is not a folder. Make it with: jobservice keyring init.")
    wrong = [open_to_others(folder, 0o700), *(open_to_others(file, 0o600) for file in sorted(folder.iterdir()))]
    sentences = [sentence for sentence in wrong if sentence is not None]
    if sentences:
        raise StartRefused(*sentences)


def _names(folder: Path) -> Mapping[str, tuple[str, ...]]:
    """The ids of the keys by kind, oldest first."""
    found = [match for file in folder.iterdir() if (match := _FORM.fullmatch(file.name)) is not None]
    return {kind: tuple(sorted((match[2] for match in found if match[1] == kind), key=_place)) for kind in (SEAL, SIGN)}


def _place(key_id: str) -> tuple[int, str]:
    return int(key_id.partition("-")[0]), key_id


def _next_id(there: tuple[str, ...]) -> str:
    # The random end: a ring that was lost and made anew has no key by the name of an old one.
    number = _place(there[-1])[0] + 1 if there else 1
    return f"{number:04d}-{secrets.token_hex(3)}"


def _add(file: Path) -> None:
    """Make a key file, unless there is one of that name."""
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return
    with os.fdopen(descriptor, "wb") as writing:
        writing.write(secrets.token_bytes(KEY_BYTES))
        writing.flush()
        os.fsync(writing.fileno())


def _read(file: Path) -> bytes:
    key = file.read_bytes()
    if len(key) < KEY_BYTES or (len(key) != KEY_BYTES and file.name != SIGNING_KEY):
        raise StartRefused(
            f"{file} holds {len(key)} bytes and needs {KEY_BYTES}. Restore it, or remove it and run: jobservice keyring init."
        )
    return key


def open_to_others(path: Path, mode: int) -> str | None:
    """A sentence where a file or folder is a link, not this user's, or open beyond `mode`; None where it is closed."""
    found = path.lstat()
    if stat.S_ISLNK(found.st_mode):
        return f"{path} is a link; only plain files may lie there."
    if found.st_uid != os.geteuid():
        return f"{path} belongs to another user. Give it to the user that runs the service."
    if stat.S_IMODE(found.st_mode) & ~mode:
        return f"{path} is open to others ({stat.S_IMODE(found.st_mode):04o}). Run: chmod {mode:o} {path}"
    return None
