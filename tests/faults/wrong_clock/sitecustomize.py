"""Owns Python's clocks being wrong from the first line of a process on: put this folder on PYTHONPATH to start it so.

`WRONG_CLOCK_SECONDS` shifts the time of day (time.time, time.time_ns, datetime.now, utcnow, today), and
`WRONG_CLOCK_RATE` is how fast the monotonic clock runs (1 = as it should). Whoever decides by one of them is found out.
"""

from __future__ import annotations

import datetime as module
import os
import time
from collections.abc import Callable
from typing import Any

_SHIFT = float(os.environ.get("WRONG_CLOCK_SECONDS", "0"))
_RATE = float(os.environ.get("WRONG_CLOCK_RATE", "1"))
_real = module.datetime
_delta = module.timedelta(seconds=_SHIFT)


class _Kind(type):
    """Every true datetime counts as one of ours: drivers make theirs in C."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, _real)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, _real)


def _wrong() -> type:
    """A datetime whose present is wrong, under the name of the real one: drivers look types up by their names."""

    def now(cls: type, tz: module.tzinfo | None = None) -> module.datetime:
        return _real.now(tz) + _delta

    def utcnow(cls: type) -> module.datetime:
        return _real.now(module.UTC).replace(tzinfo=None) + _delta

    members: dict[str, Any] = {
        "now": classmethod(now),
        "today": classmethod(now),
        "utcnow": classmethod(utcnow),
        "__slots__": (),  # as large as the real one: compiled modules look
        "__module__": "datetime",
        "__qualname__": "datetime",
    }
    return _Kind("datetime", (_real,), members)


def _shifted(clock: Callable[[], float]) -> Callable[[], float]:
    return lambda: clock() + _SHIFT


def _paced(clock: Callable[[], float]) -> Callable[[], float]:
    began = clock()
    return lambda: began + (clock() - began) * _RATE


if _SHIFT:
    _nanoseconds = time.time_ns
    time.time = _shifted(time.time)
    time.time_ns = lambda: _nanoseconds() + int(_SHIFT * 1_000_000_000)
    module.datetime = _wrong()  # type: ignore[misc, assignment]  # what this file is for
if _RATE != 1:
    time.monotonic = _paced(time.monotonic)
