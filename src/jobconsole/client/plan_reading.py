"""Owns reading a whole plan before it is confirmed: every page in the order of numbers, through the digest (MONEY.md 9).

    reading = PlanReading(service, plan)
    digest = await reading.run()             # PlanUnfit, or the errors of `Service.get`
    reading.checked, reading.count, reading.rows

The digest comes from nowhere else: no answer carries it. What the service says of a plan is believed only where it
fits together: no gap between numbers, the decimals of this console's own table, totals that its rows add up to. Never
keeps the loop of the screen for longer than a slice.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from jobconsole.client import plans
from jobconsole.client.errors import PlanUnfit
from jobconsole.client.plan_rows import PlanRow, PlanRows, RawPage, read_page, read_rows
from jobconsole.client.service import Service
from jobcontract.money import EXPONENTS
from jobcontract.plan_digest import DigestHead, DigestRow, DigestTotal, PlanDigest, parameter_texts
from jobcontract.plans import PLAN_PAGE_MOST, Plan
from jobcontract.routes import PLAN_ITEMS
from jobcontract.states import PlanSort

SLICE = 0.004
"""Seconds of rows after which the loop has its turn again."""
_LOOK = 32
"""Rows between two looks at the clock."""
_EDITIONS_MOST = 5
"""How often a plan may be frozen anew while it is read."""


@dataclass(slots=True)
class _Sum:
    """What goes out and comes back in one currency, as the rows say."""

    exponent: int
    out_minor: int = 0
    out_count: int = 0
    back_minor: int = 0
    back_count: int = 0
    largest: int = 0
    """Of what goes out."""


@dataclass(slots=True, kw_only=True)
class _Reached:
    """How far one edition was read."""

    plan: Plan
    digest: PlanDigest
    rows: PlanRows = field(default_factory=PlanRows)
    sums: dict[str, _Sum] = field(default_factory=dict)
    payees: set[str] = field(default_factory=set)


class PlanReading:
    """The reading of one plan; starts over by itself where the plan is frozen anew meanwhile.

    `on_progress` is called after each slice: from the loop, seldom enough to paint each time.
    """

    def __init__(
        self, service: Service, plan: Plan, *, page: int = PLAN_PAGE_MOST, on_progress: Callable[[], None] | None = None
    ) -> None:
        self._service = service
        self._page = page
        self._reached = _begun(plan)
        self.on_progress = on_progress
        self.digest: str | None = None
        """64 hexadecimal digits once every row went through; None before, and for ever where the plan is unfit."""

    @property
    def plan(self) -> Plan:
        """The head of the edition that is being read."""
        return self._reached.plan

    @property
    def edition(self) -> int:
        """The edition that is being read."""
        return self._reached.plan.edition

    @property
    def rows(self) -> Sequence[PlanRow]:
        """The rows read so far, row N at N-1; another list after the reading started over."""
        return self._reached.rows

    @property
    def checked(self) -> int:
        """How many rows went through the digest."""
        return len(self._reached.rows)

    @property
    def count(self) -> int:
        """How many rows the plan has."""
        return self._reached.plan.count

    @property
    def done(self) -> bool:
        """Whether every row went through and all fits together: confirming may be offered."""
        return self.digest is not None

    async def run(self) -> str:
        """Read to the end; the digest. PlanUnfit, ServiceRefused, SignInAgain, ServiceAway.

        After an error, or a cancelled run, run it again: it reads from the first row.
        """
        for _ in range(_EDITIONS_MOST):
            self._reached = _begun(self.plan)
            self.digest = None
            if await self._read_edition():
                self.digest = self._reached.digest.hexdigest()
                self._tell()
                return self.digest
            self._reached = _begun(await plans.plan(self._service, self.plan.id))
        raise PlanUnfit("The plan was frozen anew again and again while it was read. Read it again in a moment.")

    async def _read_edition(self) -> bool:
        """Read every page of this edition; False where the plan is another by now."""
        _check_decimals(self.plan)
        cursor: str | None = None
        while True:
            page = await self._fetch(cursor)
            if page.edition != self.edition:
                return False
            await self._take(page)
            if page.next is None:
                break
            if not page.items:
                raise PlanUnfit(f"{_called(self.plan)} has an empty page in its middle: it must not be confirmed.")
            cursor = page.next
        _check_whole(self._reached)
        return True

    async def _fetch(self, cursor: str | None) -> RawPage:
        query = {"sort": PlanSort.NUMBER.value, "cursor": cursor, "limit": self._page}
        body = await self._service.fetch(PLAN_ITEMS, parts={"plan": self.plan.id}, query=query)
        await asyncio.sleep(0)
        page = read_page(body, self._service.address)
        await asyncio.sleep(0)
        return page

    async def _take(self, page: RawPage) -> None:
        """Put the rows of a page through, a slice at a time."""
        reached = self._reached
        begun = time.monotonic()
        for at, (kept, hashed) in enumerate(read_rows(page.items, self._service.address), 1):
            _add(reached, kept[0], hashed)
            try:
                reached.digest.add(hashed)
            except ValueError:
                raise PlanUnfit(
                    f"Row {kept[0]} of {_called(self.plan)} is not where its id belongs: it must not be confirmed."
                ) from None
            reached.rows.add(kept)
            if at % _LOOK == 0 and time.monotonic() - begun >= SLICE:
                self._tell()
                await asyncio.sleep(0)
                begun = time.monotonic()
        self._tell()

    def _tell(self) -> None:
        if self.on_progress is not None:
            self.on_progress()


def head_of(plan: Plan) -> DigestHead:
    """What of a plan's head goes through the digest."""
    return DigestHead(
        tenant=plan.tenant,
        plan=plan.id,
        person=plan.owner.id,
        command=plan.command,
        use_case=plan.use_case,
        use_case_version=plan.use_case_version,
        frozen_at=plan.frozen_at,
        parameters=parameter_texts(plan.parameters),
        count=plan.count,
        totals=tuple(
            DigestTotal(
                currency=total.currency,
                exponent=total.exponent,
                out_minor=total.out_minor,
                out_count=total.out_count,
                back_minor=total.back_minor,
                back_count=total.back_count,
            )
            for total in plan.totals
        ),
    )


