"""Owns the calls about scores: why an item stands where it stands, and where it would stand with other inputs.

Neither acts: nothing is saved, so a call whose answer got lost is simply made again.
"""

from __future__ import annotations

from jobconsole.client.service import Service
from jobcontract.items import Explanation, Supposed, WhatIf
from jobcontract.routes import EXPLANATION, WHAT_IF


async def explanation(service: Service, item_id: str) -> Explanation:
    """Why the item stands where it stands: its score, the rule in words, its place and its neighbours."""
    return await service.get(EXPLANATION, Explanation, parts={"item": item_id})


async def what_if(service: Service, item_id: str, supposed: WhatIf) -> Supposed:
    """The score and the place that the item would have with other inputs."""
    return await service.get(WHAT_IF, Supposed, parts={"item": item_id}, body=supposed)
