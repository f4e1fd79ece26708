"""A QR code in a terminal: the cells say exactly the modules, black on white, with light ones around."""

from __future__ import annotations

import re

import segno

from jobservice.bootstrap.qr import BORDER, HALF, columns, qr_lines
from jobservice.cli_codes import BESIDE
from jobservice.rules.codes import enrolment_address, new_secret

ADDRESS = enrolment_address(new_secret(), "maria.longname", "payments of leeds")
RUN = re.compile(r"\x1b\[38;5;(16|231);48;5;(16|231)m(" + HALF + "+)")


def _painted(lines: tuple[str, ...]) -> list[list[bool]]:
    """The modules that a camera sees: dark where a half of a cell is black."""
    rows: list[list[bool]] = []
    for line in lines:
        assert RUN.sub("", line) == "\x1b[0m"
        upper: list[bool] = []
        lower: list[bool] = []
        for text, ground, cells in RUN.findall(line):
            upper += [text == "16"] * len(cells)
            lower += [ground == "16"] * len(cells)
        rows += [upper, lower]
    return rows


def test_the_cells_are_the_modules_with_a_light_border() -> None:
    made = segno.make(ADDRESS, error="l", micro=False, boost_error=False)
    bare = [list(map(bool, row)) for row in made.matrix_iter(border=0)]
    painted = _painted(qr_lines(ADDRESS))
    size = len(bare)
    inside = [row[BORDER : BORDER + size] for row in painted[BORDER : BORDER + size]]
    assert inside == bare
    around = [
        module
        for y, row in enumerate(painted)
        for x, module in enumerate(row)
        if not (BORDER <= y < BORDER + size and BORDER <= x < BORDER + size)
    ]
    assert not any(around)
    assert {len(row) for row in painted} == {columns(ADDRESS)} == {size + 2 * BORDER}


def test_it_fits_a_small_window_with_a_line_to_type_in_and_the_key_beside_it() -> None:
    usual = enrolment_address(new_secret(), "m.ito", "production")
    assert columns(usual) + 2 + BESIDE <= 80
    assert len(qr_lines(usual)) + 1 <= 24
