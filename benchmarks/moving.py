"""Owns measuring the console while it is used: keys over a million rows, changes under it, its loop, its memory."""

from __future__ import annotations

import json
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks import processes
from benchmarks.figures import Figure, p95
from benchmarks.ground import LARGE, TENANT, Ground
from benchmarks.probe import FILE
from benchmarks.screen import beside_cursor, cursor_of, opened
from benchmarks.terminal import Frame, Terminal, fresh, memory, processor, terminal
from examples.payments.items import PAYOUTS
from jobservice.bootstrap.dev import OWNER

PART = "console"
ROUNDS, KEYS = 5, 60
HINTS, CHANGES = 500, 2_000
STRETCH = 6.0
DOWN, UP, PAGE_DOWN, HOME, END = b"\x1b[B", b"\x1b[A", b"\x1b[6~", b"\x1b[H", b"\x1b[F"
LOOP_MOST = 50.0


@dataclass(slots=True)
class Pressed:
    """What one round of keys took, in milliseconds: until the cursor's row stood, until the detail did."""

    row: list[float] = field(default_factory=list)
    detail: list[float] = field(default_factory=list)
    used: list[float] = field(default_factory=list)
    """Processor time of the program, a key."""


@dataclass(slots=True)
class Rounds:
    """What was found, round by round."""

    quiet: list[float] = field(default_factory=list)
    detail: list[float] = field(default_factory=list)
    table: list[float] = field(default_factory=list)
    hints: list[float] = field(default_factory=list)
    used_for_key: list[float] = field(default_factory=list)
    used_by_table: list[float] = field(default_factory=list)
    used: list[float] = field(default_factory=list)
    made: list[float] = field(default_factory=list)
    blocks: dict[str, tuple[float, float]] = field(default_factory=dict)


def measure(ground: Ground, url: str, token: str) -> Iterator[Figure]:
    """Every figure of the console in use."""
    found = Rounds()
    with (
        tempfile.TemporaryDirectory() as folder,
        opened("benchmarks.probe", url, token, {FILE: str(Path(folder) / "late.json")}) as console,
        terminal("benchmarks.minimal", "table") as table,
        processes.program("benchmarks.changes", (), processes.environ({})) as changer,
    ):
        late = Path(folder) / "late.json"
        console.shows(lambda frame: cursor_of(frame.text) is not None, seconds=30)
        console.settle(0.5)
        table.settle(0.5)
        found.blocks["opening"] = _blocked(console, late)
        for _ in range(ROUNDS):
            pressed = _keys(console)
            found.quiet.append(p95(fresh(pressed.row)))
            found.detail.append(p95(fresh(pressed.detail)))
            found.used_for_key += pressed.used
            beside = _table_keys(table)
            found.table.append(p95(fresh(beside.row)))
            found.used_by_table += beside.used
        found.blocks["keys"] = _blocked(console, late)
        for _ in range(ROUNDS):
            _ask(changer, ground, HINTS, STRETCH)
            found.hints.append(p95(fresh(_keys(console, seconds=STRETCH * 0.8).row)))
            processes.said(changer)
            console.settle(0.3, seconds=2)
        found.blocks[f"keys under {HINTS} hints a second"] = _blocked(console, late)
        for _ in range(ROUNDS):
            used, made = _watched(console, changer, ground)
            found.used.append(used)
            found.made.append(made)
        found.blocks[f"{CHANGES:,} changes a second"] = _blocked(console, late)
        yield from _figures(found, ground.rows)
        yield _memory(console, ground.rows)
        yield from _blocks(found)


def _figures(found: Rounds, rows: int) -> Iterator[Figure]:
    quiet, table = tuple(found.quiet), tuple(found.table)
    what = f"cursor key to paint, detail and key line live, {rows:,} rows: p95"
    yield Figure(part=PART, what=what, unit="ms", rounds=quiet, at_most=16)
    yield Figure(
        part=PART,
        what=what,
        unit="ms",
        rounds=quiet,
        peer="DataTable with 1,000 rows alone",
        peer_rounds=table,
        at_most=0.6,
    )
    yield Figure(
        part=PART,
        what="processor time for one such key, what follows it included",
        unit="ms",
        rounds=tuple(found.used_for_key),
        peer="DataTable with 1,000 rows alone",
        peer_rounds=tuple(found.used_by_table),
    )
    yield Figure(
        part=PART, what="the same key until the detail shows the row: p95", unit="ms", rounds=tuple(found.detail)
    )
    yield Figure(part=PART, what=f"{what}, {HINTS} hints a second", unit="ms", rounds=tuple(found.hints), at_most=50)
    yield Figure(
        part=PART,
        what=f"{CHANGES:,} changes a second in the database: the console's share of a core",
        unit="%",
        rounds=tuple(found.used),
        at_most=20,
        note=f"{sum(found.made) / len(found.made):,.0f} a second were made",
    )


