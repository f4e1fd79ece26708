"""Tests of an item's row: its score, and every input that set it, at every width (show-the-score-beside-each-item)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobconsole.present.amounts import amount_text
from jobconsole.present.columns import Tone, plain, width_of
from jobconsole.present.item_rows import Measured, measure, row_cells, score_piece, under_pieces
from jobconsole.present.queues import columns_of
from jobconsole.screens.queues_listing import COLUMNS, Listing
from jobconsole.widgets.laid import GUTTER, Laid
from jobcontract.items import Item, ItemPage, Payee
from jobcontract.scores import Score, ScorePart
from jobcontract.states import ItemState, ItemView
from tests.hostile import HOSTILE
from tests.present.samples import ME, NOW, amount, held, item, queue, seen


def score(value: int | None = 92, shown: Mapping[str, str] | None = None, failure: str | None = None) -> Score:
    parts = {"amount": "GBP 90,126.13", "age": "6 days old", "invoice": "no invoice"} if shown is None else shown
    return Score(
        value=value,
        rule="payout.release-score",
        version=3,
        parts=tuple(ScorePart(input=name, shown=text, points=1, words="because") for name, text in parts.items()),
        scored_at=NOW,
        failure=failure,
    )


def painted(row: Item, width: int, *, one_line: bool = False, money: bool = True) -> list[str]:
    """Every line of the row, as a table of that width shows it, without its gutter."""
    listing = Listing(ItemView.WAITING, lambda: seen(scored=True))
    listing.open("first", ItemPage(items=(row,), next=None, as_of=NOW), None)
    columns = columns_of(queue(score="payout.release-score", money=money), ItemView.WAITING, one_line=one_line)
    laid = Laid(listing, columns, listing.needs(), width)
    lines = [plain(laid.line(0, part)) for part in range(laid.height(0))]
    assert all(width_of(text) <= width for text in lines[1:])
    assert width_of(lines[0]) <= width - GUTTER
    return lines


def squeezed(text: str) -> str:
    return "".join(text.split())


@pytest.mark.requirement("show-the-score-beside-each-item")
def test_at_80_columns_the_score_stands_beside_the_item_and_all_its_inputs_under_it() -> None:
    first, second = painted(held(ME, 2467, score=score()), 79)
    assert first.split() == ["92", "GBP", "90,126.13", "…4471", "Aspire", "Care", "Ltd", "◆", "me", "41:07"]
    assert second.strip() == "GBP 90,126.13 · 6 days old · no invoice · Invoice 1211-00415"


@pytest.mark.requirement("show-the-score-beside-each-item")
def test_in_one_line_an_input_that_is_the_amount_there_is_not_said_twice() -> None:
    (only,) = painted(item(score=score()), 110, one_line=True)
    assert only.count("GBP 90,126.13") == 1
    assert "6 days old · no invoice" in only


@pytest.mark.requirement("show-the-score-beside-each-item")
def test_inputs_that_have_no_room_in_one_line_stand_under_it() -> None:
    told = {"amount": "GBP 90,126.13", "age": "6 days old", "invoice": "no invoice on file", "risk": "x" * 40}
    first, second = painted(item(score=score(shown=told)), 110, one_line=True)
    assert "6 days old" not in first
    assert second.strip().startswith(f"GBP 90,126.13 · 6 days old · no invoice on file · {'x' * 40}")
    changed = painted(item(score=score(), amount=amount(100)), 110, one_line=True)
    assert "GBP 1.00" in changed[0]
    assert "GBP 90,126.13" in " ".join(changed)


@pytest.mark.requirement("show-the-score-beside-each-item")
@given(
    st.integers(40, 240),
    st.booleans(),
    st.integers(-1_000_000, 1_000_000),
    st.lists(
        st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "M")), min_size=1, max_size=60), max_size=6
    ),
    st.sampled_from([*HOSTILE, "株式会社 東京システム開発センター", "e\u0301" * 40, "x" * 200]),
)
def test_the_score_and_every_input_are_on_the_screen_at_every_width(
    width: int, one_line: bool, value: int, shown: list[str], name: str
) -> None:
    parts = {f"input-{number}": text for number, text in enumerate(shown)}
    payee = Payee(id="s-1", name=name, account_last4="4471")
    row = item(score=score(value, parts), payee=payee, inputs={"region": "north"})
    lines = painted(row, width, one_line=one_line)
    assert squeezed(f"{abs(value):,}") in squeezed(" ".join(lines))
    assert amount_text(row.amount or amount(0)) in lines[0]
    assert "…4471" in lines[0]
    whole = squeezed("".join(lines))
    for text in [*shown, "region north"]:
        assert squeezed(plain((under_pieces(item(score=score(1, {"a": text}), inputs={}), seen())[0],))) in whole


def test_a_parked_item_says_so_with_sign_word_and_colour() -> None:
    row = item(score=score(None, {}, "payout.release-score states no thresholds for XAU"))
    piece = score_piece(row.score)
    assert (piece.text, piece.tone) == ("!", Tone.BAD)
    first, *rest = painted(row, 79)
    assert first.split()[0] == "!"
    told = " ".join(" ".join(rest).split())
    assert "! could not be scored: payout.release-score states no thresholds for XAU" in told
    assert "6 days old" in told
    assert under_pieces(row, seen())[0].tone is Tone.BAD


def test_scores_are_written_as_numbers() -> None:
    assert [score_piece(score(value)).text for value in (92, -8, 1_250, 0)] == ["92", "−8", "1,250", "0"]
    assert score_piece(None).text == "–"


@pytest.mark.requirement("order-unscored-queues-by-age")
def test_without_a_score_its_age_comes_first_and_an_item_that_waits_for_one_says_so() -> None:
    row = held(ME, 2467, amount=amount(-154522))
    texts = [piece.text for piece in under_pieces(row, seen())]
    assert texts == ["6 days old", "credit", "invoice on file"]
    assert [piece.text for piece in under_pieces(row, seen(), ("name", "state"))][:2] == [
        "◆ me 41:07",
        "Aspire Care Ltd",
    ]
    waiting = under_pieces(row, seen(scored=True))
    assert waiting[0].text == "not scored yet"


def test_what_an_item_declares_beside_its_scores_inputs_is_shown_too() -> None:
    row = item(score=score(), inputs={"invoice": "missing", "region": "north"}, state=ItemState.EVIDENCE_ASKED)
    assert [piece.text for piece in under_pieces(row, seen())][3:] == ["evidence asked", "region north"]


@given(st.sets(st.sampled_from(["score", "state", "name"])), st.booleans(), st.text(max_size=30))
def test_no_row_is_wider_than_it_was_measured(left_out: set[str], scored: bool, name: str) -> None:
    row = held(ME, 200, score=score() if scored else None, payee=Payee(id="s", name=name, account_last4="4471"))
    measured = measure(row, seen())
    assert isinstance(measured, Measured)
    pieces = under_pieces(row, seen(), left_out)
    assert sum(width_of(piece.text) for piece in pieces) + 3 * (len(pieces) - 1) <= measured.under_with(left_out)
    cells: dict[str, Any] = dict(row_cells(row, seen()))
    assert all(width_of(cells[column].text) <= measured.cells[column] for column in COLUMNS)
