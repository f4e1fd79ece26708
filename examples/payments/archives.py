"""Owns the archive of statements of the example: slow, and it says how far it is ten times a second. It can be cancelled at
any point: what was not archived stays where it is."""

from __future__ import annotations

from jobservice.application import Application, Outcome, Patience, StepCall, done, refused

ARCHIVE = "payments.archive-statements"
STATEMENTS_MOST = 36_000
"""An hour's work."""
_EACH_SECONDS = 0.1


async def gather(call: StepCall) -> Outcome:
    """Whether there is something to archive, and not too much for one job."""
    count = int(call.inputs["statements"])
    if not 1 <= count <= STATEMENTS_MOST:
        return refused(f"A job archives 1 to {STATEMENTS_MOST:,} statements, not {count:,}.")
    return done(_statements(count))


async def archive(call: StepCall) -> Outcome:
    """Archive one statement after the other, ten a second, and say so each time."""
    count = int(call.inputs["statements"])
    for number in range(1, count + 1):
        await call.wait(_EACH_SECONDS)
        await call.progress(100 * number // count, f"{number:,} of {count:,} are in the archive")
    return done(f"{_statements(count)} in the archive")


async def index(call: StepCall) -> Outcome:
    """Write the index of what was archived."""
    return done(f"The index lists {_statements(int(call.inputs['statements']))}")


def _statements(count: int) -> str:
    return "1 statement" if count == 1 else f"{count:,} statements"


def register(application: Application) -> None:
    """Register the steps under the ids of their records."""
    application.step("payments.gather-statements")(gather)
    application.step("payments.archive-statements", Patience(attempts=3, bound=7_200))(archive)
    application.step("payments.index-statements")(index)
