"""Owns how free slots are shared between tenants, so that one tenant's storm of slow jobs delays nobody else. Pure."""

from __future__ import annotations

import heapq
from collections.abc import Mapping

RESERVED_SHARE = 4
"""One slot in so many goes only to tenants with nothing running."""


def reserved(slots: int) -> int:
    """How many of a Worker's slots go only to tenants with nothing running; none of a single one."""
    return 0 if slots <= 1 else max(slots // RESERVED_SHARE, 1)


def shares(
    *, free: int, slots: int, running: Mapping[str, int], waiting: Mapping[str, int], chunk: int = 1
) -> dict[str, int]:
    """How many of `free` slots each tenant gets now; those that get none are left out.

    `running`: what each has on this Worker. `waiting`: how many of each could start, the longest waiting tenant first.
    The next `chunk` of slots goes to whom of those who still wait has least running; of several, to the longest waiting.
    """
    kept_back = reserved(slots)
    left = {tenant: count for tenant, count in waiting.items() if count > 0}
    queue = [(running.get(tenant, 0), place, tenant) for place, tenant in enumerate(left)]
    heapq.heapify(queue)
    given: dict[str, int] = {}
    while free > 0 and queue:
        has, place, tenant = queue[0]
        if has > 0 and free <= kept_back:
            break  # whoever waits has something running, and what is free is for those who have not
        beyond = max(free - kept_back, 1 if has == 0 else 0)  # its first may be one of those kept back
        count = min(chunk, left[tenant], beyond)
        given[tenant] = given.get(tenant, 0) + count
        free -= count
        left[tenant] -= count
        if left[tenant]:
            heapq.heapreplace(queue, (has + count, place, tenant))
        else:
            heapq.heappop(queue)
    return given
