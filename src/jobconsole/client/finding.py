"""Owns the call that finds: what one text leads to, over every noun that the person may read. Screens and the headless
twin run it."""

from __future__ import annotations

from jobconsole.client.service import Service
from jobcontract.job_routes import FIND
from jobcontract.jobs import Finding


async def find(service: Service, text: str) -> Finding:
    """All that `text` leads to: an id, a submission identity, a payout reference, a requester, a failure reference.

    Whole words, or eight characters of an id, within the person's reach; `looked` says over which nouns. Refused with *invalid-request* where the
    text is shorter than two characters.
    """
    return await service.get(FIND, Finding, query={"text": text})
