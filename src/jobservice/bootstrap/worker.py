"""Owns wiring the Worker process: its settings, database, records and duties. Never opens the key ring."""

from __future__ import annotations

from collections.abc import Mapping

from jobservice.application import Application
from jobservice.bootstrap import process
from jobservice.records import RecordSet
from jobservice.settings import ProcessSettings
from jobservice.store.database import Database
from jobservice.usecases.inbox import ServiceInbox
from jobservice.usecases.scoring import Scorer
from jobservice.worker.duties import Duty
from jobservice.worker.housekeeping import Housekeeping
from jobservice.worker.process import Worker
from jobservice.worker.rescoring import Rescoring

CONNECTIONS = 5
"""Most connections of one Worker process."""


def duties(records: RecordSet, application: Application) -> tuple[Duty, ...]:
    """Every duty of a Worker."""
    return (
        Housekeeping(hints_keep=records.settings.hints_keep),
        Rescoring(scorer=Scorer.of(records, application), queues=records.queues),
    )


async def run_worker(
    settings: ProcessSettings, overrides: Mapping[str, str], *, until_stdin_closes: bool = False
) -> None:
    """Work until SIGTERM or SIGINT; StartRefused where anything it needs is not right."""
    process.harden()
    application = process.load_application(settings.application)
    records = process.load_records(application, overrides)
    await process.reach(settings.database_url)
    database = await Database.open(settings.database_url, name="jobservice worker", most=CONNECTIONS)
    try:
        await process.check_and_record(database, service_role="jobs_worker", digest=records.digest)
        application.connect(ServiceInbox(records, application))
        stop = process.stop_event(until_stdin_closes=until_stdin_closes)
        worker = Worker(database=database, duties=duties(records, application), stop=stop)
        process.say("ready", incarnation=str(worker.incarnation))
        await worker.run()
    finally:
        await database.close()
