"""The example's records and use cases with two items of content: a demo that is ready at once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from examples.payments import application as example
from jobcontract.money import Money
from jobservice.application import Application, NewJob, NewPayment, NewWorkItem


async def seeder(
    now: datetime,
    push: Callable[[str, str, Sequence[NewWorkItem]], Awaitable[int]],
    submit: Callable[[str, Sequence[NewJob]], Awaitable[int]],
) -> Sequence[str]:
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


application = Application("payments", example.records)
application.seeder = seeder
application.use_cases.update(example.use_cases)
application.rules.update(example.rules)
application.selections.update(example.selections)
application.steps.update(example.steps)
application.failure_effects.update(example.failure_effects)
