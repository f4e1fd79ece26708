"""Owns plain aligned text for the headless twins: what a pipe, a log or a screen reader gets. Pure; never cuts a value.

Every value passes `present.text.line`: no escape byte of the service reaches a terminal through a twin either.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, tzinfo

from jobconsole.present.amounts import account_text, amount_text, total_text
from jobconsole.present.columns import width_of
from jobconsole.present.item_rows import declared_texts
from jobconsole.present.text import line
from jobconsole.present.times import local
from jobcontract.audit import AuditEntry
from jobcontract.items import Acted, Claimed, Item, ItemDetail
from jobcontract.queues import Queue, QueueTotals
from jobcontract.session import Session

Row = Sequence[object]


def table(heads: Sequence[str], rows: Iterable[Row], *, right: Sequence[int] = ()) -> list[str]:
    """Aligned columns under their heads; columns named in `right` are numbers."""
    texts = [[line(head) for head in heads], *([line(value) for value in row] for row in rows)]
    widths = [max(width_of(row[column]) for row in texts) for column in range(len(heads))]
    return [_row(row, widths, right) for row in texts]


def pairs(given: Iterable[tuple[str, object]]) -> list[str]:
    """`name  value` lines, values aligned; a None value is left out."""
    kept = [(name, value) for name, value in given if value is not None]
    width = max((len(name) for name, _ in kept), default=0)
    return [f"{name.ljust(width)}  {line(value)}" for name, value in kept]


def session_lines(session: Session, zone: tzinfo) -> list[str]:
    """Who is signed in, where, with which rights."""
    head = pairs(
        (
            ("person", f"{session.person.id} ({session.person.name})"),
            ("service", session.deployment),
            ("token ends", local(session.token_expires_at, zone)),
        )
    )
    rows = ((tenant.tenant, tenant.role, " ".join(tenant.permissions)) for tenant in session.tenants)
    return [*head, "", *table(("tenant", "role", "may"), rows)]


def queues_lines(queues: Sequence[Queue]) -> list[str]:
    """The queues with their claim mode and what can be done."""
    rows = (
        (queue.id, queue.title, queue.claim, " ".join(case.id.rpartition(".")[2] for case in queue.use_cases))
        for queue in queues
    )
    return table(("queue", "title", "claim", "use cases"), rows)


def totals_lines(totals: QueueTotals, zone: tzinfo) -> list[str]:
    """What waits in a queue; each currency on a line of its own."""
    oldest = local(totals.oldest_created, zone) if totals.oldest_created else None
    about = "" if totals.exact else "about "
    counted = (
        ("queue", totals.queue),
        ("filter", totals.filter or None),
        ("waiting", f"{about}{totals.waiting:,}"),
        ("unclaimed", f"{about}{totals.unclaimed:,}"),
        ("mine", f"{about}{totals.mine:,}"),
        ("set aside", f"{about}{totals.set_aside:,}"),
        ("oldest", oldest),
    )
    return [*pairs((*counted, *(("total", total_text(total)) for total in totals.totals))), _as_of(totals.as_of, zone)]


def items_lines(items: Sequence[Item], zone: tzinfo) -> list[str]:
    """One line an item: id, score, amount and account before the name; at its end every input that set the score."""
    rows = (
        (
            row.id,
            _score(row),
            amount_text(row.amount) if row.amount else "",
            account_text(row.payee),
            row.payee.name if row.payee else "",
            row.title,
            local(row.created, zone),
            _stand(row, zone),
            _inputs(row),
        )
        for row in items
    )
    return table(
        ("item", "score", "amount", "account", "payee", "title", "created", "state", "inputs"), rows, right=(1, 2)
    )


def _score(item: Item) -> str:
    if item.score is None:
        return "-"
    return "not scored" if item.score.value is None else f"{item.score.value:,}"


def item_lines(item: Item, zone: tzinfo) -> list[str]:
    """An item on several lines, with what an act must carry."""
    return pairs(
        (
            ("item", item.id),
            ("queue", item.queue),
            ("key", item.key),
            ("score", _score(item) if item.score is not None else None),
            ("scored by", _inputs(item) if item.score is not None else None),
            ("amount", amount_text(item.amount) if item.amount else None),
            ("account", account_text(item.payee) or None),
            ("payee", f"{item.payee.name} ({item.payee.id})" if item.payee else None),
            ("title", item.title),
            ("created", local(item.created, zone)),
            ("state", _stand(item, zone)),
            *(((name, value)) for name, value in item.inputs.items()),
            ("version", item.money_version),
            ("fence", item.fence),
        )
    )


def detail_lines(detail: ItemDetail, zone: tzinfo) -> list[str]:
    """An item with its claims and acts, newest first."""
    claims = (
        (
            claim.fence,
            claim.holder.id,
            local(claim.taken_at, zone),
            local(claim.ended_at, zone) if claim.ended_at else f"until {local(claim.expires_at, zone)}",
            claim.ending or "held",
            claim.reason or "",
        )
        for claim in detail.claims
    )
    acts = ((local(act.at, zone), act.person.id, act.use_case, act.outcome, act.sentence) for act in detail.acts)
    return [
        *item_lines(detail.item, zone),
        *pairs((("pushed", f"{local(detail.pushed_at, zone)} by {detail.pushed_by.id}"),)),
        *(
            ["", *table(("fence", "holder", "from", "to", "ended", "reason"), claims, right=(0,))]
            if detail.claims
            else []
        ),
        *(["", *table(("at", "person", "act", "outcome", "sentence"), acts)] if detail.acts else []),
        _as_of(detail.as_of, zone),
    ]


def claimed_lines(claimed: Claimed, zone: tzinfo) -> list[str]:
    """The item after a claim order; one sentence where none was free."""
    if claimed.item is None:
        return ["None is free."]
    return item_lines(claimed.item, zone)


def acted_lines(acted: Acted, zone: tzinfo) -> list[str]:
    """How an act ended, and the item afterwards."""
    return [f"{acted.outcome}: {line(acted.sentence)}", *item_lines(acted.item, zone)]


def audit_lines(entries: Sequence[AuditEntry], zone: tzinfo) -> list[str]:
    """One line an entry, newest first."""
    rows = (
        (
            entry.id,
            local(entry.at, zone),
            entry.person.id if entry.person else "service",
            entry.action,
            entry.subject,
            entry.outcome,
        )
        for entry in entries
    )
    return table(("id", "at", "person", "action", "subject", "outcome"), rows, right=(0,))


def _inputs(item: Item) -> str:
    """What set the score and what the item declares besides, or why there is no score."""
    if item.score is None:
        return " · ".join(declared_texts(item))
    if item.score.value is None:
        return f"could not be scored: {item.score.failure or 'no reason was given'}"
    return " · ".join([*(part.shown for part in item.score.parts), *declared_texts(item)])


def _row(row: Sequence[str], widths: Sequence[int], right: Sequence[int]) -> str:
    cells = []
    for column, (text, width) in enumerate(zip(row, widths, strict=True)):
        blanks = " " * (width - width_of(text))
        cells.append(blanks + text if column in right else text + blanks)
    return "  ".join(cells).rstrip()


def _stand(item: Item, zone: tzinfo) -> str:
    """State in words, and who holds it."""
    if item.set_aside_until is not None:
        return f"{item.state} until {local(item.set_aside_until, zone)}"
    if item.state.closed:
        return item.state
    held = f"held by {item.holder.id}" if item.holder else "free"
    until = f" until {local(item.expires_at, zone)}" if item.holder and item.expires_at else ""
    return f"{item.state}, {held}{until}"


def _as_of(instant: datetime, zone: tzinfo) -> str:
    return f"as of {local(instant, zone)}"
