"""Ids that people write, and text that the system can carry."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobcontract.ids import SLUG_MAX, is_slug, storable


@pytest.mark.parametrize("text", ["a", "payments.set-aside", "m.ito", "claims.max", "a1_b2", "x" * SLUG_MAX])
def test_ids(text: str) -> None:
    assert is_slug(text)


@pytest.mark.parametrize(
    "text", ["", "A", "1a", "-a", "a-", "a--b", "a..b", "a b", "a/b", "ä", "a\n", "../a", "x" * (SLUG_MAX + 1)]
)
def test_what_is_no_id(text: str) -> None:
    assert not is_slug(text)


@given(st.text(st.characters()))
def test_storable_text_is_what_utf8_and_postgresql_can_carry(text: str) -> None:
    try:
        carried = "\x00" not in text and text.encode("utf-8").decode("utf-8") == text
    except UnicodeEncodeError:
        carried = False
    assert storable(text) is carried
