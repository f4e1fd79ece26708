"""What the benchmark reads off a screen: which row has the cursor, and whether the detail shows the same one."""

from __future__ import annotations

from benchmarks.screen import beside_cursor, cursor_of
from jobconsole.widgets.table import CURSOR_SIGN

ROW = f" {CURSOR_SIGN}   87 ○ free      -1,234,567.00 GBP  …6819  0000123 Ash & Co  invoice missing \n"
OTHER = "     86 ○ free          99.00 GBP  …6819  0000124 Ash & Co  invoice missing \n"


def test_the_row_of_the_cursor_is_the_one_behind_its_sign() -> None:
    assert cursor_of(OTHER + ROW + OTHER) == "0000123"


def test_a_frame_without_the_cursor_says_so() -> None:
    assert cursor_of(OTHER) is None
    assert cursor_of(f" {CURSOR_SIGN}  a row without a number \n{OTHER}") is None


def test_the_detail_counts_only_beside_the_row() -> None:
    assert not beside_cursor(ROW + OTHER, "0000123")
    assert beside_cursor(f"{ROW} -1,234,567.00 GBP to 0000123 Ash & Co \n", "0000123")
