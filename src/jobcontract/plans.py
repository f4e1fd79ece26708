"""Owns the wire models of bulk work: plans, their items, exclusions and warnings; confirming, watching, ending them.

No answer carries the digest of a plan: whoever confirms computes it over every page (`jobcontract.plan_digest`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import AwareDatetime, Field, SecretStr, model_validator

from jobcontract.items import Amount, FilterText, InputValue, Payee
from jobcontract.session import Person
from jobcontract.states import ConfirmMethod, Exclusion, Moves, PlanState, Turn, Warned
from jobcontract.wire import Answer, Key, Reason, Wire

PLAN_ITEMS_MOST = 50_000
"""Most items that a plan can have, whatever the setting says."""
PLAN_PAGE_MOST = 1_000
"""Most rows of a page of a plan."""
ItemId = Annotated[str, Field(pattern=r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")]
Code = Annotated[SecretStr, Field(min_length=1, max_length=32)]
"""Six ASCII digits, blanks forgiven; a number of JSON is refused (case OTP-03)."""


class PlanOrder(Wire):
    """Freeze a set for `command`: items named one by one, or all of the queue's waiting items that match a filter."""

    command: Key
    items: Annotated[tuple[ItemId, ...], Field(min_length=1, max_length=PLAN_ITEMS_MOST)] | None = None
    filter: FilterText | None = None
    """The empty text takes the whole queue."""

    @model_validator(mode="after")
    def _one_of_two(self) -> PlanOrder:
        if (self.items is None) == (self.filter is None):
            raise ValueError("name either `items` or a `filter`")
        return self


class PlanTotal(Answer):
    """What goes out and what comes back in one currency, each with its count, and their difference."""

    currency: str
    exponent: int
    out_minor: int
    out_count: int
    back_minor: int
    """Not negative."""
    back_count: int
    net_minor: int


class PlanLargest(Answer):
    """The largest amount that goes out in one currency, and to whom."""

    amount: Amount
    payee: Payee
    number: int


class ExclusionCount(Answer):
    """How many items one reason keeps out."""

    reason: Exclusion
    count: int


class TurnAccount(Answer):
    """The items of a plan in one turn: with all turns together every planned item is counted once (MONEY.md 4)."""

    turn: Turn
    count: int
    totals: tuple[PlanTotal, ...]


class CodeStanding(Answer):
    """Whether the person who asks can give a code now. Says nothing of any code."""

    enrolled: bool
    tries_left: int
    """Wrong codes until the next lock."""
    locked_until: AwareDatetime | None
    locked_for_good: bool
    """Until `jobservice totp unlock`."""
    rests_until: AwareDatetime | None
    """After an enrolment: no confirming before."""


class Plan(Answer):
    """A plan with everything but its rows."""

    id: str
    name: str
    """Random, like lark-42: to say aloud."""
    command: str
    title: str
    """Of the command."""
    queue: str
    use_case: str
    use_case_title: str
    use_case_version: int
    moves: Moves
    confirm_by: ConfirmMethod | None
    parameters: Mapping[str, InputValue]
    filter: str | None
    """None where the items were named one by one."""
    tenant: str
    owner: Person
    approved_by: Person | None
    state: PlanState
    edition: int
    """Rises each time the plan is frozen anew: rows of another edition do not belong together."""
    frozen_at: AwareDatetime
    expires_at: AwareDatetime
    """Of an open plan."""
    confirmed_at: AwareDatetime | None
    armed_until: AwareDatetime | None
    apply_until: AwareDatetime | None
    """End of the apply window: what had no turn by then has none."""
    started_at: AwareDatetime | None
    ended_at: AwareDatetime | None
    reason: str | None
    """Why it was paused, aborted, voided or dropped, in a sentence."""
    ended_by: Person | None
    """Who paused, aborted or dropped it; None where the service did."""
    count: int
    payees: int
    totals: tuple[PlanTotal, ...]
    """By currency code."""
    largest: tuple[PlanLargest, ...]
    excluded: tuple[ExclusionCount, ...]
    warnings: int
    to_answer: int
    """Warnings that must be answered before the plan can be confirmed."""
    account: tuple[TurnAccount, ...]
    """One entry a turn that some item is in; empty before it was confirmed."""
    version: int
    """Rises with every change of the plan; hints carry it."""
    as_of: AwareDatetime


class Plans(Answer):
    """Plans of the tenant, newest first: live ones before ended ones; at most 100."""

    plans: tuple[Plan, ...]
    as_of: AwareDatetime


