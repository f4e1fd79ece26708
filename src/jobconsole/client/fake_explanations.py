"""Owns the fake service's answers about places in the order: why an item stands where it does, and what-if.

Never changes an item.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from jobconsole.client.fake_queues import OPEN, FakeItem, FakeQueues
from jobconsole.client.fake_scores import RULES, rank, score
from jobcontract.errors import ErrorCode, Refusal
from jobcontract.items import Amount, Explanation, InputValue, Item, Placement, Supposed, WhatIf
from jobcontract.money import EXPONENTS, exponent
from jobcontract.scores import ItemCount

COUNTED_MOST = 10_000
INPUT_MOST = 40
YEARS = range(1901, 2200)
Place = tuple[int, datetime, str]


def explanation(queues: FakeQueues, row: FakeItem) -> Explanation:
    """Why the item stands where it stands."""
    item = _scored(queues, row)
    waits = item.state in OPEN
    return Explanation(
        item=item,
        rule=RULES.get(item.queue),
        placement=_placement(queues, row, _place(item)) if waits else None,
        as_of=queues.now(),
    )


def what_if(queues: FakeQueues, row: FakeItem, supposed: WhatIf) -> Supposed:
    """The score and place it would have; Refusal ITEM_CLOSED, USE_CASE_UNFIT, INVALID_REQUEST."""
    if row.state.closed:
        raise Refusal(ErrorCode.ITEM_CLOSED, f"The item is {row.state}: it has no place in the order any more.")
    _check(queues, row, supposed)
    amount = row.amount
    if supposed.amount is not None:
        given = supposed.amount
        amount = Amount(minor=given.minor, currency=given.currency, exponent=exponent(given.currency))
    inputs: Mapping[str, InputValue | None] = {**row.inputs, **supposed.inputs}
    other = replace(row, amount=amount, inputs=inputs, created=supposed.created or row.created)
    found = score(other, queues.now())
    if found is None:
        raise Refusal(ErrorCode.USE_CASE_UNFIT, f"{row.queue.title} has no rule: its oldest item is first.")
    place = (rank(found), other.created, other.id)
    return Supposed(score=found, placement=_placement(queues, row, place), as_of=queues.now())


def _check(queues: FakeQueues, row: FakeItem, supposed: WhatIf) -> None:
    for fault in _faults(queues, row, supposed):
        raise Refusal(ErrorCode.INVALID_REQUEST, fault)


def _faults(queues: FakeQueues, row: FakeItem, supposed: WhatIf) -> Iterator[str]:
    if supposed.amount is not None:
        if supposed.amount.currency not in EXPONENTS:
            yield f"`amount`: {supposed.amount.currency} is not a currency that is known here."
        if supposed.amount.minor == 0:
            yield "`amount`: an amount of zero pays nobody anything."
    if supposed.created is not None and supposed.created.year not in YEARS:
        yield f"`created` is an instant with an offset, from {YEARS[0]} to {YEARS[-1]}."
    if supposed.created is not None and supposed.created > queues.now() + timedelta(minutes=1):
        yield "`created` is in the future: an item's own date has passed."
    yield from _input_faults(row, supposed.inputs)


def _input_faults(row: FakeItem, given: Mapping[str, InputValue]) -> Iterator[str]:
    for name, value in given.items():
        if name not in row.queue.inputs:
            yield f"`{name}` is not an input here; there is {', '.join(row.queue.inputs) or 'none'}."
        if not isinstance(value, str):
            yield f"`{name}` is text, without NUL or lone surrogates."
        elif not value.strip():
            yield f"`{name}` is required."
        elif len(value) > INPUT_MOST:
            yield f"`{name}` has {len(value)} characters; at most {INPUT_MOST} are allowed."


def _placement(queues: FakeQueues, row: FakeItem, place: Place) -> Placement:
    others = [_scored(queues, other) for other in queues.items.values() if other.queue.id == row.queue.id]
    waiting = sorted((each for each in others if each.state in OPEN and each.id != row.id), key=_place)
    before = [each for each in waiting if _place(each) < place]
    after = waiting[len(before) :]
    return Placement(
        ahead=ItemCount(count=min(len(before), COUNTED_MOST), exact=len(before) <= COUNTED_MOST),
        above=before[-1] if before else None,
        below=after[0] if after else None,
    )


def _scored(queues: FakeQueues, row: FakeItem) -> Item:
    found = score(row, queues.now())
    return queues.shown(row).model_copy(update={"score": found, "rank": rank(found)})


def _place(item: Item) -> Place:
    return item.rank, item.created, item.id
