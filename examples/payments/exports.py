"""Owns the export of a published month as a file. It can fail in three ways, by its inputs alone: a rule refuses the month,
writing a format breaks, or the store is never ready to take it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence

from examples.payments.payouts import Payout, read_payouts
from examples.payments.seeding import SAMPLE
from jobservice.application import Application, Outcome, Patience, StepCall, done, refused, retry

EXPORT = "payments.export"
STORES = ("records-office", "auditors")
"""Stores that take what they are given."""
FULL_STORE = "cold-store"
"""A store that is asked for patience, and never has room."""
_WIDTHS: Mapping[str, int] = {"key": 40, "payee": 60, "amount": 20}
"""Columns of the fixed format. Somebody added `purpose` to the rows and forgot it here."""


async def check_export(call: StepCall) -> Outcome:
    """Whether the month was published, and there is such a store."""
    month, store = str(call.inputs["month"]), str(call.inputs["store"])
    known = sorted(path.stem.removeprefix("leeds-") for path in SAMPLE.glob("leeds-*.csv"))
    if month not in known:
        return refused(f"Nothing was published for {month}; there are {', '.join(known)}.")
    if store not in (*STORES, FULL_STORE):
        return refused(f"There is no store {store}; there are {', '.join((*STORES, FULL_STORE))}.")
    if call.inputs["format"] not in _FORMATS:
        return refused(f"There is no format {call.inputs['format']}; there are {', '.join(_FORMATS)}.")
    return done(f"{month} was published")


async def render_export(call: StepCall) -> Outcome:
    """Write the file; only its digest and size are kept."""
    name = f"leeds-{call.inputs['month']}.csv"
    payouts = read_payouts(name, (SAMPLE / name).read_bytes()).payouts
    content = _FORMATS[str(call.inputs["format"])](payouts).encode()
    digest = hashlib.sha256(content).hexdigest()
    call.keep(digest=f"sha256:{digest}", size=len(content), payouts=len(payouts))
    return done(f"{len(payouts):,} payouts in {len(content):,} bytes")


async def deliver_export(call: StepCall) -> Outcome:
    """Deliver it to the store."""
    store = str(call.inputs["store"])
    if store == FULL_STORE:
        return retry(f"The store {store} has no room yet and asks to come again.", after_seconds=1)
    return done(f"Delivered to {store}: {call.result_of('render').get('size'):,} bytes")


def _csv(payouts: Sequence[Payout]) -> str:
    return "".join(f"{each.key},{each.payee},{each.money}\n" for each in payouts)


def _fixed(payouts: Sequence[Payout]) -> str:
    rows = [
        {"key": each.key, "payee": each.payee, "amount": str(each.money), "purpose": each.purpose} for each in payouts
    ]
    return "".join("".join(f"{text:<{_WIDTHS[name]}}" for name, text in row.items()) + "\n" for row in rows)


_FORMATS: Mapping[str, Callable[[Sequence[Payout]], str]] = {"csv": _csv, "fixed": _fixed}


def register(application: Application) -> None:
    """Register the steps under the ids of their records."""
    application.step("payments.check-export")(check_export)
    application.step("payments.render-export", Patience(attempts=2, first_wait=1, longest_wait=2))(render_export)
    application.step("payments.deliver-export", Patience(attempts=3, first_wait=1, longest_wait=2))(deliver_export)
