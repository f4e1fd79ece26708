"""Owns computing one batch of scores, for the run that a schedule starts and for the look after a start alike.

In a thread of its own: a rule that takes long must not hold up heartbeats, renewals and other work.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from jobservice.rules.queues import Queue
from jobservice.rules.scores import Rule
from jobservice.store.items import Standing
from jobservice.store.scores import ToScore
from jobservice.usecases.scoring import Scorer, log_fault

COMPUTING_SECONDS = 5.0
"""How long a batch is computed at most before what there is of it is written: well inside any lease."""

Computed = tuple[ToScore, Standing]
"""An item and where it stands now."""


@dataclass(slots=True)
class Faults:
    """What rules did wrong: the first fault of each is logged, however many items it parks."""

    first: dict[str, tuple[Rule, BaseException]] = field(default_factory=dict)
    count: int = 0

    def add(self, rule: Rule, error: BaseException) -> None:
        """Keep a fault."""
        self.count += 1
        self.first.setdefault(rule.id, (rule, error))

    def log(self) -> None:
        """Write them into the log, once."""
        for rule, error in self.first.values():
            log_fault(rule, error, faults=self.count)
        self.first.clear()


def compute(
    scorer: Scorer, queue: Queue, items: Sequence[ToScore], clock: datetime, faults: Faults
) -> Sequence[Computed]:
    """As many of `items` as a batch has time for, one at least, as they stand at `clock`."""
    ending = time.monotonic() + COMPUTING_SECONDS
    computed: list[Computed] = []
    for item in items:
        standing = scorer.stand(queue, item.content, item.created, clock, on_fault=faults.add)
        computed.append((item, standing))
        if time.monotonic() > ending:
            break
    return computed