def _blocks(found: Rounds) -> Iterator[Figure]:
    for when, (wall, used) in found.blocks.items():
        yield Figure(
            part=PART,
            what=f"longest block of the message loop, {when}",
            unit="ms",
            rounds=(wall,),
            at_most=LOOP_MOST,
            note=f"the loop itself worked {used:.0f} ms at most",
        )


def _keys(console: Terminal, seconds: float = 60.0) -> Pressed:
    """Down so often, from the top: within the screen, then scrolling, then over the end of a page."""
    console.type(HOME)
    console.settle(0.2, seconds=2)
    pressed, until = Pressed(), time.perf_counter() + seconds
    before, many = processor(console.watched), 0
    while many < KEYS and time.perf_counter() < until:
        console.settle(0.03, seconds=0.3)
        console.forget()
        at = console.type(DOWN)
        row = console.shows(lambda frame: cursor_of(frame.text) is not None, seconds=2)
        if row is None:
            raise RuntimeError("a cursor key was not followed by a frame with the cursor")
        pressed.row.append((row.at - at) * 1000)
        detail = _detail(console, str(cursor_of(row.text)))
        if detail is not None:
            pressed.detail.append((detail.at - at) * 1000)
        many += 1
    console.settle(0.3, seconds=2)
    pressed.used.append((processor(console.watched) - before) / many * 1000)
    return pressed


def _detail(console: Terminal, number: str) -> Frame | None:
    for frame in console.frames:
        if beside_cursor(frame.text, number):
            return frame
    return console.shows(lambda frame: beside_cursor(frame.text, number), seconds=0.5)


def _table_keys(table: Terminal) -> Pressed:
    table.type(HOME)
    table.settle(0.2, seconds=2)
    pressed, before = Pressed(), processor(table.watched)
    for _ in range(KEYS):
        table.settle(0.03, seconds=0.3)
        table.forget()
        at = table.type(DOWN)
        frame = table.shows(lambda _frame: True, seconds=2)
        if frame is None:
            raise RuntimeError("a cursor key was not followed by a frame of the DataTable")
        pressed.row.append((frame.at - at) * 1000)
    table.settle(0.3, seconds=2)
    pressed.used.append((processor(table.watched) - before) / KEYS * 1000)
    return pressed


def _watched(console: Terminal, changer: subprocess.Popen[str], ground: Ground) -> tuple[float, float]:
    """Percent of a core that the console used while things changed, and changes a second."""
    _ask(changer, ground, CHANGES, STRETCH)
    console.watch(0.5)
    used, began = processor(console.watched), time.perf_counter()
    console.watch(STRETCH - 1.0)
    share = (processor(console.watched) - used) / (time.perf_counter() - began) * 100
    done = processes.said(changer)
    console.settle(0.3, seconds=2)
    console.forget()
    return share, float(str(done["changes"])) / float(str(done["seconds"]))


def _ask(changer: subprocess.Popen[str], ground: Ground, rate: int, seconds: float) -> None:
    asked = {
        "url": ground.url(OWNER, LARGE),
        "tenant": TENANT,
        "queue": PAYOUTS,
        "rate": rate,
        "seconds": seconds,
    }
    assert changer.stdin is not None  # noqa: S101  # it was started with pipes
    changer.stdin.write(json.dumps(asked) + "\n")
    changer.stdin.flush()
    processes.said(changer)


def _memory(console: Terminal, rows: int) -> Figure:
    """After much scrolling, the end and the beginning."""
    for keys in (*[PAGE_DOWN] * 60, END, *[UP] * 10, HOME, DOWN):
        console.type(keys)
        console.settle(0.05, seconds=0.5)
    console.settle(0.5, seconds=5)
    with terminal("benchmarks.minimal") as minimal:
        minimal.settle(0.5)
        least = memory(minimal.watched)
    return Figure(
        part=PART,
        what=f"memory with {rows:,} rows open, after sixty pages, the end and the beginning",
        unit="MiB",
        rounds=(memory(console.watched),),
        peer="a minimal Textual app",
        peer_rounds=(least,),
        above=True,
        at_most=40,
    )


def _blocked(console: Terminal, late: Path) -> tuple[float, float]:
    """Since the last look, in milliseconds: the longest block, and the longest stretch that the loop itself worked."""
    late.unlink(missing_ok=True)
    console.watched.send_signal(signal.SIGUSR1)
    until = time.perf_counter() + 10
    while not late.exists():
        if time.perf_counter() > until:
            raise RuntimeError("the probe did not say how late it was")
        console.pump(0.05)
    found = json.loads(late.read_text("utf-8"))
    return float(found["late"]), float(found["used"])
