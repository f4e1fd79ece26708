"""How a Worker process is told to stop, and how it is replaced: with real signals and a real exec, in processes of their
own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

STOPS = """
import asyncio, sys, time
from jobservice.bootstrap.stopping import stop_signals

async def main():
    stopping = stop_signals(until_stdin_closes="stdin" in sys.argv)
    print("ready", flush=True)
    if "blocked" in sys.argv:
        while not stopping.asked:
            time.sleep(0.01)
        print("asked", stopping.begun.is_set(), flush=True)
    await stopping.begun.wait()
    print("begun", stopping.at_once.is_set(), flush=True)
    if "twice" in sys.argv:
        await stopping.at_once.wait()
        print("at once", flush=True)

asyncio.run(main())
"""
REPLACES = """
import os, sys, threading, time
from jobservice.worker.watchdog import replace_process

first = not os.path.exists(sys.argv[1])
print("ready", os.getpid(), *sys.argv[2:], flush=True)
if first:
    open(sys.argv[1], "w").close()
    threading.Thread(target=replace_process).start()
    time.sleep(30)  # as a loop that does not turn
print("read", sys.stdin.readline().strip(), flush=True)
"""


@contextmanager
def program(source: str, *words: str) -> Iterator[subprocess.Popen[str]]:
    """A process that runs it; killed where it does not end."""
    running = subprocess.Popen(
        [sys.executable, "-c", source, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield running
    finally:
        running.kill()
        running.communicate()


def line(running: subprocess.Popen[str]) -> str:
    """The next line it says."""
    assert running.stdout is not None
    return running.stdout.readline().strip()


@pytest.mark.requirement("stop-jobs-during-graceful-shutdown")
def test_a_first_signal_begins_the_end_and_a_second_one_hurries_it() -> None:
    with program(STOPS, "twice") as running:
        assert line(running) == "ready"
        running.send_signal(signal.SIGTERM)
        assert line(running) == "begun False"
        running.send_signal(signal.SIGTERM)
        assert line(running) == "at once"
        assert running.wait(10) == 0


def test_a_signal_is_heard_while_the_event_loop_does_not_turn() -> None:
    with program(STOPS, "blocked") as running:
        assert line(running) == "ready"
        running.send_signal(signal.SIGTERM)
        assert line(running) == "asked False"
        assert line(running) == "begun False"


def test_the_end_of_standard_input_is_a_first_word_and_the_signal_after_it_no_second() -> None:
    with program(STOPS, "stdin") as running:
        assert line(running) == "ready"
        assert running.stdin is not None
        running.stdin.close()
        assert line(running) == "begun False"
        assert running.wait(10) == 0
        running.stdin = None


@pytest.mark.requirement("bound-job-duration")
def test_a_process_is_replaced_in_its_place_from_a_thread(tmp_path: os.PathLike[str]) -> None:
    """The same process for whoever started it: number, arguments, standard files."""
    with program(REPLACES, os.path.join(tmp_path, "once"), "--set", "worker.grace=PT5S") as running:
        first, second = line(running), line(running)
        assert first == second == f"ready {running.pid} --set worker.grace=PT5S"
        assert running.stdin is not None
        running.stdin.write("still heard\n")
        running.stdin.flush()
        assert line(running) == "read still heard"
        assert running.wait(10) == 0
