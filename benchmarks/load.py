"""Owns the load: one process, some connections that are kept, each sends its next request when the answer has come.

Run as a program of its own, so that it does not share an interpreter with what it measures. It takes a JSON line
`{"port", "seconds", "connections": [[request, ...], ...]}` on standard input for each burst and answers with one:
`{"answers", "seconds", "bytes", "failed"}`. A connection sends its requests in turn, and over again.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import cycle

from benchmarks.processes import said


@dataclass(frozen=True, slots=True, kw_only=True)
class Burst:
    """What came of sending for some seconds."""

    answers: int
    seconds: float
    bytes: int
    failed: int
    """Answers that were not 200."""
    bodies: tuple[str, ...] = ()

    @property
    def rate(self) -> float:
        """Answers a second; RuntimeError where one was a failure: then it is not what was to be measured."""
        if self.failed or not self.answers:
            raise RuntimeError(f"{self.failed} of {self.answers} answers were not 200")
        return self.answers / self.seconds


def request(method: str, path: str, token: str, body: bytes = b"", **headers: str) -> str:
    """One HTTP/1.1 request, ready to be sent."""
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {token}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, "", body.decode()])


def burst(
    process: subprocess.Popen[str],
    port: int,
    seconds: float,
    connections: Sequence[Sequence[str]],
    *,
    once: bool = False,
    keep: bool = False,
) -> Burst:
    """Let the load's process send. `once`: each request is sent once at most; `keep`: bodies come back, too."""
    asked = {"port": port, "seconds": seconds, "connections": connections, "once": once, "keep": keep}
    assert process.stdin is not None  # noqa: S101  # it was started with pipes
    process.stdin.write(json.dumps(asked) + "\n")
    process.stdin.flush()
    answer = said(process)
    return Burst(**answer)  # type: ignore[arg-type]  # the members that `_serve` below writes


@dataclass(slots=True)
class _Count:
    answers: int = 0
    bytes: int = 0
    failed: int = 0
    bodies: list[str] = field(default_factory=list)


async def _send(port: int, requests: Sequence[str], until: float, count: _Count, *, once: bool, keep: bool) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 20)
    try:
        for text in map(str.encode, requests if once else cycle(requests)):
            if time.perf_counter() >= until:
                return
            writer.write(text)
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n", 1)[0])
            body = await reader.readexactly(length)
            count.answers += 1
            count.bytes += length
            count.failed += not head.startswith(b"HTTP/1.1 200")
            if keep:
                count.bodies.append(body.decode())
    finally:
        writer.close()


async def _burst(asked: dict[str, object]) -> dict[str, object]:
    count, began = _Count(), time.perf_counter()
    connections, seconds = asked["connections"], asked["seconds"]
    assert isinstance(connections, list)  # noqa: S101  # what `burst` above wrote
    assert isinstance(seconds, int | float)  # noqa: S101  # likewise
    once, keep = bool(asked["once"]), bool(asked["keep"])
    await asyncio.gather(
        *(
            _send(int(str(asked["port"])), requests, began + seconds, count, once=once, keep=keep)
            for requests in connections
        )
    )
    took = time.perf_counter() - began
    return {
        "answers": count.answers,
        "seconds": took,
        "bytes": count.bytes,
        "failed": count.failed,
        "bodies": count.bodies,
    }


def main() -> None:
    """Send what each line of standard input asks for, until it ends."""
    for line in sys.stdin:
        answer = asyncio.run(_burst(json.loads(line)))
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
