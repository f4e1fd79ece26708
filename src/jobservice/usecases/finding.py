"""Owns finding whatever a text names, over all nouns that a person may read, within their reach. Equality only, each by an
index; looking is not audited."""

from __future__ import annotations

from jobcontract.jobs import Finding
from jobservice.usecases.actor import Actor
from jobservice.usecases.service import Service

FOUND_MOST = 50
"""Most results of one look."""


async def find(service: Service, actor: Actor, text: str) -> Finding:
    """All that `text` leads to: ids (also the beginning of one, 8 characters or more), submission identities, payout
    references, names of plans and recoveries, people, failure references, schedules and occurrences, references of
    requests, Workers. `looked` names the nouns that were looked through. Refusal INVALID_REQUEST for a text that is
    shorter than 2 or longer than 200 characters.
    """
    raise NotImplementedError
