"""Owns what a demo's database holds: its mark, its people with fresh random tokens, and the example's own content.

Never touches a database without the mark: demo people exist nowhere else (MONEY.md 35).
"""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import structlog

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.states import Role
from jobservice.application import Application, NewJob, NewWorkItem
from jobservice.bootstrap.phone import PHONE, DemoPhone, phone_text, read_phones
from jobservice.records import RecordSet
from jobservice.rules.codes import new_secret
from jobservice.rules.keys import Keys
from jobservice.settings import StartRefused
from jobservice.store import deployment
from jobservice.store.database import Database
from jobservice.usecases import enrolment, people
from jobservice.usecases.seeding import push_examples, submit_example

TENANTS: Mapping[str, str] = {"leeds": "Leeds City Council", "york": "City of York Council"}
TOKEN_HOURS = people.TOKEN_HOURS_MOST
PUSHER = "p.push"
JOINED = "n.ode"
"""Fed payouts by hand before they joined finance: what they pushed they do not release (MONEY.md 12)."""
SUPPORT = "s.bell"
"""Asks for what the customers ask them for."""
REQUESTERS: Mapping[str, str] = {"leeds": "o.lind", "york": "y.ward"}
"""Who asked for the other background jobs of the demo."""
JOINED_IN, JOINED_QUEUE, JOINED_PUSHED = "leeds", "payments.payouts", 2
"""Where they fed them, and how many of the example's payouts are theirs."""

_log = structlog.get_logger("jobservice.dev")


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoPerson:
    """Somebody made up."""

    id: str
    name: str
    role: Role
    tenants: tuple[str, ...]
    customers: tuple[str, ...] | None = None
    """Whose jobs they look after; None = not narrowed."""


PEOPLE: tuple[DemoPerson, ...] = (
    DemoPerson(id="o.lind", name="Olle Lind", role=Role.OPERATOR, tenants=("leeds",)),
    DemoPerson(id="m.ito", name="Mina Ito", role=Role.FINANCE, tenants=("leeds",)),
    DemoPerson(id="k.rao", name="Kiran Rao", role=Role.FINANCE, tenants=("leeds",)),
    DemoPerson(id=JOINED, name="Nils Ode", role=Role.FINANCE, tenants=("leeds",)),
    DemoPerson(
        id=SUPPORT,
        name="Sue Bell",
        role=Role.SUPPORT,
        tenants=("leeds",),
        customers=("highfield-school", "otley-library"),
    ),
    DemoPerson(id="a.reyes", name="Ana Reyes", role=Role.AUDITOR, tenants=("leeds",)),
    DemoPerson(id=PUSHER, name="Payment feed", role=Role.PUSHER, tenants=("leeds", "york")),
    DemoPerson(id="d.adm", name="Dana Adm", role=Role.ADMINISTRATOR, tenants=("leeds", "york")),
    DemoPerson(id="y.ward", name="Yusuf Ward", role=Role.FINANCE, tenants=("york",)),
)
"""An operator, three finance clerks, a support agent with two customers, an auditor, a pusher, an administrator; a clerk of the other tenant."""


_HELPED = frozenset(customer for person in PEOPLE for customer in person.customers or ())


async def make_people(owner: Database) -> None:
    """Mark the database as a demo's and add the tenants and people that are missing."""
    async with owner.transaction(None) as transaction:
        await deployment.mark_demo(transaction)
    for tenant, name in TENANTS.items():
        if await _is_new(people.add_tenant(owner, tenant=tenant, name=name)):
            _log.info("demo-tenant-added", tenant=tenant)
    for person in PEOPLE:
        contact = f"{person.id}@demo.invalid"
        if await _is_new(people.add_person(owner, person=person.id, name=person.name, contact=contact, demo=True)):
            for tenant in person.tenants:
                grant = people.Grant(person=person.id, tenant=tenant, role=person.role, customers=person.customers)
                await people.grant(owner, grant)


