"""Owns what every service process does before it works: load the application and its records, harden itself, look at
the database, and know when to stop. Never opens a listener, never runs a duty."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import resource
import signal
import sys
import threading
from collections.abc import Collection, Mapping, Sequence

import psycopg
import structlog

from jobservice import records
from jobservice.application import Application
from jobservice.records import RecordSet
from jobservice.settings import APPLICATION, StartRefused
from jobservice.store.database import Database, reason, server_too_old
from jobservice.store.revisions import code_version
from jobservice.usecases.deployment import check_families, check_start, record_start, stop_if_restored

_log = structlog.get_logger("jobservice.start")


def load_application(name: str) -> Application:
    """The application at `module:attribute`, found from the working directory too; StartRefused says what is wrong."""
    module_name, _, attribute = name.partition(":")
    if not module_name or not attribute:
        raise StartRefused(
            f"{APPLICATION} is {name!r}; it needs the form module:attribute, like examples.payments:application."
        )
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise StartRefused(
            f"{APPLICATION} names {module_name}, but there is no module {error.name} here. "
            "Start in the folder that holds it, or install it."
        ) from error
    found = getattr(module, attribute, None)
    if not isinstance(found, Application):
        raise StartRefused(f"{APPLICATION} names {name}, but {module_name} has no Application called {attribute}.")
    return found


def parse_overrides(assignments: Sequence[str]) -> Mapping[str, str]:
    """`id=value` pairs of `--set`; StartRefused for one without both. Ids and values are checked with the records."""
    overrides: dict[str, str] = {}
    for assignment in assignments:
        setting, sign, value = assignment.partition("=")
        if not sign or not setting or not value:
            raise StartRefused(f"--set {assignment!r}: write it as id=value, like --set claims.lease=PT2S.")
        overrides[setting] = value
    return overrides


def load_records(application: Application, overrides: Mapping[str, str]) -> RecordSet:
    """The application's records, checked; StartRefused with every finding."""
    found, findings = records.check(application, overrides=overrides)
    if found is None:
        raise StartRefused(*(str(finding) for finding in findings), "The records are not right; nothing was started.")
    return found


def families_of(records: RecordSet) -> frozenset[str]:
    """The families of the kinds of jobs that records declare: each has tables of its own."""
    return frozenset(kind.family for kind in records.job_kinds.values())


def harden() -> None:
    """No core file: it would hold tokens and keys (MONEY.md 26). New files are this user's alone."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.umask(0o077)


async def reach(url: str) -> None:
    """Return where the database answers and is new enough; StartRefused with the server's own reason otherwise. For commands,
    which do not wait; a process that stays waits for a database that is away (`first_look.py`)."""
    try:
        await connect_once(url)
    except psycopg.Error as error:
        raise StartRefused(f"The database cannot be reached: {reason(error)}") from error


async def connect_once(url: str) -> None:
    """Return where the database takes this login and is new enough. psycopg.Error; StartRefused for a server that is too old."""
    connection = await psycopg.AsyncConnection.connect(url, connect_timeout=10)
    too_old = server_too_old(connection.info.server_version)
    await connection.close()
    if too_old is not None:
        raise StartRefused(too_old)


async def check_and_record(
    database: Database, *, service_role: str, digest: str, families: Collection[str] = ()
) -> None:
    """Look at the database as this process's role and keep that it started; StartRefused with every finding, Refusal where
    it went away meanwhile. `families`: of the kinds of jobs that its records declare."""
    version = code_version()
    findings = await check_start(database, service_role=service_role, version=version)
    if not findings:
        findings = await check_families(database, families)
    if findings:
        raise StartRefused(*findings)
    await record_start(database, process=service_role, digest=digest, version=version)
    if await stop_if_restored(database):
        _log.error("database-restored", alarm=True, todo="money is stopped; run: jobservice money reconcile")


def stop_event(*, until_stdin_closes: bool) -> asyncio.Event:
    """Set by SIGTERM, SIGINT, and, where asked for, by the end of standard input: whoever started us has gone."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    if until_stdin_closes:
        when_stdin_closes(stop)
    return stop


def when_stdin_closes(stop: asyncio.Event) -> None:
    """Set `stop`, in the loop that runs now, when standard input ends."""
    loop = asyncio.get_running_loop()
    threading.Thread(target=_wait_for_end, args=(loop, stop), daemon=True, name="stdin").start()


def _wait_for_end(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    try:
        while os.read(0, 1024):
            pass
    except OSError:
        pass  # a closed descriptor has ended, too
    if not loop.is_closed():
        loop.call_soon_threadsafe(stop.set)


def say(event: str, **members: object) -> None:
    """One JSON line on stdout for whoever started this process (`ready`: go on). Holds no secret."""
    sys.stdout.write(json.dumps({"event": event, **members}) + "\n")
    sys.stdout.flush()
