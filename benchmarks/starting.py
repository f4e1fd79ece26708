"""Owns measuring how soon the console shows something: its first frame, and its first rows from an API beside it."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.figures import Figure
from benchmarks.minimal import READY
from benchmarks.screen import cursor_of, opened
from benchmarks.terminal import Frame, terminal

PART = "console"
ROUNDS = 9
FIRST_WORDS = ("default", "starting", "commands", "help")
"""Top line and key line of the first frame."""


def measure(url: str, token: str) -> Iterator[Figure]:
    """First frame and first rows, each beside the first frame of a minimal app."""
    frames, rows, peers = [], [], []
    for turn in range(ROUNDS + 1):  # the first one warms the file system's cache
        peer = _minimal()
        frame, row = _console(url, token)
        if turn:
            peers.append(peer)
            frames.append(frame)
            rows.append(row)
    yield Figure(
        part=PART,
        what="start to the first frame, with top line and keys",
        unit="ms",
        rounds=tuple(frames),
        peer="a minimal Textual app",
        peer_rounds=tuple(peers),
        at_most=1.25,
    )
    yield Figure(
        part=PART,
        what="start to the first rows, from an API on the same machine",
        unit="ms",
        rounds=tuple(rows),
        peer="a minimal Textual app's first frame",
        peer_rounds=tuple(peers),
        at_most=2.5,
    )


def _minimal() -> float:
    with terminal("benchmarks.minimal") as screen:
        frame = _needed(screen.shows(lambda frame: READY in frame.text, seconds=30))
        return (frame.at - screen.began) * 1000


def _console(url: str, token: str) -> tuple[float, float]:
    with opened("jobconsole", url, token) as screen:
        first = _needed(screen.shows(lambda frame: all(word in frame.text for word in FIRST_WORDS), seconds=30))
        rows = _needed(screen.shows(lambda frame: cursor_of(frame.text) is not None, seconds=30))
        return (first.at - screen.began) * 1000, (rows.at - screen.began) * 1000


def _needed(frame: Frame | None) -> Frame:
    if frame is None:
        raise RuntimeError("the frame that is measured never came")
    return frame
