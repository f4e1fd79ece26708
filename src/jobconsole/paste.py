"""Owns what a bracketed paste is to the console: one piece of text, whatever bytes are in it (MONEY.md 26).

Textual's own parser takes an escape sequence inside a paste for keys. So what stands between the two marks is taken out
before that parser sees it, and handed on without a single control character. Never interprets what was pasted.
"""

from __future__ import annotations

import codecs
import os
import selectors
import sys
import unicodedata
from collections.abc import Iterable
from typing import Any, TextIO, cast

from textual._xterm_parser import BRACKETED_PASTE_END as END
from textual._xterm_parser import BRACKETED_PASTE_START as BEGIN
from textual._xterm_parser import XTermParser
from textual.driver import Driver
from textual.events import Paste
from textual.message import Message

from jobconsole.outlet import Outlet

MOST = 1_000_000
"""Characters of one paste that are kept; the rest is dropped, never typed."""
SURE = 3
"""A beginning of `BEGIN` this long is no key: it is kept back however long its rest takes to come."""
_READ = 4_096


def as_text(pasted: str) -> str:
    """What was pasted, with one kind of line end and no control character but newline and tab."""
    lines = pasted.replace("\r\n", "\n").replace("\r", "\n")
    return "".join(sign for sign in lines if sign in "\n\t" or unicodedata.category(sign) != "Cc")


class PasteParser(XTermParser):
    """Textual's parser of what a terminal sends, except that a paste is text. Takes it in pieces of any size."""

    def __init__(self, debug: bool = False) -> None:
        self._begun = ""
        """The end of what came outside a paste, as far as `BEGIN` starts like it."""
        self._passed = 0
        """How many characters of `_begun` Textual's parser was given already: a lone escape must not wait."""
        self._pasting = False
        self._pasted = ""
        self._rest = ""
        """The end of what came inside a paste, as far as `END` starts like it."""
        super().__init__(debug)

    def feed(self, data: str) -> Iterable[Message]:
        """The events that `data` completes; an empty text is the end of the stream."""
        if not data:
            yield from super().feed(data)
        while data:
            if not self._pasting:
                typed, data = self._outside(data)
                if typed:
                    yield from super().feed(typed)
                continue
            text, data = self._in_paste(data)
            if text is not None:
                # It saw the two marks and nothing between them: a million characters one by one take it seconds.
                yield from (Paste(text) if isinstance(made, Paste) else made for made in super().feed(END))

    def _outside(self, data: str) -> tuple[str, str]:
        """What Textual's parser is to be given up to the beginning of a paste, and what came after that."""
        seen, passed = self._begun + data, self._passed
        at = seen.find(BEGIN)
        if at >= 0:
            self._begun, self._passed, self._pasting = "", 0, True
            # A mark that came in pieces may be half read there, or given up as keys long ago.
            half_read = at == 0 and self._awaiting.timeout is not None
            return seen[passed if at or half_read else 0 : at + len(BEGIN)], seen[at + len(BEGIN) :]
        self._begun = _overlap(seen, BEGIN)
        start = len(seen) - len(self._begun)
        if len(self._begun) < SURE:
            self._passed = len(self._begun)
            return seen[passed:], ""
        if start == 0:
            return "", ""
        self._passed = 0
        return seen[passed:start], ""

    def _in_paste(self, data: str) -> tuple[str | None, str]:
        """The text once the paste is over, None before; and what came after it."""
        seen = self._rest + data
        # The last mark: one that stands in the pasted text itself must not set the rest of it free.
        at = seen.rfind(END)
        self._rest = "" if at >= 0 else _overlap(seen, END)
        inside = seen[:at] if at >= 0 else seen[: len(seen) - len(self._rest)]
        self._pasted = (self._pasted + inside)[:MOST]
        if at < 0:
            return None, ""
        text, self._pasted, self._pasting = as_text(self._pasted), "", False
        return text, seen[at + len(END) :]


def _overlap(text: str, mark: str) -> str:
    """The longest end of `text` that `mark` starts with, short of all of it."""
    return next((mark[:size] for size in range(len(mark) - 1, 0, -1) if text.endswith(mark[:size])), "")


if sys.platform == "win32":
    from textual.drivers import win32

    def driver() -> type[Driver] | None:
        """Textual's own driver, reading with `PasteParser`."""
        win32.XTermParser = PasteParser
        return None

else:
    from textual.drivers.linux_driver import LinuxDriver

    class PasteDriver(LinuxDriver):
        """Textual's driver of a terminal: reads with `PasteParser`, paints through an `Outlet`; bad UTF-8 stops nothing."""

        def start_application_mode(self) -> None:
            """Takes the terminal over; again, where something else had it meanwhile."""
            if not isinstance(self._file, Outlet):
                self._file = cast(Any, Outlet(cast(TextIO, self._file)))
            super().start_application_mode()  # type: ignore[no-untyped-call]  # Textual left it without types

        def _sigcont_application(self, *_: object) -> None:
            # Textual starts itself a second time here, also where it was never suspended: two threads read the keys, and
            # one outlives the console. A terminal that hangs up sends this signal, too, right after SIGHUP.
            if self._must_signal_resume:
                super()._sigcont_application()
            elif not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self._app.refresh)

        def run_input_thread(self) -> None:
            """Reads until the console leaves its application mode."""
            parser = PasteParser(self._debug)
            decode = codecs.getincrementaldecoder("utf-8")("replace").decode
            with selectors.SelectSelector() as selector:
                selector.register(self.fileno, selectors.EVENT_READ)
                while not self.exit_event.is_set():
                    if selector.select(0.1):
                        read = os.read(self.fileno, _READ)
                        if not read:
                            self.exit_event.wait(0.1)  # the terminal hung up: a signal tells what to do
                        self._tell(parser.feed(decode(read)) if read else ())
                    self._tell(parser.tick())

        def _tell(self, messages: Iterable[Message]) -> None:
            for message in messages:
                self.process_message(message)

    def driver() -> type[Driver] | None:
        """The driver of the console."""
        return PasteDriver
