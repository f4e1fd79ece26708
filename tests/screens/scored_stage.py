"""Owns the scene of the queue screens with invoices that count: who is first, second and last is known."""

from __future__ import annotations

from jobconsole.client.fake import FakeService
from tests.screens.stage import START, scene


def scored_service() -> tuple[FakeService, list[str]]:
    """The scene; the ids of its payouts, oldest first.

    Aspire (the third) is first with 72 points; Booker (the first) is second with 56.
    """
    fake = FakeService(start=START)
    ids = scene(fake, scored=True)
    for key in ids:
        invoice = fake.queues.items[key].inputs["invoice"]
        fake.queues.items[key].inputs = {"invoice": "none" if invoice == "missing" and key != ids[2] else "on file"}
    return fake, ids
