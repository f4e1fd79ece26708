"""Owns the applications whose registration differs from the good records, one for each code of that comparison."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from jobservice.application import (
    Application,
    Call,
    Outcome,
    Part,
    RegisteredRule,
    Score,
    ScoreInputs,
    WorkItem,
    done,
    score_of,
)

GOOD = Path(__file__).parent / "good"


async def reject(call: Call, item: WorkItem, *, reason: str) -> Outcome:
    """As the record declares it."""
    return done(f"{call.person} rejected {item.id}: {reason}")


async def pay(call: Call, item: WorkItem) -> Outcome:
    """As the record declares it."""
    return done(f"{call.person} pays {item.id}")


async def reject_without_reason(call: Call, item: WorkItem) -> Outcome:
    """Does not take the declared input."""
    return done(f"{call.person} rejected {item.id}")


def urgency(inputs: ScoreInputs, now: datetime) -> Score:
    """As the record says it."""
    over = inputs.money("amount").minor > inputs.thresholds["large"].minor
    return score_of(
        Part(input="amount", shown=str(inputs.money("amount")), points=10 if over else 0, words="ten over large"),
        Part(input="age", shown="its age", points=(now - inputs.since("age")).days, words="one a day"),
        Part(input="invoice", shown="its invoice", points=0 if inputs.values["invoice"] else 5, words="five without"),
    )


def urgency_without_clock(inputs: ScoreInputs) -> Score:
    """Does not take the present instant."""
    return score_of(*(Part(input=name, shown="-", points=0, words="-") for name in inputs.values))


RULES: dict[str, object] = {"urgency": urgency}


def an_application(*, rules: dict[str, object] = RULES, version: int = 2, **use_cases: object) -> Application:
    """An application `shop` over the good records, with functions under `shop.<name>`; `shop.pay` is there anyway."""
    application = Application("shop", GOOD)
    application.use_cases["shop.pay"] = pay
    for name, function in use_cases.items():
        application.use_cases[f"shop.{name}"] = function  # type: ignore[assignment]  # wrong ones on purpose
    for name, function in rules.items():
        registered = RegisteredRule(version=version, function=function)  # type: ignore[arg-type]  # wrong ones on purpose
        application.rules[f"shop.{name}"] = registered
    return application


BY_CODE = {
    "use-case-unregistered": an_application(),
    "use-case-signature": an_application(reject=reject_without_reason),
    "rule-unregistered": an_application(reject=reject, rules={}),
    "rule-signature": an_application(reject=reject, rules={"urgency": urgency_without_clock}),
    "rule-version": an_application(reject=reject, version=1),
    "behavior-unrecorded": an_application(
        reject=reject, forgive=reject, rules={"urgency": urgency, "urgence": urgency}
    ),
}
