"""Owns scoring items where they are pushed and changed: the rule of the queue, the application's function, the clock.

Never decides what a score is (`rules/scores.py`, the application's functions), never touches versions or claims.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial

import structlog

from jobservice.application import Application, RegisteredRule
from jobservice.records import RecordSet
from jobservice.rules.items import Content
from jobservice.rules.queues import Queue
from jobservice.rules.scores import Rule, score_item
from jobservice.store.items import Standing

_log = structlog.get_logger("jobservice.scoring")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorer:
    """The rules in force with the functions that the application registered for them."""

    rules: Mapping[str, Rule] = field(default_factory=dict)
    functions: Mapping[str, RegisteredRule] = field(default_factory=dict)

    @classmethod
    def of(cls, records: RecordSet, application: Application) -> Scorer:
        """Those of a set of records that was checked against the application."""
        return cls(rules=records.rules, functions=application.rules)

    def rule(self, queue: Queue) -> Rule | None:
        """The rule that orders a queue; None where age does."""
        return None if queue.score is None else self.rules[queue.score]

    def stand(
        self,
        queue: Queue,
        content: Content,
        created: datetime,
        now: datetime,
        *,
        on_fault: Callable[[Rule, BaseException], None] | None = None,
    ) -> Standing:
        """Where an item stands by its content at `now`, the database's clock. Never raises for what a rule does.

        `on_fault` gets the rule and what it did wrong; without it that is logged.
        """
        rule = self.rule(queue)
        if rule is None:
            return Standing(scored=None, rule=None, at=now)
        scored = score_item(
            rule,
            self.functions[rule.id].function,
            content,
            created,
            now,
            on_fault=partial(on_fault or log_fault, rule),
        )
        return Standing(scored=scored, rule=rule, at=now)


def log_fault(rule: Rule, error: BaseException, **more: int) -> None:
    """Write what a rule did wrong into the log: its items stand parked, and people see that, not why."""
    _log.error("rule-failed", rule=rule.id, version=rule.version, exc_info=error, **more)
