"""Owns writing figures down: the table, on the terminal and between the two marks of docs/benchmarks.md."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.figures import Figure, Spread

PAGE = Path(__file__).parents[1] / "docs" / "benchmarks.md"
BEGIN, END = "<!-- table: begin (make bench writes what is between) -->", "<!-- table: end -->"
HEADS = ("What", "Measured", "Peer", "Ratio", "Limit", "")


def table(figures: Sequence[Figure], facts: Sequence[str]) -> str:
    """The facts of the machine and one line a figure, as Markdown."""
    lines = [*facts, "", f"| {' | '.join(HEADS)} |", f"|{'---|' * len(HEADS)}"]
    lines += [f"| {' | '.join(_cells(figure))} |" for figure in figures]
    return "\n".join(lines)


def write(page: Path, text: str) -> None:
    """Put the table between the two marks of the page; ValueError where it has none."""
    before, begun, rest = page.read_text("utf-8").partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not begun or not ended:
        raise ValueError(f"{page} has no place for the table: it needs the lines {BEGIN!r} and {END!r}.")
    page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", "utf-8")


def line_of(figure: Figure) -> str:
    """One figure as a line of text, for whoever waits."""
    return " · ".join(cell for cell in _cells(figure) if cell)


def _cells(figure: Figure) -> tuple[str, ...]:
    what = f"{figure.part}: {figure.what}" + (f" ({figure.note})" if figure.note else "")
    beside, compared = figure.beside, figure.compared
    peer = "" if beside is None else f"{figure.peer}: {_spread(beside, figure.unit)}"
    ratio = "" if compared is None else _spread(compared, figure.unit if figure.above else "x")
    verdict = {None: "", True: "met", False: "**missed**"}[figure.met]
    measured = figure.said if figure.value is None else _spread(figure.value, figure.unit)
    return what, measured, peer, ratio, _limit(figure), verdict


def _limit(figure: Figure) -> str:
    unit = "x" if figure.compared is not None and not figure.above else figure.unit
    more = " more" if figure.above else ""
    if figure.at_most is not None:
        return f"≤ {_number(figure.at_most)} {unit}{more}"
    return "" if figure.at_least is None else f"≥ {_number(figure.at_least)} {unit}{more}"


def _spread(spread: Spread, unit: str) -> str:
    middle = f"{_number(spread.middle)} {unit}"
    if spread.least == spread.most:
        return middle
    return f"{middle} ({_number(spread.least)} to {_number(spread.most)})"


def _number(value: float) -> str:
    if value == int(value) and abs(value) < 100:
        return f"{int(value)}"
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"
