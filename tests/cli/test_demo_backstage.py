"""What happens around the console in the headless walk: what the feed is refused is said with what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from pydantic import SecretStr

from jobconsole.demo_backstage import Backstage
from jobconsole.demo_desk import Differs


def backstage() -> Backstage:
    """Nothing of it is there."""
    return Backstage(
        url="http://127.0.0.1:9",
        tenant="leeds",
        bank="http://127.0.0.1:9",
        feed=SecretStr("x"),
        data=Path(),
        log=Path(),
        checkout=Path(),
    )


@pytest.mark.parametrize(
    ("status", "words"),
    [(409, "gone through on this data before; take an empty folder"), (422, "the feed was answered 422: ")],
)
async def test_a_walk_over_data_that_was_walked_over_says_so(
    monkeypatch: pytest.MonkeyPatch, status: int, words: str
) -> None:
    async def request(*_: Any, **__: Any) -> httpx.Response:
        return httpx.Response(status, json={"detail": "no"})

    monkeypatch.setattr(httpx.AsyncClient, "request", request)
    with pytest.raises(Differs, match=words):
        await backstage().push("walk/1", "Walk Nordic Timber", 100, "GBP")
