"""Owns the calls about plans: making, reading, changing, confirming and steering them. Screens and headless twins run
these. Reading a whole plan with its digest: `plan_reading`.

Every call that acts takes a key made with `new_key()`, as in `queues`. A confirmation is one intent of a person about
one frozen plan: `Confirming` makes its key once, so that a second press or a lost answer never becomes a second one.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Sequence

from pydantic import SecretStr

from jobconsole.client.confirming import Intent
from jobconsole.client.errors import PlanUnknown
from jobconsole.client.service import Service
from jobcontract.plans import (
    PLAN_PAGE_MOST,
    AbortPlan,
    Confirm,
    DropPlan,
    ExcludedItem,
    ExclusionPage,
    KeepIn,
    PausePlan,
    Plan,
    PlanItemPage,
    PlanOrder,
    Plans,
    PlanWarning,
    ResumePlan,
    TakeOut,
    WarningPage,
)
from jobcontract.routes import (
    ABORT_PLAN,
    CONFIRM_PLAN,
    DROP_PLAN,
    KEEP_IN,
    MAKE_PLAN,
    PAUSE_PLAN,
    PLAN,
    PLAN_EXCLUSIONS,
    PLAN_EXPORT,
    PLAN_ITEMS,
    PLAN_WARNINGS,
    PLANS,
    RESUME_PLAN,
    TAKE_OUT,
)
from jobcontract.states import PlanSort, PlanState, Turn

PAGE = 200
"""Rows of a page where the caller does not say."""
_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


async def make(
    service: Service,
    queue: str,
    command: str,
    key: str,
    *,
    items: Sequence[str] | None = None,
    filter: str | None = None,  # the word of the wire and of the screen
) -> Plan:
    """Freeze a set: items by id, or all that wait and match a filter (the empty one takes the whole queue)."""
    order = PlanOrder(command=command, items=None if items is None else tuple(items), filter=filter)
    return await service.post(MAKE_PLAN, order, Plan, key=key, parts={"queue": queue})


async def plans(service: Service, *, mine: bool = False, live: bool = False) -> Plans:
    """The plans of the tenant, live ones first, newest first; `mine`: of the person who asks; `live`: no ended one."""
    return await service.get(PLANS, Plans, query={"owner": "me" if mine else None, "state": "live" if live else None})


async def plan(service: Service, identifier: str) -> Plan:
    """One plan with everything but its rows."""
    return await service.get(PLAN, Plan, parts={"plan": identifier})


async def find(service: Service, text: str) -> Plan:
    """The plan with that id, or with that name (`lark-42`); PlanUnknown where no listed plan has the name."""
    if _ID.fullmatch(text):
        return await plan(service, text)
    listed = (await plans(service)).plans
    found = next((each for each in listed if each.name == text), None)
    if found is None:
        names = ", ".join(each.name for each in listed[:5]) or "none"
        raise PlanUnknown(f"There is no plan {text[:80]} among the newest; the first ones are: {names}.")
    return found


async def items(
    service: Service,
    identifier: str,
    *,
    sort: PlanSort = PlanSort.NUMBER,
    search: str = "",
    turn: Turn | None = None,
    cursor: str | None = None,
    limit: int = PAGE,
) -> PlanItemPage:
    """One page of a plan's rows, at most `PLAN_PAGE_MOST`; `search` is words of title, payee, key or last four."""
    query = {
        "sort": sort.value,
        "search": search or None,
        "turn": None if turn is None else turn.value,
        "cursor": cursor,
        "limit": limit,
    }
    return await service.get(PLAN_ITEMS, PlanItemPage, parts={"plan": identifier}, query=query)


async def exclusions(
    service: Service, identifier: str, *, cursor: str | None = None, limit: int = PAGE
) -> ExclusionPage:
    """One page of what is not in the plan, and why."""
    query = {"cursor": cursor, "limit": limit}
    return await service.get(PLAN_EXCLUSIONS, ExclusionPage, parts={"plan": identifier}, query=query)


