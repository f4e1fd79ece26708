"""Owns the applications whose registration differs from the good records, one for each code of that comparison."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from jobservice.application import (
    Application,
    Call,
    FailedJob,
    JobCall,
    JobItem,
    Outcome,
    Part,
    RegisteredRule,
    Score,
    ScoreInputs,
    Selecting,
    StepCall,
    StepOrder,
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


async def remind(call: JobCall, item: JobItem) -> Outcome:
    """As the record declares it."""
    return done(f"{call.schedule} reminds {item.label}")


async def unpaid(selecting: Selecting, after: str | None, limit: int) -> Sequence[JobItem]:
    """As the records name it."""
    return [JobItem(key="1", label=selecting.tenant)][:limit] if after is None else []


async def unpaid_at_once(selecting: Selecting) -> Sequence[JobItem]:
    """Takes no place to go on behind, and no limit."""
    return [JobItem(key="1", label=selecting.tenant)]


RULES: dict[str, object] = {"urgency": urgency}


SELECTIONS: dict[str, object] = {"unpaid": unpaid}


async def write_letters(call: StepCall) -> Outcome:
    """A step."""
    return done(f"{call.job} wrote")


async def write_two(call: StepCall, other: StepCall) -> Outcome:
    """Takes more than its call."""
    return done(f"{call.job} and {other.job}")


async def letters_failed(failed: FailedJob) -> Outcome:
    """A failure effect."""
    return done(f"{failed.job}: {failed.summary}")


class Transfer:
    """A step that acts outside."""

    async def send(self, order: StepOrder) -> Outcome:
        """Make the call."""
        return done(order.key)

    async def look_up(self, key: str) -> Outcome | None:
        """Nobody heard of it."""
        return None if key else done(key)


class HalfTransfer:
    """A step that acts outside, and cannot say what became of it."""

    async def send(self, order: StepOrder) -> Outcome:
        """Make the call."""
        return done(order.key)


STEPS: dict[str, object] = {"write-letters": write_letters, "post-letters": write_letters, "send-transfer": Transfer()}
EFFECTS: dict[str, object] = {"letters-failed": letters_failed}


def an_application(
    *,
    rules: dict[str, object] = RULES,
    selections: dict[str, object] = SELECTIONS,
    version: int = 2,
    steps: dict[str, object] = STEPS,
    effects: dict[str, object] = EFFECTS,
    **use_cases: object,
) -> Application:
    """An application `shop` over the good records, with functions under `shop.<name>`; `shop.pay` and `shop.remind` are
    there anyway."""
    application = Application("shop", GOOD)
    application.use_cases["shop.pay"] = pay
    application.use_cases["shop.remind"] = remind
    for name, function in selections.items():
        application.selections[f"shop.{name}"] = function  # type: ignore[assignment]  # wrong ones on purpose
    for name, function in use_cases.items():
        application.use_cases[f"shop.{name}"] = function  # type: ignore[assignment]  # wrong ones on purpose
    for name, function in rules.items():
        registered = RegisteredRule(version=version, function=function)  # type: ignore[arg-type]  # wrong ones on purpose
        application.rules[f"shop.{name}"] = registered
    for name, function in steps.items():
        application.outward_step(f"shop.{name}", function)  # type: ignore[arg-type]  # wrong ones on purpose
    for name, function in effects.items():
        application.failure_effects[f"shop.{name}"] = function  # type: ignore[assignment]  # wrong ones on purpose
    return application


BY_CODE = {
    "use-case-unregistered": an_application(effects={"letters-fail": letters_failed}),
    "use-case-signature": an_application(
        reject=reject_without_reason,
        steps={**STEPS, "write-letters": write_two, "send-transfer": HalfTransfer()},
        effects={"letters-failed": write_two},
    ),
    "rule-unregistered": an_application(reject=reject, rules={}),
    "rule-signature": an_application(reject=reject, rules={"urgency": urgency_without_clock}),
    "rule-version": an_application(reject=reject, version=1),
    "behavior-unrecorded": an_application(
        reject=reject,
        forgive=reject,
        steps={"write-letters": write_letters, "fold-letters": write_letters, "send-transfer": Transfer()},
        rules={"urgency": urgency, "urgence": urgency},
        selections={"unpaid": unpaid, "unpaids": unpaid},
    ),
    "selection-unregistered": an_application(reject=reject, selections={"unpayed": unpaid}),
    "selection-signature": an_application(reject=reject, selections={"unpaid": unpaid_at_once}),
}
