"""Owns the calls about recoveries: plans that replay, requeue, discard or disable more than one thing. Screens and
headless twins run these. Reading a whole one with its digest: `RecoveryReading`, here too.

    reading = RecoveryReading(service, recovery)
    digest = await reading.run()             # PlanUnfit, or the errors of `Service.get`
    await confirm(service, recovery.id, digest, code, key)

Every call that acts takes a key made with `new_key()`, as in `queues`. The digest comes from nowhere but the rows: no
answer carries it, and rows of two editions never go through one.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Sequence

from pydantic import SecretStr

from jobconsole.client.errors import PlanUnfit, PlanUnknown
from jobconsole.client.service import Service
from jobcontract.ids import PAGE_MAX
from jobcontract.money import EXPONENTS
from jobcontract.operating_routes import (
    ABORT_RECOVERY,
    CONFIRM_RECOVERY,
    DROP_RECOVERY,
    MAKE_RECOVERY,
    PAUSE_RECOVERY,
    RECOVERIES,
    RECOVERY,
    RECOVERY_LEFT_OUT,
    RECOVERY_ROWS,
    RESUME_RECOVERY,
    TAKE_OUT_OF_RECOVERY,
)
from jobcontract.plans import PLAN_PAGE_MOST
from jobcontract.recoveries import (
    ConfirmRecovery,
    Recoveries,
    Recovery,
    RecoveryChanged,
    RecoveryDetail,
    RecoveryLeftOut,
    RecoveryLeftOuts,
    RecoveryOrder,
    RecoveryRow,
    RecoveryRows,
    RecoverySteer,
    ResumeRecovery,
    TakeOutOrder,
)
from jobcontract.recovery_digest import RecoveryDigest, RecoveryDigestHead, RecoveryDigestMoney, RecoveryDigestRow
from jobcontract.states import Turn

PAGE = 200
"""Rows of a page where the caller does not say."""
READING_PAGE = 250
"""Rows of a page of a reading: so many become models within one slice of a screen's loop."""
_EDITIONS_MOST = 5
"""How often a recovery may be frozen anew while it is read."""
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


async def make(service: Service, order: RecoveryOrder, key: str) -> Recovery:
    """Freeze a set on the server; nothing is done before it is confirmed."""
    return (await service.post(MAKE_RECOVERY, order, RecoveryChanged, key=key)).recovery


async def recoveries(service: Service, *, live: bool = False, cursor: str | None = None, limit: int = 50) -> Recoveries:
    """One page of the tenant's recoveries, the latest first, at most `PAGE_MAX`; `live`: no ended one."""
    query = {"state": "live" if live else None, "cursor": cursor, "limit": limit}
    return await service.get(RECOVERIES, Recoveries, query=query)


async def recovery(service: Service, identifier: str) -> RecoveryDetail:
    """One recovery with the first of its rows."""
    return await service.get(RECOVERY, RecoveryDetail, parts={"recovery": identifier})


async def find(service: Service, text: str) -> Recovery:
    """The recovery with that id, or with that name (`lark-42`); PlanUnknown where none among the latest has it."""
    if _ID.fullmatch(text):
        return (await recovery(service, text)).recovery
    listed = (await recoveries(service, limit=PAGE_MAX)).recoveries
    found = next((each for each in listed if each.name == text), None)
    if found is None:
        names = ", ".join(each.name for each in listed[:5]) or "none"
        raise PlanUnknown(f"There is no recovery {text[:80]} among the latest; the first ones are: {names}.")
    return found


async def rows(
    service: Service, identifier: str, *, turn: Turn | None = None, cursor: str | None = None, limit: int = PAGE
) -> RecoveryRows:
    """One page of its rows by number, at most `PLAN_PAGE_MOST`; `turn`: only those that are there."""
    query = {"turn": None if turn is None else turn.value, "cursor": cursor, "limit": limit}
    return await service.get(RECOVERY_ROWS, RecoveryRows, parts={"recovery": identifier}, query=query)


async def every_row(service: Service, identifier: str) -> AsyncIterator[RecoveryRow]:
    """All rows of one edition, page by page; PlanUnfit where it was frozen anew in between."""
    cursor: str | None = None
    edition: int | None = None
    while True:
        page = await rows(service, identifier, cursor=cursor, limit=PLAN_PAGE_MOST)
        if edition is not None and page.edition != edition:
            raise PlanUnfit("The recovery was frozen anew while it was read. Read it again.")
        edition = page.edition
        for row in page.rows:
            yield row
        if page.next is None:
            return
        cursor = page.next


