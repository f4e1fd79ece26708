"""Owns the form of queue records: claim mode, what items carry, which rule orders them, use cases, the lease."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from jobcontract.ids import NAME_MAX, REASON_MAX
from jobcontract.states import ClaimMode
from jobservice.records.forms import Form
from jobservice.records.inputs import read_inputs
from jobservice.records.kind import Kind, Reference
from jobservice.records.yaml import Mapping, Scalar
from jobservice.rules.queues import DeclaredInput


class Carries(StrEnum):
    """What the items of a queue carry."""

    MONEY = "money"
    NOTHING = "nothing"


class _ScoreMode(StrEnum):
    """What a queue says of its score in place of a rule."""

    NONE = "none"


_NO_RULE = frozenset({"", "~", "no", "none", "null", "false"})
"""What people write who mean that a queue has no rule: it needs its reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueRecord:
    """A queue record as written; `lease` is None where the claim mode is disabled, `score` where age orders it."""

    title: str
    claim: ClaimMode
    carries: Carries
    inputs: tuple[DeclaredInput, ...]
    score: Reference | None
    use_cases: tuple[Reference, ...]
    lease: Reference | None


def _read(form: Form, _identifier: str) -> QueueRecord | None:
    title = form.text("title", most=NAME_MAX)
    claim = form.choice("claim", ClaimMode, unstated="claim-mode-unstated")
    carries, inputs = _items(form)
    score, scored = _score(form)
    use_cases = form.slugs("useCases")
    lease = form.slug("lease", required=claim in (ClaimMode.OPTIONAL, ClaimMode.REQUIRED))
    form.finish()
    if claim is ClaimMode.DISABLED and "lease" in form:
        form.found(
            "field-invalid", form.line_of("lease"), "`lease`: a queue without claims has no lease; leave it out."
        )
        return None
    if title is None or claim is None or carries is None or inputs is None or use_cases is None:
        return None
    if not scored or (lease is None and claim is not ClaimMode.DISABLED):
        return None
    return QueueRecord(
        title=title,
        claim=claim,
        carries=carries,
        inputs=inputs,
        score=score,
        use_cases=tuple(Reference(id=identifier, line=line) for identifier, line in use_cases),
        lease=None if lease is None else Reference(id=lease, line=form.line_of("lease")),
    )


def _score(form: Form) -> tuple[Reference | None, bool]:
    """The rule that orders the queue, or None where the record says that there is none; whether it could be read."""
    wanted = "name a rule, or say {mode: none, reason: why} to put the oldest item first"
    node = form.node("score", required=True, missing="score-unstated", form=wanted)
    if node is None:
        return None, False
    if isinstance(node, Scalar) and node.text in _NO_RULE:
        form.found("field-invalid", form.line_of("score"), f"`score`: {wanted}.")
        return None, False
    if not isinstance(node, Mapping):
        rule = form.slug("score")
        return (None, False) if rule is None else (Reference(id=rule, line=form.line_of("score")), True)
    stated = form.form("score")
    if stated is None:
        return None, False
    mode = stated.choice("mode", _ScoreMode)
    reason = stated.text("reason", most=REASON_MAX)
    stated.finish()
    return None, mode is not None and reason is not None


def _items(form: Form) -> tuple[Carries | None, tuple[DeclaredInput, ...] | None]:
    items = form.form("items")
    if items is None:
        return None, None
    carries = items.choice("carries", Carries)
    inputs = read_inputs(items, "inputs")
    items.finish()
    return carries, inputs


QUEUE = Kind(word="queue", read=_read)
