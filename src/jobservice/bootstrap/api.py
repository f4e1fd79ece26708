"""Owns wiring the API process: its settings, key, database, application and listener, and its end within seconds."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import structlog
from fastapi import FastAPI

from jobservice.api.app import create_app
from jobservice.api.opening import Opening
from jobservice.api.server import serve
from jobservice.bootstrap import process
from jobservice.bootstrap.first_look import FirstLook
from jobservice.bootstrap.keyring import read_keys, read_signing_key
from jobservice.settings import KEYRING, PURPOSES, ProcessSettings, StartRefused
from jobservice.store.database import Database
from jobservice.store.first_plans import plan_jobs
from jobservice.store.revisions import code_version
from jobservice.usecases.inbox import ServiceInbox
from jobservice.usecases.job_views import ViewSources
from jobservice.usecases.service import Service

CONNECTIONS = 20
"""Most connections of one API process."""

_log = structlog.get_logger("jobservice.api")


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """Where the API listens. `descriptor` is a listening socket inherited from whoever supervises this process."""

    host: str = "127.0.0.1"
    port: int = 8414
    certificate: Path | None = None
    key: Path | None = None
    behind_tls_proxy: bool = False
    descriptor: int | None = None

    def check(self) -> None:
        """StartRefused where tokens could cross a network in clear (MONEY.md 25)."""
        if (self.certificate is None) != (self.key is None):
            raise StartRefused("TLS needs both --tls-cert and --tls-key.")
        for file in (self.certificate, self.key):
            if file is not None and not file.is_file():
                raise StartRefused(f"{file} is not a file.")
        if self.certificate is None and not self.behind_tls_proxy and not is_loopback(self.host):
            raise StartRefused(
                f"{self.host} can be reached from outside, and tokens must not travel in clear. "
                "Give --tls-cert and --tls-key, or state --behind-tls-proxy where a proxy ends TLS."
            )

    def url(self, port: int) -> str:
        """What a console on this machine connects to."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'http' if self.certificate is None else 'https'}://{host}:{port}"


def is_loopback(host: str) -> bool:
    """Whether `host` is this machine alone, without asking any name service."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


async def run_api(
    settings: ProcessSettings, listening: Listening, overrides: Mapping[str, str], *, until_stdin_closes: bool = False
) -> None:
    """Serve until SIGTERM or SIGINT; StartRefused where anything it needs is not right. While the database is away it answers
    503."""
    listening.check()
    process.harden()
    application = process.load_application(settings.application)
    records = process.load_records(application, overrides)
    if settings.keyring is None:
        raise StartRefused(f"{KEYRING} is not set: {PURPOSES[KEYRING]}.")
    signing_key, keys = read_signing_key(settings.keyring), read_keys(settings.keyring)
    stop = process.stop_event(until_stdin_closes=until_stdin_closes)
    database = await Database.open(settings.database_url, name="jobservice api", most=CONNECTIONS, ready=plan_jobs)
    views = await ViewSources.open(settings.job_views)
    try:
        application.connect(ServiceInbox(records, application))
        service = Service(
            database=database,
            records=records,
            application=application,
            deployment=settings.deployment,
            keys=keys,
            job_views=views,
        )
        check = partial(
            process.check_and_record,
            database,
            service_role="jobs_api",
            digest=records.digest,
            families=process.families_of(records),
        )
        look = FirstLook(url=settings.database_url, check=check)
        opening = Opening(open=await look.is_right())
        app = create_app(service, signing_key=signing_key, schema_version=code_version(), opening=opening)
        await _Serving(app=app, listening=listening, look=look, opening=opening, stop=stop).run()
    finally:
        await views.close()
        await database.close()


@dataclass(slots=True, kw_only=True)
class _Serving:
    """One API process that listens: from the start, and open once its database was judged."""

    app: FastAPI
    listening: Listening
    look: FirstLook
    opening: Opening
    stop: asyncio.Event

    async def run(self) -> None:
        with _listener(self.listening) as listener:
            url = self.listening.url(listener.getsockname()[1])
            opens = asyncio.create_task(self._open(url), name="opening")
            opens.add_done_callback(self._opened)
            try:
                await serve(
                    self.app,
                    listener,
                    stop=self.stop,
                    started=lambda: self._started(url),
                    certificate=self.listening.certificate,
                    key=self.listening.key,
                )
            except RuntimeError as failed:
                raise StartRefused("The API did not start; the log lines above say why.") from failed
            finally:
                self.stop.set()
                await opens

    def _started(self, url: str) -> None:
        _log.info("api-started", url=url)
        if self.opening.open:
            process.say("ready", url=url)

    def _opened(self, _: asyncio.Task[None]) -> None:
        """What is wrong with the database ends the process."""
        if not self.opening.open:
            self.stop.set()

    async def _open(self, url: str) -> None:
        """Let requests in once the database is there and right; StartRefused where it is wrong."""
        if not self.opening.open and await self.look.until_taken(self.stop):
            self.opening.open = True
            process.say("ready", url=url)


def _listener(listening: Listening) -> socket.socket:
    if listening.descriptor is not None:
        return socket.socket(fileno=listening.descriptor)
    family = socket.AF_INET6 if ":" in listening.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((listening.host, listening.port))
    except OSError as error:
        listener.close()
        raise StartRefused(
            f"The API cannot listen on {listening.host} port {listening.port}: {error.strerror}. Choose another --port."
        ) from error
    listener.listen(128)
    return listener