async def left_out(
    service: Service, identifier: str, *, cursor: str | None = None, limit: int = PAGE
) -> RecoveryLeftOuts:
    """One page of what is not in it, and why. At most 1,000 are kept; the recovery's own counts are exact."""
    query = {"cursor": cursor, "limit": limit}
    return await service.get(RECOVERY_LEFT_OUT, RecoveryLeftOuts, parts={"recovery": identifier}, query=query)


async def every_left_out(service: Service, identifier: str) -> AsyncIterator[RecoveryLeftOut]:
    """All that are kept, page by page."""
    cursor: str | None = None
    while True:
        page = await left_out(service, identifier, cursor=cursor, limit=PLAN_PAGE_MOST)
        for row in page.left_out:
            yield row
        if page.next is None:
            return
        cursor = page.next


async def take_out(service: Service, identifier: str, keys: Sequence[str], key: str) -> Recovery:
    """Take rows out by their `key`; the answer is the recovery frozen anew: another edition, the same name."""
    order = TakeOutOrder(keys=tuple(keys))
    parts = {"recovery": identifier}
    return (await service.post(TAKE_OUT_OF_RECOVERY, order, RecoveryChanged, key=key, parts=parts)).recovery


async def drop(service: Service, identifier: str, reason: str, key: str) -> Recovery:
    """Give an open recovery up."""
    order, parts = RecoverySteer(reason=reason), {"recovery": identifier}
    return (await service.post(DROP_RECOVERY, order, RecoveryChanged, key=key, parts=parts)).recovery


async def confirm(service: Service, identifier: str, digest: str, code: SecretStr | None, key: str) -> Recovery:
    """Confirm what was read; `code` only where the recovery moves money (its `confirm_by` says so)."""
    order, parts = ConfirmRecovery(digest=digest, code=code), {"recovery": identifier}
    return (await service.post(CONFIRM_RECOVERY, order, RecoveryChanged, key=key, parts=parts)).recovery


async def pause(service: Service, identifier: str, reason: str, key: str) -> Recovery:
    """Let no further row begin."""
    order, parts = RecoverySteer(reason=reason), {"recovery": identifier}
    return (await service.post(PAUSE_RECOVERY, order, RecoveryChanged, key=key, parts=parts)).recovery


async def resume(service: Service, identifier: str, reason: str, code: SecretStr | None, key: str) -> Recovery:
    """Go on with a paused one; one that moves money takes a code."""
    order, parts = ResumeRecovery(reason=reason, code=code), {"recovery": identifier}
    return (await service.post(RESUME_RECOVERY, order, RecoveryChanged, key=key, parts=parts)).recovery


async def abort(service: Service, identifier: str, reason: str, key: str) -> Recovery:
    """End it: what has begun goes on to its end, nothing else is begun."""
    order, parts = RecoverySteer(reason=reason), {"recovery": identifier}
    return (await service.post(ABORT_RECOVERY, order, RecoveryChanged, key=key, parts=parts)).recovery


async def digest_of(service: Service, recovery: Recovery) -> str:
    """The digest of a whole recovery over every page; errors as `RecoveryReading.run`."""
    return await RecoveryReading(service, recovery).run()


