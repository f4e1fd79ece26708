"""Owns what the Worker believes of a confirmed plan: its signature, its digest over the rows as they are, what it counts
for limits (MONEY.md 9, 10, 19). Pure; a row that was written past the service releases nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from jobcontract.money import EXPONENTS
from jobcontract.plan_digest import DigestHead, DigestRow, DigestTotal, account_mark, plan_digest
from jobservice.rules.bulk import Limits
from jobservice.rules.keys import PublicKeys, Signature
from jobservice.rules.limits import Going, Sum, exceeded
from jobservice.rules.turns import Frozen


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """What a plan says of itself, and what its confirmation signed."""

    plan: str
    tenant: str
    owner: str
    command: str
    use_case: str
    use_case_version: int
    parameters: Mapping[str, Any]
    frozen_at: datetime
    count: int
    salt: bytes
    digest: bytes
    signature: Signature


def disbelief(confirmation: Confirmation, rows: Sequence[Frozen], keys: PublicKeys) -> str | None:
    """Why the plan is not what a person confirmed; None where it is."""
    if not keys.verify(confirmation.plan, confirmation.digest, confirmation.signature):
        return (
            f"The signature of its confirmation (key {confirmation.signature.key_id}) does not hold: it was not confirmed "
            "through the API, or the Worker does not have the public key."
        )
    if len(rows) != confirmation.count:
        return f"It has {len(rows):,} rows, and {confirmation.count:,} were confirmed."
    for row in rows:
        if row.payment.currency not in EXPONENTS:
            return f"Row {row.number} is in {row.payment.currency}, which is no currency."
        if account_mark(confirmation.salt, row.payment.account) != row.account_mark:
            return f"Row {row.number} goes to another account than the one that was confirmed."
    if _digest(confirmation, rows) != confirmation.digest.hex():
        return "Its rows are not those that were confirmed: their digest differs."
    return None


def _digest(confirmation: Confirmation, rows: Iterable[Frozen]) -> str:
    rows = tuple(rows)
    head = DigestHead(
        tenant=confirmation.tenant,
        plan=confirmation.plan,
        person=confirmation.owner,
        command=confirmation.command,
        use_case=confirmation.use_case,
        use_case_version=confirmation.use_case_version,
        frozen_at=confirmation.frozen_at,
        parameters={name: str(value) for name, value in confirmation.parameters.items()},
        count=confirmation.count,
        totals=digest_totals(rows),
    )
    return plan_digest(head, map(digest_row, rows))


def digest_row(row: Frozen) -> DigestRow:
    """A frozen row as it goes into the digest."""
    payment = row.payment
    return DigestRow(
        item=row.item,
        money_version=row.money_version,
        key=row.key or "",
        title=row.content.title,
        minor=payment.minor,
        currency=payment.currency,
        exponent=EXPONENTS[payment.currency],
        payee_id=payment.payee_id,
        payee_name=payment.payee_name,
        account_last4=payment.last4,
        account_mark=row.account_mark,
    )


def digest_totals(rows: Iterable[Frozen]) -> tuple[DigestTotal, ...]:
    """Out and back of each currency, counted from the rows themselves."""
    sums: dict[str, list[int]] = {}
    for row in rows:
        payment = row.payment
        total = sums.setdefault(payment.currency, [0, 0, 0, 0])
        at = 2 if payment.minor < 0 else 0
        total[at] += abs(payment.minor)
        total[at + 1] += 1
    return tuple(
        DigestTotal(
            currency=currency,
            exponent=EXPONENTS[currency],
            out_minor=total[0],
            out_count=total[1],
            back_minor=total[2],
            back_count=total[3],
        )
        for currency, total in sorted(sums.items())
    )


def excess(limits: Limits, going: Iterable[Going], counted: Mapping[str, Sum]) -> str | None:
    """Why a confirmed plan may not be applied by its command's limits: the Worker compares its own records."""
    going = tuple(going)
    for each in going:
        if counted.get(each.currency) != each.planned:
            return f"What it sends out in {each.currency} was not counted for limits when it was confirmed."
    broken = exceeded(limits, going)
    return None if broken is None else broken.sentence
