"""Whether the items of a queue can give what its rule decides by."""

from __future__ import annotations

import pytest

from jobcontract.states import ClaimMode, InputType, RuleInputType
from jobservice.records.queues import Carries, QueueRecord
from jobservice.records.score_fit import misfits
from jobservice.rules.queues import DeclaredInput
from jobservice.rules.scores import Rule, RuleInput

DECLARED = {
    "invoice": InputType.TEXT,
    "tries": InputType.INTEGER,
    "urgent": InputType.BOOLEAN,
    "due": InputType.INSTANT,
    "who": InputType.PERSON,
}


def queue(carries: Carries) -> QueueRecord:
    """A queue whose items declare one input of each type."""
    inputs = tuple(
        DeclaredInput(name=name, type=kind, title=name, required=False, most=None) for name, kind in DECLARED.items()
    )
    return QueueRecord(
        title="Q", claim=ClaimMode.DISABLED, carries=carries, inputs=inputs, score=None, use_cases=(), lease=None
    )


def rule(kind: RuleInputType, source: str) -> Rule:
    """A rule of one input."""
    declared = RuleInput(name="one", type=kind, title="One", source=source)
    return Rule(id="r", title="R", version=1, formula="f", inputs=(declared,))


@pytest.mark.parametrize(
    ("kind", "source"),
    [
        (RuleInputType.MONEY, "amount"),
        (RuleInputType.AGE, "created"),
        (RuleInputType.TEXT, "input.invoice"),
        (RuleInputType.INTEGER, "input.tries"),
        (RuleInputType.BOOLEAN, "input.urgent"),
    ],
)
def test_what_the_items_give_fits(kind: RuleInputType, source: str) -> None:
    assert misfits(rule(kind, source), queue(Carries.MONEY)) == ()


@pytest.mark.parametrize(
    ("kind", "source", "said"),
    [
        (RuleInputType.MONEY, "amount", "decides by the amount (one), but the items of this queue carry nothing"),
        (
            RuleInputType.TEXT,
            "input.invoices",
            "decides by input.invoices, which the items of this queue do not declare; the nearest is `invoice`",
        ),
        (RuleInputType.TEXT, "input.zzz", "decides by input.zzz, which the items of this queue do not declare"),
        (
            RuleInputType.TEXT,
            "input.tries",
            "takes input.tries as text, but the items of this queue declare it as integer",
        ),
        (RuleInputType.TEXT, "input.due", "takes input.due as text, but the items of this queue declare it as instant"),
        (RuleInputType.TEXT, "input.who", "takes input.who as text, but the items of this queue declare it as person"),
    ],
)
def test_what_they_cannot_give_is_named(kind: RuleInputType, source: str, said: str) -> None:
    assert misfits(rule(kind, source), queue(Carries.NOTHING)) == (said,)