class PlanItem(Answer):
    """One row of a plan as it was frozen, and how far it is."""

    number: int
    """From 1, in byte order of the ids."""
    item: str
    key: str | None
    title: str
    amount: Amount
    payee: Payee
    account_mark: str
    """Stands for the whole account in the digest: 64 hexadecimal digits that nobody can turn back."""
    inputs: Mapping[str, InputValue | None]
    money_version: int
    warnings: tuple[Warned, ...]
    turn: Turn
    attempts: int
    sentence: str | None
    """How its turn ended, in words."""
    reference: str | None
    ended_at: AwareDatetime | None


class PlanItemPage(Answer):
    """One page of a plan's rows. In the order `number` its pages, put together, are what the digest is made of."""

    edition: int
    items: tuple[PlanItem, ...]
    matching: int
    """Rows that match the search."""
    next: str | None
    as_of: AwareDatetime


class ExcludedItem(Answer):
    """An item of the set that is not in the plan, and why; amount and payee are null where it is unknown."""

    item: str
    title: str | None
    amount: Amount | None
    payee: Payee | None
    reason: Exclusion
    who: Person | None
    """Who holds it, or whose plan has it."""
    sentence: str


class ExclusionPage(Answer):
    """One page of exclusions, in the order of their reasons."""

    items: tuple[ExcludedItem, ...]
    next: str | None
    as_of: AwareDatetime


class PlanWarning(Answer):
    """Something odd about one row."""

    id: str
    number: int
    item: str
    kind: Warned
    sentence: str
    """With the other row, the date, or who changed it."""
    amount: Amount
    payee: Payee
    must_answer: bool
    answer: str | None
    """The reason with which its owner keeps the item in."""


class WarningPage(Answer):
    """One page of warnings: those to answer first, then most money first, odd before ordinary."""

    edition: int
    warnings: tuple[PlanWarning, ...]
    next: str | None
    as_of: AwareDatetime


class PlanChange(Answer):
    """One field of a plan's row that is no longer what the plan shows: a member of `changes` of *plan-changed*."""

    number: int
    item: str
    title: str
    field: str
    before: str
    after: str


class TakeOut(Wire):
    """Take items out; the plan is frozen anew under its name."""

    items: Annotated[tuple[ItemId, ...], Field(min_length=1, max_length=PLAN_ITEMS_MOST)]


class KeepIn(Wire):
    """Answer one warning: the item stays in, and why."""

    warning: Key
    reason: Reason


class DropPlan(Wire):
    """Give the plan up; the claims that it took are given back."""


class Confirm(Wire):
    """Confirm exactly what was shown: the digest computed over every page, and the code from the phone.

    `code` is null only for a plan that moves nothing, or a single release that a setting frees.
    """

    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    code: Code | None = None


class PausePlan(Wire):
    """Let no further item begin."""

    reason: Reason


class ResumePlan(Wire):
    """Go on with a paused plan: a fresh code of its owner or of a second finance person."""

    code: Code


class AbortPlan(Wire):
    """End the plan; items without a turn are given back."""

    reason: Reason


class WasPaid(Wire):
    """End an uncertain payout: it went out. `fence` is that of the claim on the review item."""

    fence: Annotated[int, Field(strict=True, ge=1)]
    reference: Key
    """What the bank calls it."""
    reason: Reason


class WasNotPaid(Wire):
    """End an uncertain payout: it did not go out, and may be planned again under the same outward key.

    The code is that of a person other than the owner of the plan.
    """

    fence: Annotated[int, Field(strict=True, ge=1)]
    reason: Reason
    code: Code


class Stop(Answer):
    """Money of a tenant is stopped: since when, by whom, why. `by` is null where the service itself did it."""

    at: AwareDatetime
    by: Person | None
    reason: str


class Released(Answer):
    """What one person released in the rolling 24 hours, and today (UTC), of one currency."""

    person: Person
    currency: str
    exponent: int
    today_count: int
    today_minor: int
    day_count: int
    """In the last 24 hours, confirmed plans not yet applied included: what the limits count."""
    day_minor: int
    day_most_minor: int | None
    """The limit for a person; None where no command has one for the currency."""
    day_most_count: int | None


class Money(Answer):
    """Whether money moves in this tenant, and what was released."""

    stopped: Stop | None
    released: tuple[Released, ...]
    uncertain: int
    """Payouts that wait for a person to say whether they were paid."""
    as_of: AwareDatetime


class StopMoney(Wire):
    """Stop all money of the tenant."""

    reason: Reason


class StartMoney(Wire):
    """Let money move again: a code of another person than the one who stopped it."""

    reason: Reason
    code: Code


class Settled(Answer):
    """The payout after a person said whether it was paid."""

    item: str
    turn: Turn
    sentence: str
    as_of: AwareDatetime