class RecoveryReading:
    """The reading of one recovery; starts over by itself where it is frozen anew meanwhile.

    `on_progress` is called after each page, from the loop.
    """

    def __init__(
        self,
        service: Service,
        recovery: Recovery,
        *,
        page: int = READING_PAGE,
        on_progress: Callable[[], None] | None = None,
    ) -> None:
        self._service = service
        self._page = page
        self.recovery = recovery
        """The head of the edition that is being read."""
        self.rows: list[RecoveryRow] = []
        """The rows read so far, row N at N-1; another list after the reading started over."""
        self.on_progress = on_progress
        self.digest: str | None = None
        """64 hexadecimal digits once every row went through; None before, and for ever where it is unfit."""

    @property
    def checked(self) -> int:
        """How many rows went through the digest."""
        return len(self.rows)

    @property
    def count(self) -> int:
        """How many rows the recovery has."""
        return self.recovery.count

    @property
    def done(self) -> bool:
        """Whether every row went through and all fits together: confirming may be offered."""
        return self.digest is not None

    async def run(self) -> str:
        """Read to the end; the digest. PlanUnfit, ServiceRefused, SignInAgain, ServiceAway.

        After an error, or a cancelled run, run it again: it reads from the first row.
        """
        for _ in range(_EDITIONS_MOST):
            self.rows, self.digest = [], None
            read = await self._read_edition()
            if read is not None:
                self.digest = read
                self._tell()
                return read
            self.recovery = (await recovery(self._service, self.recovery.id)).recovery
        raise PlanUnfit("The recovery was frozen anew again and again while it was read. Read it again in a moment.")

    async def _read_edition(self) -> str | None:
        """The digest over every page of this edition; None where the recovery is another by now."""
        head = self.recovery
        _check_decimals(head)
        digest = RecoveryDigest(head_of(head))
        cursor: str | None = None
        while True:
            page = await rows(self._service, head.id, cursor=cursor, limit=self._page)
            if page.edition != head.edition:
                return None
            for row in page.rows:
                try:
                    digest.add(row_of(row))
                except ValueError:
                    raise PlanUnfit(
                        f"Row {self.checked + 1} of the recovery {head.name} is missing (row {row.number} came "
                        "instead): it must not be confirmed."
                    ) from None
                self.rows.append(row)
            self._tell()
            await asyncio.sleep(0)
            if page.next is None:
                break
            if not page.rows:
                raise PlanUnfit(f"The recovery {head.name} has an empty page in its middle: it must not be confirmed.")
            cursor = page.next
        _check_whole(head, self.rows)
        return digest.hexdigest()

    def _tell(self) -> None:
        if self.on_progress is not None:
            self.on_progress()


def head_of(recovery: Recovery) -> RecoveryDigestHead:
    """What of a recovery's head goes through the digest."""
    return RecoveryDigestHead(
        tenant=recovery.tenant,
        recovery=recovery.id,
        person=recovery.owner.id,
        act=recovery.act.value,
        reason=recovery.reason,
        frozen_at=recovery.frozen_at,
        disable_until=recovery.disable_until,
        count=recovery.count,
        money=tuple(
            RecoveryDigestMoney(
                currency=money.currency, exponent=money.exponent, out_minor=money.out_minor, count=money.count
            )
            for money in recovery.money
        ),
    )


def row_of(row: RecoveryRow) -> RecoveryDigestRow:
    """What of a row goes through the digest."""
    items = row.items
    return RecoveryDigestRow(
        number=row.number,
        key=row.key,
        target=row.target.value,
        name=row.name,
        moves=row.moves.value,
        row_version=row.row_version,
        state="" if row.state is None else row.state.value,
        not_done=0 if items is None else items.refused + items.failed + items.unfinished,
    )


def _check_decimals(recovery: Recovery) -> None:
    """PlanUnfit where the service counts other decimals than this console: a hundredfold amount looks alike."""
    for money in recovery.money:
        own = EXPONENTS.get(money.currency)
        if own is None:
            raise PlanUnfit(
                f"This console does not know the currency {money.currency[:8]}: the recovery {recovery.name} must not "
                "be confirmed."
            )
        if own != money.exponent:
            raise PlanUnfit(
                f"The service counts {money.exponent} decimals for {money.currency}, this console {own}: the recovery "
                f"{recovery.name} must not be confirmed. Update the older of the two."
            )


def _check_whole(recovery: Recovery, read: Sequence[RecoveryRow]) -> None:
    """PlanUnfit where the rows are not as many as the head says, or not of the schedules and the kind that it says."""
    if len(read) != recovery.count:
        raise PlanUnfit(
            f"{len(read):,} of the {recovery.count:,} rows of the recovery {recovery.name} came: it must not be "
            "confirmed."
        )
    counted: dict[tuple[str, str], int] = {}
    for row in read:
        at = (row.schedule, row.moves.value)
        counted[at] = counted.get(at, 0) + 1
    told = {(each.schedule, each.moves.value): each.count for each in recovery.schedules}
    if counted != told:
        wrong = sorted({name for name, _ in counted.keys() | told.keys() if _of(counted, name) != _of(told, name)})
        raise PlanUnfit(
            f"The rows of the recovery {recovery.name} are not as many of each schedule as it says "
            f"({', '.join(wrong)[:200]}): it must not be confirmed."
        )


def _of(counts: dict[tuple[str, str], int], name: str) -> dict[str, int]:
    return {moves: count for (schedule, moves), count in counts.items() if schedule == name}
