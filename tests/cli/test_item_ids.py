"""How the twins take an item: by its id. A key with a slash reaches no item's address."""

from __future__ import annotations

import pytest

from tests.cli.twins import Typed


@pytest.mark.parametrize(
    "words", [("show",), ("claim",), ("explain",), ("what-if", "--age", "9d"), ("note", "--text", "x")]
)
def test_a_key_in_place_of_an_id_is_told_how_to_find_the_id(typed: Typed, words: tuple[str, ...]) -> None:
    result = typed("queues", words[0], "S-1/FX 0010", *words[1:])
    assert result.exit_code == 2
    told = " ".join(result.stderr.split())
    assert "S-1/FX 0010 is a key; it takes an item's id" in told
    assert "jobconsole queues items QUEUE --limit 1 --start 'item:S-1/FX 0010'" in told
    assert not typed.fake.requests
