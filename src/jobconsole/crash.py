"""Owns what is left of a crash: one short report without locals or secrets, an exit status of its own, no core file."""

from __future__ import annotations

import asyncio
import re
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from jobconsole.present.text import line

_SECRET = re.compile(r"jc_[A-Za-z0-9_-]{8,}|(?<![0-9])[0-9]{3} ?[0-9]{3}(?![0-9])|(?i:bearer)\s+\S+")
"""What a token, a code (as phones show it, too) or an authorisation header looks like; an error's text may repeat one."""
_FRAMES = 6
FAILED = 70
"""Exit status where the console itself failed (EX_SOFTWARE of sysexits.h); no other end has it."""


def report(error: BaseException | None) -> str:
    """What failed and where: kind, message without secrets, the last frames. Never a local variable."""
    if error is None:
        return "jobconsole stopped because of an error in itself."
    message = _SECRET.sub("…", line(error))[:300]
    frames = traceback.extract_tb(error.__traceback__)[-_FRAMES:]
    places = [f"  {Path(frame.filename).name}:{frame.lineno} in {frame.name}" for frame in frames]
    return "\n".join(
        [
            f"jobconsole stopped because of an error in itself: {type(error).__name__}: {message}",
            *places,
            "Nothing that the service was doing has been stopped. Please send these lines to those who keep the console.",
        ]
    )


def excepthook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """For `sys.excepthook`: the report in place of a traceback, and the status `FAILED`; 130 where it was interrupted."""
    if issubclass(kind, KeyboardInterrupt):
        sys.stderr.write("Interrupted.\n")
        sys.exit(130)
    sys.stderr.write(report(error.with_traceback(trace)) + "\n")
    sys.exit(FAILED)


def forbid_cores() -> None:
    """No core file of this process or its children: a core holds the token (MONEY.md 26)."""
    try:
        import resource  # noqa: PLC0415 - Windows has none
    except ImportError:  # Windows writes none
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def on_stop(leave: Callable[[int], object]) -> None:
    """A signal to stop, or a terminal that hung up, leaves in order: the terminal is restored. `leave` takes the status."""
    if sys.platform == "win32":
        return
    for number in (signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, leave, 128 + number)
