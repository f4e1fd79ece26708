"""The colours: every text can be read in every theme, outcomes are told apart without red and green, and a terminal of 16
colours still shows text on a ground."""

from __future__ import annotations

import itertools

import pytest
from rich.color import Color, ColorSystem
from textual.app import App, ComposeResult

from jobconsole.looks import BUILT_IN, COLOURS, THEMES, WrittenTheme, contrast, unreadable
from jobconsole.present.themes import themes
from jobconsole.widgets.table import Table

TEXTS = ("foreground", "secondary", "primary", "accent", "success", "warning", "error", "text-muted")


def test_contrast_is_that_of_the_standard() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)
    assert contrast("#123456", "#123456") == 1


@pytest.mark.parametrize("name", THEMES)
def test_every_text_can_be_read_on_its_ground(name: str) -> None:
    colours = BUILT_IN[name]
    least = 7.0 if name == "high-contrast" else 4.5
    weak = {text: round(contrast(colours[text], colours["background"]), 2) for text in TEXTS}
    assert {text: found for text, found in weak.items() if found < least} == {}
    assert unreadable(colours) == ()


def _seen_without(colour: str, kind: str) -> tuple[float, float, float]:
    """A colour as it is seen by a person without red (protan) or green (deutan) cones: Machado et al. 2009, severity 1."""
    red, green, blue = (int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5))
    matrix = {
        "protan": ((0.152, 1.053, -0.205), (0.115, 0.786, 0.099), (-0.004, -0.048, 1.052)),
        "deutan": ((0.367, 0.861, -0.228), (0.280, 0.673, 0.047), (-0.012, 0.043, 0.969)),
    }[kind]
    one, two, three = (a * red + b * green + c * blue for a, b, c in matrix)
    return one, two, three


@pytest.mark.parametrize("kind", ["protan", "deutan"])
def test_the_colour_blind_theme_tells_good_from_bad_from_warning(kind: str) -> None:
    colours = BUILT_IN["colour-blind"]
    for one, other in itertools.combinations(("success", "warning", "error"), 2):
        apart = sum(
            (a - b) ** 2
            for a, b in zip(_seen_without(colours[one], kind), _seen_without(colours[other], kind), strict=True)
        )
        assert apart > 0.05, f"{one} and {other} look alike"


def _sixteen(red: int, green: int, blue: int) -> int | None:
    return Color.from_rgb(red, green, blue).downgrade(ColorSystem.STANDARD).number


class _OneTable(App[None]):
    def compose(self) -> ComposeResult:
        yield Table(id="list")


@pytest.mark.parametrize("name", THEMES)
async def test_in_sixteen_colours_no_text_of_a_table_has_the_colour_of_its_ground(name: str) -> None:
    app = _OneTable()
    for theme in themes():
        app.register_theme(theme)
    app.theme = name
    async with app.run_test(size=(80, 24)):
        table = app.query_one(Table)
        cursor = table.get_component_rich_style("table--cursor")
        for part in sorted(Table.COMPONENT_CLASSES - {"table--cursor", "table--cursor-blurred"}):
            style = table.get_component_rich_style(part)
            assert style.color is not None
            assert style.bgcolor is not None
            assert cursor.bgcolor is not None
            text = style.color.get_truecolor()
            for ground in (style.bgcolor.get_truecolor(), cursor.bgcolor.get_truecolor()):
                assert _sixteen(*text) != _sixteen(*ground), f"{part} vanishes in {name}"


@pytest.mark.parametrize("name", THEMES)
async def test_on_the_cursor_row_every_tone_that_stands_there_can_be_read(name: str) -> None:
    app = _OneTable()
    for theme in themes():
        app.register_theme(theme)
    app.theme = name
    async with app.run_test(size=(80, 24)):
        table = app.query_one(Table)
        tones = Table.COMPONENT_CLASSES - {"table--cursor", "table--cursor-blurred", "table--heading", "table--quiet"}
        for ground in ("table--cursor", "table--cursor-blurred"):
            under = table.get_component_rich_style(ground).bgcolor
            assert under is not None
            for tone in sorted(tones):
                colour = table.get_component_rich_style(tone).color
                assert colour is not None
                found = contrast(colour.get_truecolor().hex, under.get_truecolor().hex)
                assert found >= 4.5, f"{tone} on {ground} in {name}: {found:.1f}"


def test_a_theme_of_ones_own_changes_what_it_names_and_keeps_the_rest() -> None:
    own = WrittenTheme(name="mine", base="light", colours={"primary": "#004400"})
    made = {theme.name: theme for theme in themes([own])}
    assert set(made) == {*THEMES, "mine"}
    assert (made["mine"].primary, made["mine"].error, made["mine"].dark) == ("#004400", made["light"].error, False)
    assert set(own.whole) == set(COLOURS)
