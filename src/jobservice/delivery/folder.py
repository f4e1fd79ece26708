"""Owns delivering into a folder: one .eml a letter, which only the Worker's user may read. For demos and for trying."""

from __future__ import annotations

import asyncio
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from jobservice.delivery.letters import Letter, NotDelivered
from jobservice.delivery.mail import address, mail

SENDER = "jobs@localhost"


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A folder, made with mode 0700 where there is none; the one above it has to be there."""

    path: Path

    async def deliver(self, letter: Letter) -> None:
        """Write the letter as `ID.eml`, whole or not at all; a repetition replaces it."""
        receiver = address(letter.address)
        if receiver is None:
            raise NotDelivered("The person's contact is no e-mail address.", for_good=True)
        content = mail(letter, sender=SENDER, receiver=receiver).as_bytes()
        try:
            await asyncio.to_thread(self._write, f"{letter.id}.eml", content)
        except OSError as error:
            raise NotDelivered(f"The letter cannot be written into {self.path}: {error.strerror}.") from error

    def _write(self, name: str, content: bytes) -> None:
        self.path.mkdir(mode=0o700, exist_ok=True)
        descriptor, partial = tempfile.mkstemp(dir=self.path, prefix=".", suffix=".partial")  # 0600
        try:
            with open(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(descriptor)
            os.replace(partial, self.path / name)
        except BaseException:  # however writing ends, a cancellation too, no half-written letter stays
            with suppress(OSError):
                os.unlink(partial)
            raise
