"""Owns the call that finds: what one text leads to, over every noun that the person may read. Screens and the headless
twin run it."""

from __future__ import annotations

from jobconsole.client.service import Service
from jobcontract.job_routes import FIND
from jobcontract.jobs import Finding


async def find(service: Service, text: str) -> Finding:
    """All that `text` leads to: an id, a submission identity, a payout reference, a requester, a failure reference.

    Whole words, or eight characters of an id, within the person's reach; `looked` says over which nouns. Where nothing has
    that name, it is looked up in small letters, then in large ones: a reference is read out over the telephone. Refused
    with *invalid-request* where the text is shorter than two characters.
    """
    first = await service.get(FIND, Finding, query={"text": text})
    if first.found:
        return first
    for spelled in {text.lower(): None, text.upper(): None}:
        if spelled != text:
            other = await service.get(FIND, Finding, query={"text": spelled})
            if other.found:
                return other
    return first
