"""Owns wiring the Worker process: its settings, database, records, duties and leased work. Never opens the key ring."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from functools import partial
from uuid import UUID, uuid4

from jobservice.application import Application
from jobservice.bootstrap import process
from jobservice.bootstrap.first_look import FirstLook
from jobservice.bootstrap.outside import delivery_of, webhook_of
from jobservice.bootstrap.public_keys import read_public_keys
from jobservice.bootstrap.stopping import Stopping, stop_signals
from jobservice.delivery import Delivery, Webhook
from jobservice.delivery.heads import Heads
from jobservice.engine.carriage import Carriage
from jobservice.engine.interpreter import Proof
from jobservice.engine.writing import CONNECTIONS as JOB_CONNECTIONS
from jobservice.records import RecordSet
from jobservice.rules.alarms import thresholds_of
from jobservice.rules.keys import PublicKeys
from jobservice.settings import PUBLIC_KEYS, PURPOSES, ProcessSettings, StartRefused
from jobservice.store.database import Database, Transaction
from jobservice.usecases.inbox import ServiceInbox
from jobservice.usecases.job_desk import ServiceJobDesk
from jobservice.usecases.scoring import Scorer
from jobservice.worker.alarming import Alarming
from jobservice.worker.applying import Applying
from jobservice.worker.carrying import RemovingWorkflows, TakingOver
from jobservice.worker.delivering import Delivering
from jobservice.worker.failure_effects import FailureEffects
from jobservice.worker.fenced import FencedDuty
from jobservice.worker.housekeeping import Housekeeping
from jobservice.worker.job_notices import JobNotices
from jobservice.worker.job_proof import proven_job
from jobservice.worker.job_tallies import JobTallies
from jobservice.worker.leased_work import LeasedWork
from jobservice.worker.occurrences import Occurrences
from jobservice.worker.outage import Outage
from jobservice.worker.plan_keeper import PlanKeeper
from jobservice.worker.planner import Planner
from jobservice.worker.process import Worker
from jobservice.worker.reconciling_jobs import ReconcilingJobs
from jobservice.worker.recovering import Recovering
from jobservice.worker.recovery_proof import RecoveryProof
from jobservice.worker.rescoring import Rescoring
from jobservice.worker.retention import Retention
from jobservice.worker.run_confirmed import proof_by
from jobservice.worker.run_scope import SHARED, Room
from jobservice.worker.running import Runner
from jobservice.worker.sealing import Sealing
from jobservice.worker.settling import Settling
from jobservice.worker.tallies import Tallies
from jobservice.worker.telling import Telling
from jobservice.worker.watchdog import Watchdog, replace_process

SHORT = 8
"""Connections that a Worker's short transactions share: heartbeats, renewals, taking, notices, turns of plans."""
CONNECTIONS = 18 + SHORT
"""Connections of one Worker process beside those of its runs and jobs: one for each fenced duty, as each may have a long
statement while all others do, and the short ones."""


def duties(
    records: RecordSet,
    application: Application,
    delivery: Delivery | None,
    *,
    deployment: str,
    heads: Heads | None = None,
    proof: RecoveryProof | None = None,
    webhook: Webhook | None = None,
) -> tuple[FencedDuty, ...]:
    """What one Worker at a time does."""
    return (
        Planner(schedules=records.schedules, deployment=deployment),
        Housekeeping(hints_keep=records.settings.hints_keep),
        Retention(),
        Tallies(),
        Rescoring(scorer=Scorer.of(records, application), queues=records.queues, every=10.0),
        PlanKeeper(),
        Recovering(records=records, deployment=deployment, proof=proof),
        Settling(),
        Delivering(delivery=delivery),
        Sealing(heads=heads),
        Alarming(thresholds=thresholds_of(records.settings), tells=webhook is not None),
        Telling(hook=webhook),
        ReconcilingJobs(),
        FailureEffects(records=records, application=application),
        JobNotices(delivery=delivery),
        JobTallies(),
    )


def heads_of(settings: ProcessSettings) -> Heads | None:
    """Where heads of the trail are written; None where nobody said."""
    return None if settings.seals is None else Heads(folder=settings.seals)


def leased_work(
    database: Database,
    records: RecordSet,
    application: Application,
    settings: ProcessSettings,
    *,
    settled: Callable[[float], bool],
) -> tuple[LeasedWork, ...]:
    """All leased work of a Worker; StartRefused where plans could be confirmed and it could not believe one."""
    return (
        Occurrences(
            database=database,
            schedules=records.schedules,
            deployment=settings.deployment,
            runner=Runner(
                database=database,
                records=records,
                application=application,
                room=Room(),
                proof=proof_by(_recoveries(settings)),
            ),
            settled=settled,
            slots=records.settings.worker_slots,
            lease=records.settings.occurrence_lease,
        ),
        *_applying(database, records, application, settings),
    )


