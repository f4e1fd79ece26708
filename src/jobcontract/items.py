"""Owns the wire models of work items: rows, detail, history, pushes, claims and acts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from pydantic import AwareDatetime, BeforeValidator, Field, JsonValue

from jobcontract.ids import ACCOUNT_LEAST, FILTER_MAX
from jobcontract.scores import ItemCount, Rule, Score
from jobcontract.session import Person
from jobcontract.states import ClaimEnding, ItemState, OutcomeKind, Turn
from jobcontract.wire import Answer, BusinessKey, Counted, Key, Name, Reason, SeenName, Text, Wire

Currency = Annotated[str, Field(pattern=r"^[A-Z]{3}$")]
MinorUnits = Annotated[int, Field(strict=True, ge=-(2**63) + 1, le=2**63 - 1)]
InputValue = bool | int | Text
_RFC3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)", re.ASCII | re.IGNORECASE)


def _instant(value: object) -> object:
    # A bare number would be taken for seconds since 1970, and so would its text.
    if not isinstance(value, datetime) and not (isinstance(value, str) and _RFC3339.fullmatch(value)):
        raise ValueError("must be an instant with its offset as RFC 3339 text, like 2026-03-01T09:00:00Z")
    return value


Instant = Annotated[AwareDatetime, BeforeValidator(_instant)]
"""An instant as a pusher writes it: RFC 3339 text with an offset."""
Inputs = Annotated[Mapping[Name, InputValue], Field(max_length=30)]


class Amount(Answer):
    """Money on the wire: minor units, ISO 4217 code, and the exponent that the service used."""

    minor: MinorUnits
    currency: Currency
    exponent: int


class Payee(Answer):
    """Who is paid, and the last four characters of the destination account; the account itself never leaves.

    Accounts have `ACCOUNT_LEAST` characters or more, so the last four are at most half of one.
    """

    id: str
    name: str
    account_last4: str


class PlanRef(Answer):
    """A plan as an item names it."""

    id: str
    name: str
    held: bool
    """Whether the plan was confirmed: until its turn nobody can claim, change, release or plan the item."""


class Item(Answer):
    """One row of a queue."""

    id: str
    queue: str
    key: str | None
    """Business key; null for items that have none of their own."""
    title: str
    created: AwareDatetime
    """The item's own date: what age is counted from."""
    state: ItemState
    set_aside_until: AwareDatetime | None
    amount: Amount | None
    payee: Payee | None
    inputs: Mapping[str, InputValue | None]
    score: Score | None = None
    """None where the queue has no rule, or an item of before was not scored yet."""
    rank: int = 0
    """Place in the order as one ascending key, before `created` and `id`: -score; far below it where it could not be
    scored; 0 without a rule."""
    money_version: int
    """Counts changes that matter; an act carries the one that was on the screen."""
    holder: Person | None
    """Who holds it now; null once the lease passed."""
    expires_at: AwareDatetime | None
    fence: int
    """Rises with every claim; an act under a claim carries it."""
    plan: PlanRef | None = None
    """The plan that has it: an open one holds it for its owner, a confirmed one for nobody else (`held`)."""
    about: str | None = None
    """Of a review item: the id of the payout that nobody knows the outcome of (MONEY.md 5)."""


class ItemPage(Answer):
    """One page of a listing in the order of its sort, with the cursors of the pages around it.

    Following `next` from a first page, a row that was not placed anew meanwhile comes exactly once; one that was comes
    at least once: after the last page, `next` leads to catch-up pages of the rows placed anew since the first one.
    """

    items: tuple[Item, ...]
    previous: str | None = None
    """Cursor of the page before; null where this page begins the list."""
    next: str | None
    """Cursor of the page after, or of the catch-up page; null where there is nothing more to tell."""
    catch_up: bool = False
    """Whether these rows were placed anew since the first page: merge them by id, they stand anywhere in the list."""
    as_of: AwareDatetime


class Placement(Answer):
    """Where an item stands among those that wait, or would stand: how many are before it, and its neighbours."""

    ahead: ItemCount
    above: Item | None
    below: Item | None


class Explanation(Answer):
    """Why an item stands where it stands: its score with parts, the rule in words, its neighbours to compare with."""

    item: Item
    rule: Rule | None
    """None where the queue has no rule: then the oldest item is first."""
    placement: Placement | None
    """None where the item does not wait (set aside, closed)."""
    as_of: AwareDatetime


