"""Owns finding whatever a text names, over all nouns that a person may read, within their reach. Equality only, each by an
index; looking is not audited."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.filter_tokens import quoted
from jobcontract.ids import KEY_MAX, is_slug, storable
from jobcontract.job_filters import JobFilter, parse
from jobcontract.job_states import FoundNoun, JobView
from jobcontract.jobs import HERE, Finding, Found
from jobcontract.occurrence_names import occurrence_name, read_occurrence_name
from jobcontract.permissions import GRANTS, Permission
from jobservice.rules.job_kinds import readable
from jobservice.store import finding as store
from jobservice.store import job_listing
from jobservice.store.database import Row, Transaction
from jobservice.store.finding import FEW, Sought
from jobservice.store.items import Reach
from jobservice.store.job_listing import FIRST, Wanted
from jobservice.usecases.actor import Actor
from jobservice.usecases.items import reach
from jobservice.usecases.job_sources import AskedOfSource, read_foreign
from jobservice.usecases.plan_views import own_alone
from jobservice.usecases.recovery_views import sight
from jobservice.usecases.service import Service

FOUND_MOST = 50
"""Most results of one look."""
LEAST = 2
_NEEDED: Mapping[FoundNoun, Permission] = {
    FoundNoun.JOB: Permission.JOB_READ,
    FoundNoun.ITEM: Permission.QUEUE_READ,
    FoundNoun.PLAN: Permission.PLAN_READ,
    FoundNoun.RECOVERY: Permission.RECOVERY_READ,
    FoundNoun.SCHEDULE: Permission.SCHEDULE_READ,
    FoundNoun.OCCURRENCE: Permission.SCHEDULE_READ,
    FoundNoun.PERSON: Permission.COLLEAGUE_READ,
    FoundNoun.AUDIT: Permission.AUDIT_READ,
    FoundNoun.WORKER: Permission.SCHEDULE_READ,
}
"""What looking at each noun needs: without it, it is not looked for."""
_NUMBER_MOST = 2**63 - 1


async def find(service: Service, actor: Actor, text: str) -> Finding:
    """All that `text` leads to: ids (also the beginning of one, 8 characters or more), submission identities, payout
    references, names of plans and recoveries, people, failure references, schedules and occurrences, references of
    requests, Workers. `looked` names the nouns that were looked through. Refusal INVALID_REQUEST for a text that is
    shorter than 2 or longer than 200 characters.
    """
    text = text.strip()
    if not LEAST <= len(text) <= KEY_MAX or not storable(text):
        raise Refusal(
            ErrorCode.INVALID_REQUEST, f"What is looked up has {LEAST} to {KEY_MAX} characters that can be kept."
        )
    nouns = [noun for noun, permission in _NEEDED.items() if permission in GRANTS[actor.role]]
    async with service.database.transaction(actor.tenant, by_index=True) as transaction:
        now = transaction.began_at
        within = reach(actor)
        rows = await store.find(
            transaction, _sought(text), nouns, reach=within, plans_of=own_alone(actor), most=FOUND_MOST + 1
        )
        if FoundNoun.JOB in nouns and within.narrowed:
            rows[FoundNoun.JOB] += await _asked_by(transaction, within, text.lower(), known=rows[FoundNoun.JOB])
    seen = sight(actor)
    rows[FoundNoun.RECOVERY] = [row for row in rows.get(FoundNoun.RECOVERY, []) if seen.sees(row["act"], row["owner"])]
    found = [_found(service, noun, row) for noun in nouns for row in rows.get(noun, [])]
    if FoundNoun.JOB in nouns:
        found += await _elsewhere(service, actor, text, now)
    return Finding(
        text=text, found=tuple(found[:FOUND_MOST]), more=len(found) > FOUND_MOST, looked=tuple(nouns), now=now
    )


async def _asked_by(transaction: Transaction, within: Reach, person: str, *, known: Sequence[Row]) -> list[Row]:
    """The latest jobs that a person asked for, within a reach, but those that are known: whatever leads to fewest is walked,
    so that what the person asked for elsewhere hides nothing."""
    if not is_slug(person):
        return []
    page = await job_listing.page(transaction, Wanted(reach=within, requesters=(person,)), before=FIRST, most=FEW)
    there = {each["id"] for each in known}
    lines = [{**row, "id": str(row["id"]), "at": row["requested_at"], "matched": "requester"} for row in page.rows]
    return [line for line in lines[:FEW] if line["id"] not in there]


def _sought(text: str) -> Sought:
    named = read_occurrence_name(text)
    number = int(text) if text.isdecimal() and text.isascii() and int(text) <= _NUMBER_MOST else None
    if named is None:
        return Sought(text=text, number=number)
    return Sought(text=text, schedule=named[0], instant=named[1], number=number)


async def _elsewhere(service: Service, actor: Actor, text: str, now: datetime) -> Sequence[Found]:
    """Jobs of other engines that the text names, of those that answer in time."""
    sources = await service.foreign_sources()
    words: JobFilter = parse(quoted(text))
    asked = AskedOfSource(
        tenant=actor.tenant, person=actor.person, reach=reach(actor), view=JobView.ALL, filter=words, now=now
    )
    readings = await read_foreign(sources, asked, {}, FOUND_MOST)
    return [
        Found(
            noun=FoundNoun.JOB,
            id=row.job.id,
            title=f"{row.job.kind_label}: {row.job.subject}",
            matched="id" if row.job.id == text else "submission identity",
            state=row.job.status.value,
            at=row.job.requested_at,
            source=row.job.source,
        )
        for reading in readings
        if reading.page is not None
        for row in reading.page.rows
    ]


def _found(service: Service, noun: FoundNoun, row: Row) -> Found:
    return Found(
        noun=noun,
        id=row["id"],
        title=_TITLES[noun](service, row),
        matched=row["matched"],
        state=row["state"] if noun is not FoundNoun.JOB else row["status"],
        at=row["at"],
        source=HERE,
        queue=row["queue"] if noun is FoundNoun.ITEM else None,
    )


def _job(service: Service, row: Row) -> str:
    kind = service.records.job_kinds.get(row["kind"])
    label = readable(row["kind"]) if kind is None else kind.label
    about = row["subject"] or row["customer"] or row["workspace"]
    return label if about is None else f"{label}: {about}"


def _schedule(service: Service, row: Row) -> str:
    known = service.records.schedules.get(row["id"])
    return str(row["id"]) if known is None else known.title


_TITLES: Mapping[FoundNoun, Callable[[Service, Row], str]] = {
    FoundNoun.JOB: _job,
    FoundNoun.ITEM: lambda _, row: str(row["title"]),
    FoundNoun.PLAN: lambda _, row: str(row["name"]),
    FoundNoun.RECOVERY: lambda _, row: str(row["name"]),
    FoundNoun.SCHEDULE: _schedule,
    FoundNoun.OCCURRENCE: lambda _, row: occurrence_name(row["schedule"], row["scheduled_at"]),
    FoundNoun.PERSON: lambda _, row: str(row["name"]),
    FoundNoun.AUDIT: lambda _, row: f"{row['action']} {row['subject']}",
    FoundNoun.WORKER: lambda _, row: str(row["host"]),
}
