"""Owns whether the items of a queue can give what its rule decides by. Reads no file, leaves no finding."""

from __future__ import annotations

from collections.abc import Iterator

from jobservice.records.forms import nearest
from jobservice.records.queues import Carries, QueueRecord
from jobservice.records.rules import DECLARED
from jobservice.rules.scores import Rule, RuleInput


def misfits(rule: Rule, queue: QueueRecord) -> tuple[str, ...]:
    """For each input that the items of `queue` cannot give, what comes after the rule's id in a sentence."""
    return tuple(fault for each in rule.inputs for fault in _misfit(each, queue))


def _misfit(wanted: RuleInput, queue: QueueRecord) -> Iterator[str]:
    if wanted.source == "amount" and queue.carries is Carries.NOTHING:
        yield f"decides by the amount ({wanted.name}), but the items of this queue carry nothing"
    if not wanted.source.startswith(DECLARED):
        return
    name = wanted.source.removeprefix(DECLARED)
    declared = {each.name: each for each in queue.inputs}
    if name not in declared:
        hint = nearest(name, declared).rstrip("?").replace(" Did you mean", "; the nearest is")
        yield f"decides by {wanted.source}, which the items of this queue do not declare{hint}"
    elif declared[name].type.value != wanted.type.value:
        yield f"takes {wanted.source} as {wanted.type}, but the items of this queue declare it as {declared[name].type}"