class ClaimRecord(Answer):
    """One claim in an item's history."""

    fence: int
    holder: Person
    taken_at: AwareDatetime
    expires_at: AwareDatetime
    renewals: int
    ended_at: AwareDatetime | None
    ending: ClaimEnding | None
    ended_by: Person | None
    reason: str | None


class ActRecord(Answer):
    """One act in an item's history."""

    at: AwareDatetime
    person: Person
    use_case: str
    outcome: OutcomeKind
    sentence: str
    """What was done, or why not, in words."""
    inputs: Mapping[str, InputValue | None]
    money_version: int
    """The version that the act left behind."""


class TurnRecord(Answer):
    """What one plan did about an item."""

    plan: PlanRef
    owner: Person
    turn: Turn
    sentence: str | None
    reference: str | None
    """What the outside world calls it, like the bank's booking."""
    outward_key: str | None
    sent_at: AwareDatetime | None
    ended_at: AwareDatetime | None


class ItemDetail(Answer):
    """One item with everything a person may see of it."""

    item: Item
    payload: Mapping[str, JsonValue]
    """What the application sent along; shown as data."""
    pushed_by: Person
    pushed_at: AwareDatetime
    changed_at: AwareDatetime
    capped_at: AwareDatetime | None
    """When the present claim ends even if renewed."""
    claims: tuple[ClaimRecord, ...]
    """Newest first, at most 50."""
    acts: tuple[ActRecord, ...]
    """Newest first, at most 50."""
    turns: tuple[TurnRecord, ...] = ()
    """What plans did about it, newest first, at most 50."""
    as_of: AwareDatetime


class NewPayee(Wire):
    """Payee and destination account of an item that carries money."""

    id: Key
    name: SeenName
    account: Annotated[Text, Field(min_length=ACCOUNT_LEAST, max_length=64, pattern=r"^[A-Za-z0-9]+$")]


class NewAmount(Wire):
    """An amount as the pusher states it."""

    minor: MinorUnits
    currency: Currency


class NewItem(Wire):
    """A work item to push. `key` is unique in the tenant for ever; `created` is its own date, else now."""

    key: BusinessKey
    title: SeenName
    created: Instant | None = None
    amount: NewAmount | None = None
    payee: NewPayee | None = None
    inputs: Inputs = Field(default_factory=dict)
    payload: Mapping[Key, JsonValue] = Field(default_factory=dict)
    customer: Key | None = None
    workspace: Key | None = None


class ChangedItem(Wire):
    """New content of an item, under the version that the pusher saw."""

    money_version: Counted
    title: SeenName
    amount: NewAmount | None = None
    payee: NewPayee | None = None
    inputs: Inputs = Field(default_factory=dict)
    payload: Mapping[Key, JsonValue] = Field(default_factory=dict)


class Pushed(Answer):
    """The item as it stands after a push or a change."""

    item: Item


class WhatIf(Wire):
    """Inputs of an item to suppose instead of its own; what is left out stays as it is. Nothing is saved."""

    amount: NewAmount | None = None
    created: Instant | None = None
    inputs: Inputs = Field(default_factory=dict)


class Supposed(Answer):
    """The score that an item would have with other inputs, and the place that it would take now."""

    score: Score
    placement: Placement
    as_of: AwareDatetime


FilterText = Annotated[Text, Field(max_length=FILTER_MAX)]


class ClaimOrder(Wire):
    """Claim this item."""


class ClaimNextOrder(Wire):
    """Claim the first free item of those that match `filter`, in its order: the one that is on the screen."""

    filter: FilterText = ""


class HeldClaim(Wire):
    """An order about a claim that the person holds: the fence says which."""

    fence: Counted


class BreakClaim(Wire):
    """Take the claim that a colleague holds; `fence` is that of their claim as it was on the screen."""

    fence: Counted
    reason: Reason


class Claimed(Answer):
    """The item after a claim, renewal or release; null where claim next found none free."""

    item: Item | None
    capped_at: AwareDatetime | None
    as_of: AwareDatetime


class ActOrder(Wire):
    """Run a use case on an item: the version on the screen, the fence of the claim held (null without), its inputs."""

    money_version: Counted
    fence: Counted | None = None
    inputs: Inputs = Field(default_factory=dict)


class Acted(Answer):
    """How an act ended, and the item afterwards."""

    outcome: OutcomeKind
    sentence: str
    item: Item
    as_of: AwareDatetime


class Change(Answer):
    """One field of an item that changed between two versions, as text to show."""

    field: str
    before: str
    after: str