def _begun(plan: Plan) -> _Reached:
    return _Reached(plan=plan, digest=PlanDigest(head_of(plan)))


def _called(plan: Plan) -> str:
    return f"the plan {plan.name}"


def _check_decimals(plan: Plan) -> None:
    for total in plan.totals:
        _known(plan, total.currency, total.exponent)


def _known(plan: Plan, currency: str, exponent: int) -> None:
    """PlanUnfit where the service counts other decimals than this console: a hundredfold amount looks alike."""
    own = EXPONENTS.get(currency)
    if own is None:
        raise PlanUnfit(
            f"This console does not know the currency {currency[:8]}: {_called(plan)} must not be confirmed."
        )
    if own != exponent:
        raise PlanUnfit(
            f"The service counts {exponent} decimals for {currency}, this console {own}: {_called(plan)} must not be "
            "confirmed. Update the older of the two."
        )


def _add(reached: _Reached, number: int, row: DigestRow) -> None:
    """Add a row's amount to the sums. PlanUnfit for a gap, or for decimals that differ."""
    plan = reached.plan
    expected = len(reached.rows) + 1
    if number != expected:
        raise PlanUnfit(
            f"Row {expected} of {_called(plan)} is missing (row {number} came instead): it must not be confirmed."
        )
    total = reached.sums.get(row.currency)
    if total is None:
        _known(plan, row.currency, row.exponent)
        total = reached.sums[row.currency] = _Sum(exponent=row.exponent)
    elif total.exponent != row.exponent:
        _known(plan, row.currency, row.exponent)
    if row.minor < 0:
        total.back_minor -= row.minor
        total.back_count += 1
    else:
        total.out_minor += row.minor
        total.out_count += 1
        total.largest = max(total.largest, row.minor)
    reached.payees.add(row.payee_id)


def _check_whole(reached: _Reached) -> None:
    """PlanUnfit where the rows are not as many as the head says, or do not add up to its totals."""
    plan = reached.plan
    if len(reached.rows) != plan.count:
        raise PlanUnfit(
            f"{len(reached.rows):,} of the {plan.count:,} rows of {_called(plan)} came: it must not be confirmed."
        )
    told = {
        total.currency: (total.out_minor, total.out_count, total.back_minor, total.back_count) for total in plan.totals
    }
    added = {
        currency: (total.out_minor, total.out_count, total.back_minor, total.back_count)
        for currency, total in reached.sums.items()
    }
    if added != told or any(total.net_minor != total.out_minor - total.back_minor for total in plan.totals):
        wrong = sorted(code for code in told.keys() | added.keys() if told.get(code) != added.get(code))
        raise PlanUnfit(
            f"The rows of {_called(plan)} do not add up to its totals ({', '.join(wrong) or 'net'}): it must not be "
            "confirmed."
        )
    largest = {each.amount.currency: each.amount.minor for each in plan.largest}
    if largest != {currency: total.largest for currency, total in reached.sums.items() if total.largest}:
        raise PlanUnfit(f"The largest amount of {_called(plan)} is not the one it names: it must not be confirmed.")
    if plan.payees != len(reached.payees):
        raise PlanUnfit(
            f"The rows of {_called(plan)} go to {len(reached.payees):,} payees, it says {plan.payees:,}: it must not be "
            "confirmed."
        )
