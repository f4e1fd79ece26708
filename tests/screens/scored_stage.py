"""Owns a fake service whose two queues are scored by the rules of `client/fake_scores.py`, highest first."""

from __future__ import annotations

from jobconsole.client.fake import FakeService
from jobconsole.client.fake_queues import FakeItem
from jobconsole.client.fake_scores import RULES, rank, score
from jobcontract.items import Item
from tests.screens.stage import START, scene


def scored_service() -> tuple[FakeService, list[str]]:
    """The scene, scored; the ids of its payouts, oldest first.

    Aspire (the third) is first with 72 points; Booker (the first) is second with 56.
    """
    fake = FakeService(start=START)
    queues = fake.queues
    queues.queues = tuple(queue.model_copy(update={"score": RULES[queue.id].id}) for queue in queues.queues)
    shown = queues.shown

    def with_score(row: FakeItem) -> Item:
        found = score(row, queues.now())
        return shown(row).model_copy(update={"score": found, "rank": rank(found)})

    queues.shown = with_score  # type: ignore[method-assign]  # the scores of this one service
    ids = scene(fake)
    for key in ids:
        invoice = queues.items[key].inputs["invoice"]
        queues.items[key].inputs = {"invoice": "none" if invoice == "missing" and key != ids[2] else "on file"}
    return fake, ids
