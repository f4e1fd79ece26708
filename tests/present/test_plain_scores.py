"""Tests of scores in the plain rows of the twins: the score and every input, never cut."""

from __future__ import annotations

from zoneinfo import ZoneInfo

import pytest

from jobconsole.present.plain import item_lines, items_lines
from tests.present.samples import item
from tests.present.test_item_rows import score

UTC = ZoneInfo("UTC")


@pytest.mark.requirement("show-the-score-beside-each-item")
def test_a_row_of_a_twin_has_the_score_and_every_input() -> None:
    long = "x" * 60
    head, first, parked = items_lines(
        [
            item(score=score(1_092, {"amount": "GBP 90,126.13", "risk": long}), inputs={"region": "north"}),
            item(id="i-2", score=score(None, {}, "no thresholds for XAU\x1b[2J")),
        ],
        UTC,
    )
    assert head.split()[:6] == ["item", "score", "amount", "account", "payee", "title"]
    assert "Aspire" in first[head.index("payee") : head.index("title")]
    assert first.split()[1] == "1,092"
    assert first.endswith(f"GBP 90,126.13 · {long} · region north")
    assert "not scored" in parked
    assert parked.endswith("could not be scored: no thresholds for XAU␛[2J")
    told = item_lines(item(score=score()), UTC)
    assert "score      92" in told
    assert "scored by  GBP 90,126.13 · 6 days old · no invoice" in told
