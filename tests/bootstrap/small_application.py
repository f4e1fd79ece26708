"""The example's records and use cases with two items of content: a demo that is ready at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from pathlib import Path

import examples.payments
from examples.payments import scoring, use_cases
from jobcontract.money import Money
from jobservice.application import Application, NewPayment, NewWorkItem


async def seeder(now: datetime, push: Callable[[str, str, Sequence[NewWorkItem]], Awaitable[int]]) -> Sequence[str]:
    """Two payouts."""
    items = [
        NewWorkItem(
            key=f"key-{number}",
            title=f"payout {number}",
            created=now,
            inputs={"invoice": f"INV-{number}"},
            payment=NewPayment(
                money=Money(minor=1000 + number, currency="GBP"),
                payee_id="p1",
                payee_name="Payee",
                account="GB12345678",
            ),
        )
        for number in range(2)
    ]
    return [
        f"{await push('leeds', 'payments.payouts', items)} new",
        f"{await push('leeds', 'payments.payouts', items)} new",
    ]


application = Application("payments", Path(examples.payments.__file__).parent / "records")
application.seeder = seeder
use_cases.register(application)
scoring.register(application)
