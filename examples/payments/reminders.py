"""Owns the reminder of the example: each working morning, the payouts of which nobody knows and nobody has answered yet."""

from __future__ import annotations

from collections.abc import Sequence

from examples.payments.items import NOTES, UNCERTAIN
from jobcontract.ids import NAME_MAX
from jobservice.application import Application, JobCall, JobItem, NewWorkItem, Outcome, Selecting, WorkItem, done


async def unanswered(selecting: Selecting, after: str | None, limit: int) -> Sequence[JobItem]:
    """The uncertain payouts that were there at the instant of the run and still wait, by their ids."""
    while page := await selecting.waiting(UNCERTAIN, after=after, limit=limit):
        found = [_asked(item) for item in page if item.created < selecting.scheduled_at]
        if found:
            return found
        after = page[-1].id
    return []


def _asked(item: WorkItem) -> JobItem:
    return JobItem(
        key=item.id, label=item.title, given={"title": item.title, "since": f"{item.created:%Y-%m-%d %H:%M %Z}"}
    )


async def remind(call: JobCall, item: JobItem) -> Outcome:
    """Keep one note a day for each uncertain payout: somebody has to ask the bank and answer."""
    title, since = str(item.given["title"]), str(item.given["since"])
    day = f"{call.scheduled_at:%Y-%m-%d}"
    note = NewWorkItem(
        key=f"reminder-{day}-{item.key}",
        title=f"Still unanswered: {title}"[:NAME_MAX],
        payload={"item": item.key, "since": since, "run": call.scope},
    )
    await call.push(NOTES, note)
    return done(f"Reminded on {day}: nobody knows since {since}")


def register(application: Application) -> None:
    """Register selection and use case under the ids that records name."""
    application.selection("uncertain.unanswered")(unanswered)
    application.use_case("payments.remind")(remind)
