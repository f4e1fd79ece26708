"""Owns making changes in the database at a pace, as many clerks and feeds would: rows of the queue on screen among them.

Run as a program of its own: it takes a JSON line `{"url", "tenant", "queue", "rate", "seconds"}` on standard input for
each stretch, and answers with `{"begun": true}` once it changes and `{"changes", "seconds"}` when it is over.
"""

from __future__ import annotations

import json
import random
import sys
import time
from itertools import count
from typing import Any

import psycopg

BATCH_SECONDS = 0.02
"""Between two transactions: fifty a second, whatever the rate."""
IN_SIGHT, ELSEWHERE = 100, 5_000
"""Items at the head of the queue, which a console shows, and others; one change in four is at the head."""

HEAD = """
select id from jobs.items
where tenant = %(tenant)s and queue = %(queue)s and closed_at is null
order by rank, created, id
limit %(many)s
"""
CHANGE = """
with changed as (
    update jobs.items
    set
        title = left(regexp_replace(title, ' · .*', ''), 60) || ' · ' || %(turn)s,
        changed_at = jobs.now(),
        row_version = row_version + 1
    where id = any(%(ids)s)
    returning id, tenant, queue, row_version
),

told as (
    insert into jobs.hints (tenant, topic, queue, ref, version)
    select c.tenant, 'item', c.queue, c.id::text, c.row_version
    from changed as c
)

select count(*), (select count(pg_notify('jobs_hints', t.tenant)) from (select distinct tenant from changed) as t)
from changed
"""


def change(connection: psycopg.Connection[tuple[Any, ...]], asked: dict[str, Any], turns: count[int]) -> int:
    """Make changes at a pace for some seconds; how many were made."""
    named = {"tenant": asked["tenant"], "queue": asked["queue"], "many": IN_SIGHT + ELSEWHERE}
    found = [row[0] for row in connection.execute(HEAD, named).fetchall()]
    head, rest = found[:IN_SIGHT], found[IN_SIGHT:]
    each = max(1, round(asked["rate"] * BATCH_SECONDS))
    _say(begun=True)
    changes, began = 0, time.perf_counter()
    for batch in range(int(asked["seconds"] / BATCH_SECONDS)):
        chosen = random.sample(head, min(len(head), each // 4)) + random.sample(rest, each - each // 4)
        row = connection.execute(CHANGE, {"ids": chosen, "turn": str(next(turns))}).fetchone()
        changes += row[0] if row is not None else 0
        time.sleep(max(0.0, began + (batch + 1) * BATCH_SECONDS - time.perf_counter()))
    return changes


def _say(**members: object) -> None:
    sys.stdout.write(json.dumps(members) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Make the changes that each line of standard input asks for, until it ends."""
    turns = count()
    for line in sys.stdin:
        asked = json.loads(line)
        with psycopg.connect(asked["url"], autocommit=True) as connection:
            began = time.perf_counter()
            changes = change(connection, asked, turns)
            _say(changes=changes, seconds=time.perf_counter() - began)


if __name__ == "__main__":
    main()
