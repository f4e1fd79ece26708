"""Owns the console with a probe in it: how long its message loop was not served. Run as `python -m benchmarks.probe`.

The probe wakes every few milliseconds and keeps by how much it was late, in wall time and in processor time of the
loop's thread: what another process held the core for is in the first alone. At SIGUSR1 it writes what it kept since
the last one to the file that JOBS_BENCHMARK_PROBE names.
"""

from __future__ import annotations

import gc

gc.disable()  # as the console's own start

import asyncio  # noqa: E402  after gc.disable, as every import below
import json  # noqa: E402  likewise
import os  # noqa: E402  likewise
import signal  # noqa: E402  likewise
import time  # noqa: E402  likewise
from pathlib import Path  # noqa: E402  likewise

from jobconsole import opening  # noqa: E402  likewise
from jobconsole.app import Console  # noqa: E402  likewise

FILE = "JOBS_BENCHMARK_PROBE"
EVERY = 0.005


class Probed(Console):
    """The console, watched."""

    def on_mount(self) -> None:
        """Begin to watch."""
        self._late: list[tuple[float, float]] = []
        self._watching = asyncio.create_task(self._watch())
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, self._write)

    async def _watch(self) -> None:
        while True:
            wall, used = time.perf_counter(), time.thread_time()
            await asyncio.sleep(EVERY)
            late = time.perf_counter() - wall - EVERY
            self._late.append((late * 1000, (time.thread_time() - used) * 1000))

    def _write(self) -> None:
        late, self._late = self._late, []
        file = Path(os.environ[FILE])
        fresh = file.with_suffix(".new")
        fresh.write_text(
            json.dumps(
                {"wakes": len(late), "late": max(each[0] for each in late), "used": max(each[1] for each in late)}
            ),
            "utf-8",
        )
        fresh.replace(file)


def main() -> None:
    """Open the console as `jobconsole` does, watched."""
    vars(opening)["Console"] = Probed
    opening.open_console(None)


if __name__ == "__main__":
    main()
