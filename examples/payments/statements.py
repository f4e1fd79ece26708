"""Owns the statements of the example: each night, one for every supplier to whom money went out since the night before.

A statement is a note that people find in `payments.notes`; its key is the night and the supplier, so that none is written
twice, however often a run is repeated.
"""

from __future__ import annotations

from collections.abc import Sequence

from examples.payments.items import NOTES
from examples.payments.releases import released, stretch, totals
from jobcontract.ids import NAME_MAX
from jobservice.application import Application, JobCall, JobItem, NewWorkItem, Outcome, Released, Selecting, done


async def paid_suppliers(selecting: Selecting, after: str | None, limit: int) -> Sequence[JobItem]:
    """The suppliers paid since the run before, by their ids; each with what went out to it and came back.

    Every batch reads the whole night, since the payouts of one supplier stand anywhere in it.
    """
    night, end = stretch(selecting)
    paid: dict[str, list[Released]] = {}
    async for each in released(selecting, night, end):
        if after is None or each.payee_id > after:
            paid.setdefault(each.payee_id, []).append(each)
    return [
        JobItem(
            key=payee,
            label=paid[payee][-1].payee_name,
            given={
                "night": f"{night:%Y-%m-%d}",
                "payee": paid[payee][-1].payee_name,
                "totals": totals(each.money for each in paid[payee]),
            },
        )
        for payee in sorted(paid)[:limit]
    ]


async def send_statement(call: JobCall, item: JobItem) -> Outcome:
    """Keep the statement of one supplier as a note; where the supplier has one for that night, it stays the only one."""
    night, payee, sums = (str(item.given[name]) for name in ("night", "payee", "totals"))
    note = NewWorkItem(
        key=f"statement-{night}-{item.key}",
        title=f"Statement of {night}, {payee}"[:NAME_MAX],
        payload={"payee": payee, "totals": sums, "run": call.scope},
    )
    await call.push(NOTES, note)
    return done(f"Statement of {night}: {sums}")


def register(application: Application) -> None:
    """Register selection and use case under the ids that records name."""
    application.selection("statements.paid-suppliers")(paid_suppliers)
    application.use_case("payments.send-statement")(send_statement)
