"""Owns writing a file that a person asked for: a new name in a folder of theirs, readable by them alone. Never
overwrites, never follows a link, never takes a path from the service.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

NAMES_MOST = 1_000
"""Names that are tried before it is said that there are too many."""
_UNFIT = re.compile(r"[^a-z0-9-]+")


class ExportError(Exception):
    """The file could not be written; the text says why and what to do."""


def write_new(folder: Path, stem: str, suffix: str, content: bytes) -> Path:
    """Write `content` to `STEM.SUFFIX` in `folder`, or to `STEM-2.SUFFIX` and so on; the path that it has.

    `stem` may come from the service: what is no small letter, digit or hyphen is taken out of it.
    """
    fit = _UNFIT.sub("", stem.lower()).strip("-")[:60] or "export"
    for number in range(1, NAMES_MOST + 1):
        path = folder / f"{fit}{'' if number == 1 else f'-{number}'}.{suffix}"
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
        except FileExistsError:
            continue
        except OSError as error:
            raise ExportError(f"{path} cannot be written: {error.strerror or error}. Start elsewhere.") from None
        _fill(handle, path, content)
        return path
    raise ExportError(f"{folder} holds {NAMES_MOST:,} files named {fit} already: move some away.")


def write_at(path: Path, content: bytes) -> None:
    """Write `content` to exactly `path`, which must be a new name; the file is its maker's alone (0600)."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except FileExistsError:
        raise ExportError(f"{path} is there already, and nothing is overwritten. Name a new file.") from None
    except OSError as error:
        raise ExportError(f"{path} cannot be written: {error.strerror or error}.") from None
    _fill(handle, path, content)


def _fill(handle: int, path: Path, content: bytes) -> None:
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        path.unlink(missing_ok=True)
        raise ExportError(f"{path} cannot be written whole: {error.strerror or error}.") from None
