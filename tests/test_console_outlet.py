"""A terminal that hung up stops no painting for good: the console must still be able to end, with all its threads."""

from __future__ import annotations

import io
import os
import signal
import sys
from pathlib import Path
from threading import Thread

import pytest
from textual.drivers._writer_thread import MAX_QUEUED_WRITES, WriterThread

from jobconsole.outlet import Outlet
from tests.terminal import DEADLINE, Terminal

PAINTING = """
import sys
import threading
from pathlib import Path
from textual.app import App
from textual.widgets import Static
from jobconsole.paste import driver

class Painting(App):
    def compose(self):
        yield Static("ready")

    def on_mount(self):
        self.set_interval(0.05, self.look)

    def look(self):
        if Path(sys.argv[1]).exists():
            for _ in range(200):
                self._driver.write("painted")
            readers = [thread for thread in threading.enumerate() if thread.name == "textual-input"]
            self.exit(return_code=6 + len(readers))

app = Painting(driver_class=driver())
app.run()
sys.exit(app.return_code or 0)
"""


class Gone(io.StringIO):
    """A terminal that takes `room` writes and hangs up."""

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room = room

    def write(self, text: str) -> int:
        if self.room == 0:
            raise OSError(5, "Input/output error")
        self.room -= 1
        return super().write(text)


def test_what_a_terminal_takes_is_written_and_the_rest_is_dropped() -> None:
    terminal = Gone(room=2)
    outlet = Outlet(terminal)
    assert [outlet.write(text) for text in ("one", "two", "three", "four")] == [3, 3, 5, 4]
    outlet.flush()
    assert terminal.getvalue() == "onetwo"
    assert outlet.gone


def test_a_terminal_that_fails_when_flushed_is_gone_too(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Gone(room=9)

    def fail() -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(terminal, "flush", fail)
    outlet = Outlet(terminal)
    outlet.write("one")
    outlet.flush()
    outlet.write("two")
    assert (outlet.gone, terminal.getvalue()) == (True, "one")


def test_whoever_paints_never_waits_for_a_terminal_that_is_gone() -> None:
    writer = WriterThread(Outlet(Gone(room=0)))  # type: ignore[arg-type]  # it needs write, flush and fileno alone
    writer.start()

    def paint() -> None:
        for _ in range(MAX_QUEUED_WRITES * 3):
            writer.write("painted")
        writer.stop()

    painting = Thread(target=paint, daemon=True)
    painting.start()
    painting.join(DEADLINE)
    assert not painting.is_alive()


@pytest.mark.skipif(sys.platform == "win32", reason="a terminal of Windows does not hang up")
def test_the_console_ends_after_its_terminal_hung_up(tmp_path: Path) -> None:
    script, sign = tmp_path / "painting.py", tmp_path / "hung-up"
    script.write_text(PAINTING)
    with Terminal((sys.executable, str(script), str(sign))) as terminal:
        terminal.see("ready")
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, terminal.master)  # closes it, which hangs the other side up
        os.close(nothing)
        sign.touch()
        assert terminal.process.wait(DEADLINE) in (7, 120)  # 120: Python itself had something left to write


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
def test_a_console_that_goes_on_without_having_been_suspended_reads_its_keys_once(tmp_path: Path) -> None:
    script, sign = tmp_path / "painting.py", tmp_path / "gone-on"
    script.write_text(PAINTING)
    with Terminal((sys.executable, str(script), str(sign))) as terminal:
        terminal.see("ready")
        terminal.process.send_signal(signal.SIGCONT)  # a hang-up sends it, too, after SIGHUP
        sign.touch()
        assert terminal.ended() == 7
