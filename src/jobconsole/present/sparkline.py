"""Owns sparklines: counts over time as one line of signs, with the words beside them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

SIGNS = "▁▂▃▅▇"
"""Nothing, then ever more. What happened at all is never drawn as nothing."""


def sparkline(counts: Sequence[int], cells: int = 1) -> str:
    """One sign a count, each `cells` wide, the highest count the tallest."""
    most = max(counts, default=0)
    return "".join(SIGNS[_height(count, most)] * cells for count in counts)


def _height(count: int, most: int) -> int:
    if count <= 0 or most <= 0:
        return 0
    steps = len(SIGNS) - 1
    return max(1, -(-count * steps // most))


def spark_words(counts: Sequence[int]) -> str:
    """`1,204 in all, at most 120 in an hour, 3 in this one`; `none` where nothing happened."""
    if not any(counts):
        return "none"
    return f"{sum(counts):,} in all · at most {max(counts):,} in an hour · {counts[-1]:,} in this one"
