"""Owns the drill of the example: a note that the people on duty have to find and resolve, put there by hand."""

from __future__ import annotations

from examples.payments.items import NOTES
from jobservice.application import Application, JobCall, JobItem, NewWorkItem, Outcome, done


async def begin_drill(call: JobCall, item: JobItem) -> Outcome:
    """Put the note of this drill into the queue; one a run, however often it is tried."""
    when = f"{call.scheduled_at:%Y-%m-%d %H:%M:%S %Z}"
    note = NewWorkItem(
        key=f"drill-{call.scheduled_at:%Y-%m-%dT%H:%M:%S.%f}Z",
        title=f"Drill of {when}: resolve this note, nothing else",
        payload={"run": call.scope, "item": item.key},
    )
    await call.push(NOTES, note)
    return done(f"The drill of {when} has begun")


def register(application: Application) -> None:
    """Register the use case under the id of its record."""
    application.use_case("payments.begin-drill")(begin_drill)
