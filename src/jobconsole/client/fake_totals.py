"""Owns what the fake service counts of a queue and says of its filter. Follows the meaning of the real one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from jobconsole.client.fake_listing import Asked, FakeListing
from jobcontract.filters import FREE, INPUT, ME, Sort
from jobcontract.money import Money, exponent, totals
from jobcontract.queues import FilterField, QueueCurrencyTotal, QueueTotals, Vocabulary
from jobcontract.states import InputType, ItemState, ItemView


def queue_totals(listing: FakeListing, asked: Asked) -> QueueTotals:
    """What waits and matches the filter; refusals as those of the listing."""
    waiting, aside, shown = (
        listing.rows(replace(asked, view=view)) for view in (ItemView.WAITING, ItemView.SET_ASIDE, asked.view)
    )
    amounts = [Money(minor=row.amount.minor, currency=row.amount.currency) for row in shown if row.amount]
    return QueueTotals(
        queue=asked.queue,
        filter=asked.filter,
        matching=len(shown),
        waiting=len(waiting),
        mine=sum(row.holder == asked.person for row in (*waiting, *aside)),
        set_aside=len(aside),
        unclaimed=sum(row.holder is None for row in waiting),
        oldest_created=min((row.created for row in waiting), default=None),
        totals=tuple(
            QueueCurrencyTotal(
                currency=total.currency,
                exponent=exponent(total.currency),
                out_minor=total.out_minor,
                out_count=total.out_count,
                back_minor=total.back_minor,
                back_count=total.back_count,
            )
            for total in totals(amounts)
        ),
        as_of=listing.queues.now(),
    )


def vocabulary(listing: FakeListing, identifier: str) -> Vocabulary:
    """What a filter of the queue may name; Refusal NOT_FOUND."""
    queue = listing.queues.queue(identifier)
    names = listing.names(queue.id)
    rows = listing.queues.listed(queue.id, ItemView.WAITING)
    fields = [
        _field("amount", "amount", "Amount, in one currency"),
        _field("currency", "word", "Currency", *names.currencies),
        _field("holder", "person", "Who holds it", ME, FREE, *listing.people),
        _field("age", "age", "Time since its own date", "1d", "3d", "1w", "30d"),
        *([_field("score", "score", "Score", "none")] if queue.score is not None else []),
        _field("state", "word", "State", *ItemState),
        *(
            _field(f"{INPUT}{name}", InputType.TEXT, name.title(), *_frequent(row.inputs.get(name) for row in rows))
            for name in queue.inputs
        ),
        _field("sort", "word", "Order", *([Sort.SCORE] if queue.score is not None else []), Sort.AMOUNT),
    ]
    return Vocabulary(queue=queue.id, fields=tuple(fields), currencies=names.currencies, as_of=listing.queues.now())


def _frequent(values: Iterable[object]) -> tuple[str, ...]:
    counts: dict[str, int] = {}
    for value in values:
        if value is not None:
            counts[str(value)] = counts.get(str(value), 0) + 1
    known = sorted(counts, key=lambda value: (-counts[value], value))
    return tuple(dict.fromkeys((*known, "none")))


def _field(name: str, kind: str, title: str, *values: str) -> FilterField:
    return FilterField(name=name, type=str(kind), title=title, values=tuple(map(str, values)))
