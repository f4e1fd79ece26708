"""Owns what a person reads of runbooks: how a schedule is inspected, replayed and disabled, by which interface, whether
they may, and what was done by these procedures before. Performs none of them; looking is not audited."""

from __future__ import annotations

from jobcontract.permissions import GRANTS, Permission, missing, roles_with
from jobcontract.runbooks import Runbook, Runbooks, Transcript
from jobcontract.session import Person
from jobservice.rules.runbooks import RunbookRule, permissions
from jobservice.rules.schedules import Schedule
from jobservice.store import runbooks as store
from jobservice.store.database import Row
from jobservice.usecases.actor import Actor
from jobservice.usecases.procedures import ACTIONS
from jobservice.usecases.schedules import find_schedule
from jobservice.usecases.service import Service

LATEST = 20
"""Acts of a transcript."""


async def read_runbooks(service: Service, actor: Actor, schedule: str) -> Runbooks:
    """The procedures of a schedule, and the latest acts on it and its occurrences. Refusal PERMISSION_MISSING without
    schedule.read, NOT_FOUND."""
    actor.require(Permission.SCHEDULE_READ)
    found = find_schedule(service, actor, schedule)
    async with service.database.transaction(actor.tenant) as transaction:
        rows = await store.transcript(transaction, found.id, actions=ACTIONS, most=LATEST)
        now = transaction.began_at
    stated = service.records.runbooks.get(found.id, {})
    return Runbooks(
        schedule=found.id,
        runbooks=tuple(_runbook(actor, found, each) for each in stated.values()),
        transcript=tuple(map(_act, rows)),
        now=now,
    )


def _runbook(actor: Actor, schedule: Schedule, stated: RunbookRule) -> Runbook:
    needed = permissions(stated, schedule)
    lacking = next((each for each in needed if each not in GRANTS[actor.role]), None)
    return Runbook(
        id=stated.id,
        title=stated.title,
        procedure=stated.procedure,
        route=stated.interface.route.name,
        request=stated.request,
        command=stated.command,
        permission=stated.may,
        roles=tuple(role for role in roles_with(needed[0]) if set(needed) <= GRANTS[role]),
        steps=stated.steps,
        claimed=stated.claimed,
        refused=None if lacking is None else missing(lacking, actor.tenant),
    )


def _act(row: Row) -> Transcript:
    person = None if row["person"] is None else Person(id=row["person"], name=row["person_name"] or row["person"])
    return Transcript(
        at=row["at"],
        person=person,
        action=row["action"],
        subject=row["subject"],
        outcome=row["outcome"],
        sentence=row["sentence"],
    )