async def write_tokens(owner: Database, folder: Path, *, url: str) -> Path:
    """End the demo people's earlier tokens, make new ones, and keep them in a file of ours alone; its path.

    The file: `{"url": ..., "tokens": [{"person", "name", "role", "tenants", "token"}]}`. Folder 0700, file 0600.
    """
    tokens = [{**_shown(person), "token": await _fresh_token(owner, person)} for person in PEOPLE]
    return _write_privately(tokens_file(folder), json.dumps({"url": url, "tokens": tokens}, indent=2))


def tokens_file(folder: Path) -> Path:
    """Where the demo people's tokens lie in their folder."""
    return folder / "tokens.json"


async def enrol_people(owner: Database, keys: Keys, folder: Path) -> Path:
    """See that each of the demo's finance people has a phone whose secret lies in the file of the demo's phone; its path.

    What is there stays: after a restart the phones are the same. Folder 0700, file 0600.
    """
    phones = _phones(folder)
    file = _write_privately(folder / PHONE, phone_text(phones))
    secrets = {phone.person: phone.secret for phone in phones}
    for person in await enrolment.enrol_demo(owner, keys, secrets):
        _log.info("demo-phone-enrolled", person=person)
    return file


def _phones(folder: Path) -> tuple[DemoPhone, ...]:
    """A phone for each finance clerk: the one of the file, or a new one."""
    try:
        there = {phone.person: phone.secret for phone in read_phones(folder)}
    except StartRefused:  # none yet, or not fit to be used
        there = {}
    return tuple(
        DemoPhone(person=person.id, name=person.name, secret=there.get(person.id) or new_secret())
        for person in PEOPLE
        if person.role in enrolment.ROLES
    )


def _write_privately(file: Path, text: str) -> Path:
    folder = file.parent
    folder.mkdir(mode=0o700, exist_ok=True)
    folder.chmod(0o700)
    fresh = file.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as writing:
        writing.write(text)
    fresh.replace(file)
    return file


async def seed(owner: Database, api: Database, application: Application, records: RecordSet) -> None:
    """Let the application put its example content in, once in the life of this database."""
    async with owner.transaction(None) as transaction:
        if application.seeder is None or await deployment.is_seeded(transaction):
            return
        now = await deployment.now(transaction)

    own = JOINED_PUSHED

    async def push(tenant: str, queue: str, items: Sequence[NewWorkItem]) -> int:
        nonlocal own
        theirs = own if (tenant, queue) == (JOINED_IN, JOINED_QUEUE) else 0
        own -= min(theirs, len(items))
        new = 0
        for pusher, some in ((JOINED, items[:theirs]), (PUSHER, items[theirs:])):
            if some:
                new += await push_examples(api, records, application, tenant, queue, some, pusher=pusher)
        return new

    async def submit(tenant: str, jobs: Sequence[NewJob]) -> int:
        new = 0
        for job in jobs:
            requester = SUPPORT if job.customer in _HELPED and tenant == JOINED_IN else REQUESTERS.get(tenant)
            new += await submit_example(api, records, tenant, job, requester=requester)
        return new

    for sentence in await application.seeder(now, push, submit):
        _log.info("demo-seeded", said=sentence)
    async with owner.transaction(None) as transaction:
        await deployment.mark_seeded(transaction)


def _shown(person: DemoPerson) -> Mapping[str, object]:
    return {"person": person.id, "name": person.name, "role": person.role.value, "tenants": list(person.tenants)}


async def _fresh_token(owner: Database, person: DemoPerson) -> str:
    made = await people.create_token(owner, person=person.id, label="demo", hours=TOKEN_HOURS)
    # The new one first: who loses their last token has their plans held back (MONEY.md 21).
    for row in await people.list_tokens(owner, person=person.id):
        if row["state"] == "live" and str(row["id"]) != made.id:
            await people.revoke_token(owner, token=str(row["id"]))
    return made.token


async def _is_new(adding: Awaitable[object]) -> bool:
    """Whether that was added now; False where it was there before."""
    try:
        await adding
    except Refusal as refusal:
        if refusal.kind is ErrorCode.KEY_TAKEN:
            return False
        raise
    return True
