"""Owns the applications whose registration differs from the good records, one for each code of that comparison."""

from __future__ import annotations

from pathlib import Path

from jobservice.application import Application, Call, Outcome, WorkItem, done

GOOD = Path(__file__).parent / "good"


async def reject(call: Call, item: WorkItem, *, reason: str) -> Outcome:
    """As the record declares it."""
    return done(f"{call.person} rejected {item.id}: {reason}")


async def reject_without_reason(call: Call, item: WorkItem) -> Outcome:
    """Does not take the declared input."""
    return done(f"{call.person} rejected {item.id}")


def an_application(**use_cases: object) -> Application:
    """An application `shop` over the good records, with functions under `shop.<name>`."""
    application = Application("shop", GOOD)
    for name, function in use_cases.items():
        application.use_cases[f"shop.{name}"] = function  # type: ignore[assignment]  # wrong ones on purpose
    return application


BY_CODE = {
    "use-case-unregistered": an_application(),
    "use-case-signature": an_application(reject=reject_without_reason),
    "behavior-unrecorded": an_application(reject=reject, forgive=reject),
}
