"""Owns a raw pseudo-terminal that knows when a frame is complete: a program runs in it, keys go in, times come out.

It answers the one question that matters for timing, whether the terminal takes synchronised output (DECRQM 2026): then
Textual wraps each frame in marks, and the end of one is an exact byte and no guess from silence. It emulates nothing:
an emulator in the same process would be part of what is measured.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchmarks.ground import ROOT
from benchmarks.processes import environ

QUESTION, ANSWER = b"\x1b[?2026$p", b"\x1b[?2026;2$y"
FRAME_ENDS = b"\x1b[?2026l"
_ESCAPES = re.compile(rb"\x1b\[[0-9;?<>=]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-_]")
PATIENCE = 30.0


@dataclass(frozen=True, slots=True)
class Frame:
    """One complete frame: when its last byte was read, and its bytes."""

    at: float
    painted: bytes

    @property
    def text(self) -> str:
        """What it paints, without escape sequences."""
        return plain(self.painted)


def plain(painted: bytes) -> str:
    """The text of painted bytes; a blank where the cursor went somewhere else."""
    return _ESCAPES.sub(b" ", painted).decode("utf-8", "replace")


class Terminal:
    """One program in one terminal. Times are seconds of `time.perf_counter`."""

    def __init__(self, process: subprocess.Popen[bytes], master: int, began: float) -> None:
        self.process = process
        self.began = began
        self.frames: list[Frame] = []
        self._master = master
        self._open = bytearray()
        self._all = bytearray()
        self._answered = False

    @property
    def watched(self) -> psutil.Process:
        """The program, for its processor time and memory."""
        return psutil.Process(self.process.pid)

    def type(self, keys: bytes) -> float:
        """Send keys; when."""
        at = time.perf_counter()
        os.write(self._master, keys)
        return at

    def pump(self, seconds: float) -> bool:
        """Read what is there, waiting so long for it; whether anything came."""
        ready, _, _ = select.select([self._master], [], [], max(0.0, seconds))
        if not ready:
            return False
        try:
            some = os.read(self._master, 1 << 16)
        except OSError:
            return False
        self._take(some, time.perf_counter())
        return bool(some)

    def settle(self, quiet: float = 0.15, seconds: float = PATIENCE) -> None:
        """Wait until nothing was painted for `quiet` seconds."""
        until = time.perf_counter() + seconds
        while time.perf_counter() < until and self.pump(quiet):
            pass

    def watch(self, seconds: float) -> None:
        """Read for some seconds, whatever comes."""
        until = time.perf_counter() + seconds
        while (left := until - time.perf_counter()) > 0:
            self.pump(left)

    def appears(self, *words: str, seconds: float = PATIENCE) -> float:
        """Wait until all of the words were painted, frame marks or not; when. RuntimeError after `seconds`."""
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            text = plain(bytes(self._all))
            if all(word in text for word in words):
                return time.perf_counter()
            self.pump(0.2)
        raise RuntimeError(f"never painted {words}; the last of it:\n{plain(bytes(self._all))[-1500:]}")

    def forget(self) -> None:
        """Let go of what was painted so far."""
        self.frames.clear()
        self._all.clear()

    def shows(self, wanted: Callable[[Frame], bool], *, seconds: float = 5.0) -> Frame | None:
        """The first frame from now on that is what is wanted; None where none comes."""
        seen, until = len(self.frames), time.perf_counter() + seconds
        while True:
            for frame in self.frames[seen:]:
                if wanted(frame):
                    return frame
            seen = len(self.frames)
            if (left := until - time.perf_counter()) <= 0:
                return None
            self.pump(left)

    def _take(self, some: bytes, at: float) -> None:
        self._all += some
        self._open += some
        if not self._answered and QUESTION in self._open:
            self._answered = True
            os.write(self._master, ANSWER)
        while (end := self._open.find(FRAME_ENDS)) >= 0:
            self.frames.append(Frame(at, bytes(self._open[:end])))
            del self._open[: end + len(FRAME_ENDS)]


@contextmanager
def terminal(
    module: str,
    *arguments: str,
    columns: int = 120,
    lines: int = 40,
    environment: Mapping[str, str] | None = None,
) -> Iterator[Terminal]:
    """A module of the repository, run in a terminal of that size until the block ends."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=ROOT,
        env=_environment(environment or {}),
        start_new_session=True,
    )
    os.close(slave)
    opened = Terminal(process, master, began)
    try:
        yield opened
    finally:
        _end(process, opened)
        os.close(master)


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    unwanted = ("NO_COLOR", "TMUX", "COLUMNS", "LINES", "TEXTUAL")
    kept = {name: value for name, value in environ({}).items() if not name.startswith(unwanted)}
    return {**kept, "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8", **more}


def _end(process: subprocess.Popen[bytes], opened: Terminal) -> None:
    if process.poll() is None:
        process.terminate()
    until = time.perf_counter() + 5.0
    while process.poll() is None and time.perf_counter() < until:
        opened.pump(0.05)  # a program that ends still paints, and waits for whoever reads
    if process.poll() is None:
        process.kill()
    process.wait()


def memory(process: psutil.Process) -> float:
    """MiB of a process that are its own: proportional set size where the system tells, else resident set size."""
    rollup = Path(f"/proc/{process.pid}/smaps_rollup")
    try:
        lines = rollup.read_text("ascii").splitlines()
    except OSError:
        return float(process.memory_info().rss) / 2**20
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def processor(process: psutil.Process) -> float:
    """Seconds of processor time that a process has used so far."""
    times = process.cpu_times()
    return float(times.user + times.system)


def fresh(samples: Sequence[float]) -> Sequence[float]:
    """The samples without the first few: a program's first keys fill its caches."""
    return samples[5:]