async def every_exclusion(service: Service, identifier: str) -> AsyncIterator[ExcludedItem]:
    """All of them, page by page."""
    cursor: str | None = None
    while True:
        page = await exclusions(service, identifier, cursor=cursor, limit=PLAN_PAGE_MOST)
        for row in page.items:
            yield row
        if page.next is None:
            return
        cursor = page.next


async def warnings(service: Service, identifier: str, *, cursor: str | None = None, limit: int = PAGE) -> WarningPage:
    """One page of what is odd: those to answer first."""
    query = {"cursor": cursor, "limit": limit}
    return await service.get(PLAN_WARNINGS, WarningPage, parts={"plan": identifier}, query=query)


async def every_warning(service: Service, identifier: str) -> AsyncIterator[PlanWarning]:
    """All of them, page by page."""
    cursor: str | None = None
    while True:
        page = await warnings(service, identifier, cursor=cursor, limit=PLAN_PAGE_MOST)
        for row in page.warnings:
            yield row
        if page.next is None:
            return
        cursor = page.next


async def export(service: Service, identifier: str) -> bytes:
    """The plan's rows as the CSV that the service makes and audits (MONEY.md 28)."""
    return await service.fetch(PLAN_EXPORT, parts={"plan": identifier})


async def take_out(service: Service, identifier: str, taken: Sequence[str], key: str) -> Plan:
    """Take items out; the answer is the plan frozen anew: another edition, the same name."""
    return await service.post(TAKE_OUT, TakeOut(items=tuple(taken)), Plan, key=key, parts={"plan": identifier})


async def keep_in(service: Service, identifier: str, warning: str, reason: str, key: str) -> Plan:
    """Answer one warning with the reason why its item stays in."""
    order = KeepIn(warning=warning, reason=reason)
    return await service.post(KEEP_IN, order, Plan, key=key, parts={"plan": identifier})


async def drop(service: Service, identifier: str, key: str) -> Plan:
    """Give an open plan up."""
    return await service.post(DROP_PLAN, DropPlan(), Plan, key=key, parts={"plan": identifier})


async def confirm(service: Service, identifier: str, digest: str, code: SecretStr | None, key: str) -> Plan:
    """Confirm what was read; through `Confirming`, which knows when a key may be made anew."""
    order = Confirm(digest=digest, code=code)
    return await service.post(CONFIRM_PLAN, order, Plan, key=key, parts={"plan": identifier})


async def pause(service: Service, identifier: str, reason: str, key: str) -> Plan:
    """Let no further item begin."""
    return await service.post(PAUSE_PLAN, PausePlan(reason=reason), Plan, key=key, parts={"plan": identifier})


async def resume(service: Service, identifier: str, code: SecretStr, key: str) -> Plan:
    """Go on with a paused plan: a fresh code of its owner or of a second finance person."""
    return await service.post(RESUME_PLAN, ResumePlan(code=code), Plan, key=key, parts={"plan": identifier})


async def abort(service: Service, identifier: str, reason: str, key: str) -> Plan:
    """End it; items without a turn are given back."""
    return await service.post(ABORT_PLAN, AbortPlan(reason=reason), Plan, key=key, parts={"plan": identifier})


class Confirming(Intent[Plan]):
    """One person's intent to confirm one edition of one plan."""

    def __init__(self, frozen: Plan, digest: str, *, key: str | None = None) -> None:
        """`key`: that of an earlier try whose outcome is unknown."""
        super().__init__(lambda service, code, once: confirm(service, frozen.id, digest, code, once), key)
        self.plan = frozen

    async def looked_up(self, service: Service) -> Plan | None:
        """The plan where it was confirmed after all; None where it still is as it was and nothing was done."""
        found = await plan(service, self.plan.id)
        return None if found.state is PlanState.OPEN else found
