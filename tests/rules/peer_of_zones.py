"""Prints the changes of zones as `whenever` computes them, for tests that start it as a program: `whenever` has one search
path for the whole process, and `PYTHONTZPATH` empty leaves it the pinned package alone. Seconds, a line a change."""

from __future__ import annotations

import sys

from whenever import Instant

START, END = Instant.from_utc(1937, 1, 1), Instant.from_utc(2100, 1, 1)


def main() -> None:
    """One line a change of the zones of standard input: name, instant, seconds from UTC before and after."""
    lines = []
    for name in sys.stdin.read().split():
        at = START.to_tz(name)
        while True:
            change = at.next_transition()
            if change is None or change.to_instant() >= END:
                break
            before = change.subtract(seconds=1).offset.total("seconds")
            after = change.offset.total("seconds")
            if before != after:
                lines.append(f"{name} {change.timestamp()} {round(before)} {round(after)}")
            at = change
    sys.stdout.write("\n".join(lines))


if __name__ == "__main__":
    main()
