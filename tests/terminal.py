"""Owns a real pseudo-terminal for tests: starts a program in it, reads what it paints, waits on what can be seen."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil

DEADLINE = 30.0
_ESCAPES = re.compile(rb"\x1b\[[0-9;?<>=]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_]")


def without_escapes(output: bytes) -> bytes:
    """What was painted, without what moved the cursor and chose colours."""
    return _ESCAPES.sub(b"", output)


class Terminal:
    """One program in one pseudo-terminal; a context that ends the program it started."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        columns: int = 80,
        lines: int = 24,
        environ: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> None:
        self.master, self._slave = pty.openpty()
        fcntl.ioctl(self._slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.before = termios.tcgetattr(self._slave)
        self.output = b""
        around = {"TERM": "xterm-256color", "HOME": "/nonexistent", "LANG": "C.UTF-8"}
        around |= {name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ}
        self.process = subprocess.Popen(
            command,
            stdin=self._slave,
            stdout=self._slave,
            stderr=self._slave,
            env={**around, **(environ or {})},
            start_new_session=True,
            cwd=cwd,
        )

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *error: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._slave)
        os.close(self.master)

    def type(self, keys: bytes) -> None:
        """Sends keys."""
        os.write(self.master, keys)

    def see(self, words: str, *, since: int = 0) -> None:
        """Waits until `words` were painted, after so many bytes of output."""
        end = time.monotonic() + DEADLINE
        while words not in self.text(since):
            assert time.monotonic() < end, f"never saw {words!r}:\n{self.text()[-3_000:]}"
            self._read(0.2)

    def quiet(self, seconds: float = 0.4) -> None:
        """Waits until nothing was painted for so long: longer than an acting dialog takes no keys (MONEY.md 26)."""
        end = time.monotonic() + DEADLINE
        while self._read(seconds):
            assert time.monotonic() < end, f"paints without end:\n{self.text()[-3_000:]}"

    def waits(self) -> None:
        """Waits until the program sleeps: Python notices a signal that comes just before it reads only at the next key."""
        end = time.monotonic() + DEADLINE
        process = psutil.Process(self.process.pid)
        while process.status() != psutil.STATUS_SLEEPING:
            assert time.monotonic() < end, f"never waits:\n{self.text()[-3_000:]}"
            self._read(0.01)

    def ended(self) -> int:
        """Waits for the end of the program; its exit status."""
        end = time.monotonic() + DEADLINE
        while self.process.poll() is None:
            assert time.monotonic() < end, f"did not end:\n{self.text()[-3_000:]}"
            self._read(0.05)
        while self._read(0.05):
            pass
        return int(self.process.returncode)

    def text(self, since: int = 0) -> str:
        """Everything painted so far, or after so many bytes of it, without escape sequences."""
        return without_escapes(self.output[since:]).decode("utf-8", "replace")

    def restored(self) -> bool:
        """Whether the terminal is as it was before the program: modes, screen and cursor."""
        now: list[Any] = termios.tcgetattr(self._slave)
        last = max(self.output.rfind(b"\x1b[?1049h"), 0)
        return now == self.before and b"\x1b[?1049l" in self.output[last:] and b"\x1b[?25h" in self.output[last:]

    def _read(self, seconds: float) -> bool:
        ready, _, _ = select.select([self.master], [], [], seconds)
        if not ready:
            return False
        try:
            self.output += os.read(self.master, 65_536)
        except OSError:
            return False
        return True
