"""Owns wiring the Worker process: its settings, database, records, duties and leased work. Never opens the key ring."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from jobservice.application import Application
from jobservice.bootstrap import process
from jobservice.bootstrap.public_keys import read_public_keys
from jobservice.delivery import Delivery, DeliveryRefused, delivery_from
from jobservice.records import RecordSet
from jobservice.settings import DELIVERY_URL, PUBLIC_KEYS, PURPOSES, ProcessSettings, StartRefused
from jobservice.store.database import Database
from jobservice.usecases.inbox import ServiceInbox
from jobservice.usecases.scoring import Scorer
from jobservice.worker.applying import Applying
from jobservice.worker.delivering import Delivering
from jobservice.worker.duties import Duty
from jobservice.worker.housekeeping import Housekeeping
from jobservice.worker.leased_work import LeasedWork
from jobservice.worker.plan_keeper import PlanKeeper
from jobservice.worker.process import Worker
from jobservice.worker.rescoring import Rescoring
from jobservice.worker.settling import Settling

CONNECTIONS = 16
"""Most connections of one Worker process: its duties, and the turns of a few plans at once."""


def duties(records: RecordSet, application: Application, delivery: Delivery | None) -> tuple[Duty, ...]:
    """Every duty of a Worker."""
    return (
        Housekeeping(hints_keep=records.settings.hints_keep),
        Rescoring(scorer=Scorer.of(records, application), queues=records.queues),
        PlanKeeper(),
        Settling(),
        Delivering(delivery=delivery),
    )


def delivery_of(settings: ProcessSettings) -> Delivery | None:
    """The way to people; None where nobody said one, StartRefused where it cannot be used."""
    if settings.delivery_url is None:
        return None
    try:
        return delivery_from(settings.delivery_url)
    except DeliveryRefused as refused:
        raise StartRefused(f"{DELIVERY_URL} is not taken: {refused}") from None


def leased_work(
    database: Database, records: RecordSet, application: Application, settings: ProcessSettings
) -> tuple[LeasedWork, ...]:
    """All leased work of a Worker; StartRefused where plans could be confirmed and it could not believe one."""
    if settings.public_keys is None:
        if records.bulk:
            raise StartRefused(
                f"{PUBLIC_KEYS} is not set: {PURPOSES[PUBLIC_KEYS]}. Without it no confirmed plan is applied "
                f"({', '.join(sorted(records.bulk))})."
            )
        return ()
    read_public_keys(settings.public_keys)
    keys = partial(read_public_keys, settings.public_keys)
    return (Applying(database=database, records=records, application=application, keys=keys),)


async def run_worker(
    settings: ProcessSettings, overrides: Mapping[str, str], *, until_stdin_closes: bool = False
) -> None:
    """Work until SIGTERM or SIGINT; StartRefused where anything it needs is not right."""
    process.harden()
    application = process.load_application(settings.application)
    records = process.load_records(application, overrides)
    delivery = delivery_of(settings)
    await process.reach(settings.database_url)
    database = await Database.open(settings.database_url, name="jobservice worker", most=CONNECTIONS)
    try:
        await process.check_and_record(database, service_role="jobs_worker", digest=records.digest)
        application.connect(ServiceInbox(records, application))
        stop = process.stop_event(until_stdin_closes=until_stdin_closes)
        worker = Worker(
            database=database,
            duties=duties(records, application, delivery),
            leased=leased_work(database, records, application, settings),
            stop=stop,
        )
        process.say("ready", incarnation=str(worker.incarnation))
        await worker.run()
    finally:
        await database.close()