def _keys(settings: ProcessSettings) -> Callable[[], PublicKeys] | None:
    """How the public keys are read, anew each time; None where nobody said where they are."""
    return None if settings.public_keys is None else partial(read_public_keys, settings.public_keys)


def _recoveries(settings: ProcessSettings) -> RecoveryProof | None:
    """What recoveries that move money are believed by; None where nobody said where the keys are."""
    keys = _keys(settings)
    return None if keys is None else RecoveryProof(keys)


def _carriage(
    database: Database, records: RecordSet, application: Application, settings: ProcessSettings, incarnation: UUID
) -> Carriage:
    """The engine of background jobs."""
    return Carriage.of(
        database,
        settings.database_url,
        str(incarnation),
        records=records,
        scorer=Scorer.of(records, application),
        steps=application.steps,
        proof=_proof(records, settings),
        at_once=records.settings.jobs_at_once,
    )


def _proof(records: RecordSet, settings: ProcessSettings) -> Proof | None:
    """What a job that moves money is believed by; None where nobody said where the keys are."""
    recoveries = _recoveries(settings)
    if recoveries is None:
        return None

    async def proof(transaction: Transaction, family: str, job: str) -> str | None:
        return await proven_job(transaction, family=family, job=job, records=records, proof=recoveries)

    return proof


def _applying(
    database: Database, records: RecordSet, application: Application, settings: ProcessSettings
) -> tuple[LeasedWork, ...]:
    """Applying plans, where there are keys to believe them by."""
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


def _all_duties(
    records: RecordSet,
    application: Application,
    settings: ProcessSettings,
    carriage: Carriage,
    outage: Outage,
    ways: tuple[Delivery | None, Webhook | None],
) -> tuple[FencedDuty, ...]:
    """What one Worker at a time does, the engine's part of it too. `ways`: how people and receivers are told."""
    delivery, webhook = ways
    return (
        *duties(
            records,
            application,
            delivery,
            deployment=settings.deployment,
            heads=heads_of(settings),
            proof=_recoveries(settings),
            webhook=webhook,
        ),
        TakingOver(carriage=carriage, settled=outage.settled),
        RemovingWorkflows(carriage=carriage),
    )


async def run_worker(
    settings: ProcessSettings, overrides: Mapping[str, str], *, until_stdin_closes: bool = False
) -> None:
    """Work until SIGTERM or SIGINT, once the database is there; StartRefused where anything it needs is not right."""
    process.harden()
    application = process.load_application(settings.application)
    records = process.load_records(application, overrides)
    ways = delivery_of(settings), webhook_of(settings)
    stopping = stop_signals(until_stdin_closes=until_stdin_closes)
    database = await Database.open(settings.database_url, name="jobservice worker", most=_connections(records))
    try:
        check = partial(
            process.check_and_record,
            database,
            service_role="jobs_worker",
            digest=records.digest,
            families=process.families_of(records),
        )
        if not await FirstLook(url=settings.database_url, check=check).until_taken(stopping.begun):
            return
        application.connect(ServiceInbox(records, application))
        application.connect_jobs(ServiceJobDesk(records))
        worker = _worker(database, records, application, settings, stopping, ways)
        process.say("ready", incarnation=str(worker.incarnation))
        await worker.run()
    finally:
        await database.close()
    if worker.abandoned:
        leave()


def _worker(
    database: Database,
    records: RecordSet,
    application: Application,
    settings: ProcessSettings,
    stopping: Stopping,
    ways: tuple[Delivery | None, Webhook | None],
) -> Worker:
    """The Worker with all that it does, under an incarnation of its own."""
    incarnation = uuid4()
    outage = Outage(database=database)
    carriage = _carriage(database, records, application, settings, incarnation)
    return Worker(
        database=database,
        duties=_all_duties(records, application, settings, carriage, outage, ways),
        leased=leased_work(database, records, application, settings, settled=outage.settled),
        stop=stopping.begun,
        at_once=stopping.at_once,
        grace=records.settings.worker_grace,
        slots=records.settings.worker_slots,
        incarnation=incarnation,
        outage=outage,
        carriage=carriage,
        watchdog=Watchdog(url=settings.database_url, holder=incarnation, replace=partial(_replace, stopping)),
    )


def _connections(records: RecordSet) -> int:
    """Most connections of the process: one a run, those that runs share, those of jobs, and those of everything else."""
    return CONNECTIONS + SHARED + JOB_CONNECTIONS + records.settings.worker_slots


def _replace(stopping: Stopping) -> None:
    """Begin anew; where this process was to end, end."""
    if stopping.asked:
        leave()
    replace_process()


def leave() -> None:
    """Exit whatever still runs: it did not end when it was cancelled, and its leases are given back."""
    logging.shutdown()
    os._exit(1)
