"""The table names what was measured, its peer, ratio, limit and whether it is met; it takes its own place alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.figures import Figure
from benchmarks.table import BEGIN, END, PAGE, table, write

MISSED = Figure(
    part="claim next",
    what="the use case",
    unit="/s",
    rounds=(400.0, 500.0, 450.0),
    peer="bare",
    peer_rounds=(4000.0, 5000.0, 4600.0),
    at_least=0.25,
)
MET = Figure(part="console", what="key to paint", unit="ms", rounds=(5.25,), at_most=16, note="120 keys")


def test_a_line_says_everything() -> None:
    lines = table((MISSED, MET), ("- two cores",)).splitlines()
    assert lines[0] == "- two cores"
    assert lines[-2] == (
        "| claim next: the use case | 450 /s (400 to 500) | bare: 4,600 /s (4,000 to 5,000) | 0.10 x (0.10 to 0.10) "
        "| ≥ 0.25 x | **missed** |"
    )
    assert lines[-1] == "| console: key to paint (120 keys) | 5.25 ms |  |  | ≤ 16 ms | met |"


def test_a_line_without_a_measurement_says_why() -> None:
    nothing = Figure(part="runs", what="by another queue", unit="/s", said="not run: no Python 3.12 here")
    assert table((nothing,), ()).splitlines()[-1] == (
        "| runs: by another queue | not run: no Python 3.12 here |  |  |  |  |"
    )


def test_it_is_written_between_its_marks_and_nowhere_else(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", "utf-8")
    write(page, "new")
    write(page, "newer")
    assert page.read_text("utf-8") == f"before\n{BEGIN}\n\nnewer\n\n{END}\nafter\n"


def test_a_page_without_its_marks_is_left_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("nothing", "utf-8")
    with pytest.raises(ValueError, match="no place for the table"):
        write(page, "new")
    assert page.read_text("utf-8") == "nothing"


def test_the_page_of_the_repository_has_the_place() -> None:
    text = PAGE.read_text("utf-8")
    assert text.index(BEGIN) < text.index(END)
