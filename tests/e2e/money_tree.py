"""Owns one running demo as the tests of secrets want it: everything logged, every answer kept, phones at hand, twins and
consoles that are started like a person's.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil
import psycopg
from click.testing import CliRunner, Result

from jobconsole.cli import cli
from jobconsole.client.queues import new_key
from jobcontract.routes import KEY_HEADER, TENANT_HEADER
from jobservice import embedded
from jobservice.bootstrap.dev import DATABASE, OWNER
from jobservice.bootstrap.phone import read_phones
from jobservice.cluster import SUPERUSER, Cluster
from jobservice.rules.codes import STEP_SECONDS, code_at
from tests.e2e.recorder import Recorder

QUEUE, TENANT = "payments.payouts", "leeds"
SECONDS = 60.0
FAR = 1_000_000
"""Steps from now whose codes no phone shows: made up, and in the form of a code."""
LOUD = "alter system set log_statement = 'all'"
"""The database's own log gets every statement with its parameters."""


@dataclass(slots=True)
class Tree:
    """The running demo. `codes` are all that anybody typed or sent; `said` what twins printed."""

    ready: Mapping[str, str]
    process: subprocess.Popen[str]
    log: Path
    recorder: Recorder
    data: Path
    database: psycopg.Connection[Any]
    client: httpx.Client
    codes: set[str] = field(default_factory=set)
    said: list[bytes] = field(default_factory=list)
    queries: set[str] = field(default_factory=set)
    _last: dict[str, int] = field(default_factory=dict)
    _far: int = FAR

    @property
    def url(self) -> str:
        """Of the relay before the API."""
        return self.recorder.url

    @property
    def cluster(self) -> Cluster:
        """The embedded PostgreSQL."""
        return cluster_of(self.data)

    def tokens(self) -> dict[str, str]:
        """Person to token."""
        told = json.loads(Path(self.ready["tokens_file"]).read_text("utf-8"))
        return {each["person"]: each["token"] for each in told["tokens"]}

    def secrets(self) -> dict[str, str]:
        """Person to the secret of their phone."""
        return {phone.person: phone.secret for phone in read_phones(self.data / "people")}

    def rows(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """What the database says."""
        return self.database.execute(statement.encode(), values).fetchall()

    def code(self, person: str) -> str:
        """The next code of a person's phone that they did not use yet; within the drift that is taken."""
        step = max(int(time.time()) // STEP_SECONDS, self._last.get(person, 0) + 1)
        self._last[person] = step
        return self.keep(code_at(self.secrets()[person], step))

    def made_up(self) -> str:
        """A code in form that is right now nobody's."""
        self._far += 1
        return self.keep(code_at(next(iter(self.secrets().values())), self._far))

    def keep(self, code: str) -> str:
        """Remember that it was typed or sent."""
        self.codes.add(code)
        return code

    def push(self, key: str, minor: int) -> str:
        """One payout as the feed pushes it; the item's id."""
        payee = {"id": f"S-{key}", "name": f"Secret Supplies {key}", "account": f"XJ00DEMO00{minor:09}"}
        content = {
            "key": f"secret/{key}",
            "title": f"Made up, {key}",
            "amount": {"minor": minor, "currency": "GBP"},
            "payee": payee,
            "inputs": {"invoice": "on-file"},
        }
        answer = self.post("p.push", f"/v1/queues/{QUEUE}/items", content)
        assert answer.is_success, answer.text
        return str(answer.json()["item"]["id"])

    def post(self, person: str, path: str, body: object) -> httpx.Response:
        """What the API answers; `body` may be bytes."""
        sent = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Content-Type": "application/json", **self.headers(person)}
        return self.client.post(f"{self.url}{path}", headers=headers, content=sent)

    def get(self, person: str, path: str) -> httpx.Response:
        """What the API answers."""
        return self.client.get(f"{self.url}{path}", headers=self.headers(person))

    def headers(self, person: str) -> dict[str, str]:
        """Who asks, where, under which key."""
        return {
            "Authorization": f"Bearer {self.tokens()[person]}",
            TENANT_HEADER: TENANT,
            KEY_HEADER: new_key(),
        }

    def script(self, rules: Sequence[Mapping[str, object]]) -> None:
        """Make the bank behave so."""
        self.client.post(f"{self.ready['bank_url']}/script", json=list(rules)).raise_for_status()

    def ledger(self) -> str:
        """The bank's bookings."""
        return self.client.get(f"{self.ready['bank_url']}/ledger").text

    def twin(self, person: str, *words: str, code: str | None = None) -> Result:
        """What `jobconsole WORDS` prints, the code read from its standard input."""
        given = [] if code is None else ["--code", "-"]
        result = CliRunner().invoke(cli, [*words, *given], input=code, env=self.environment(person))
        self.said.append((result.output + result.stderr).encode())
        assert result.exception is None or isinstance(result.exception, SystemExit), (words, result.exception)
        return result

    def asked(self, person: str, *words: str, code: str | None = None) -> Any:
        """The answer of a twin that does what it is asked."""
        result = self.twin(person, *words, "--json", code=code)
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)

    def environment(self, person: str) -> dict[str, str]:
        """The variables that sign a twin in."""
        return {"JOBCONSOLE_URL": self.url, "JOBCONSOLE_TOKEN": self.tokens()[person]}

    def plan(self, person: str, *items: str) -> dict[str, Any]:
        """An open plan of them, its warnings answered."""
        made: dict[str, Any] = self.asked(person, "bulk", "plan", QUEUE, *items)
        for warning in self.asked(person, "bulk", "show", made["name"], "--warnings")["warnings"]:
            if warning["must_answer"]:
                self.asked(person, "bulk", "keep-in", made["name"], warning["id"], "--reason", "looked at")
        return made

    def until(self, plan: str, *states: str) -> None:
        """Wait until a plan is in one of these states."""
        end = time.monotonic() + SECONDS
        while (state := self.rows("select state::text from jobs.plans where id = %s", plan)[0][0]) not in states:
            assert time.monotonic() < end, state
            time.sleep(0.05)

    def processes(self) -> Iterator[tuple[str, psutil.Process]]:
        """The service's processes by what they are: dev, API, Worker, bank, PostgreSQL's."""
        top = psutil.Process(self.process.pid)
        server = psutil.Process(int((self.data / "cluster" / "postmaster.pid").read_text().split()[0]))
        for process in (top, *top.children(recursive=True), server, *server.children()):
            try:
                words = process.cmdline()
            except psutil.Error:
                continue
            yield words[words.index("-m") + 2] if "jobservice" in words else process.name(), process


def cluster_of(data: Path) -> Cluster:
    """The embedded PostgreSQL of a demo's folder."""
    return Cluster(folder=data, programs=embedded.wheel_programs(embedded.NEWEST), user=embedded.server_user())


@contextmanager
def running(folder: Path) -> Iterator[Tree]:
    """Start everything below `folder`; stop it at the end, and see that it ended well."""
    data, log = folder / "demo", folder / "dev.log"
    words = ("dev", "--data", str(data), "--application", "tests.e2e.loud:application", "--until-stdin-closes")
    with log.open("w") as writing:
        process = subprocess.Popen(
            (sys.executable, "-m", "jobservice", *words),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=writing,
            text=True,
        )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, log.read_text()[-3_000:]
        ready = json.loads(line)
        address = cluster_of(data).url(SUPERUSER, DATABASE)
        with (
            psycopg.connect(address, autocommit=True) as database,
            Recorder(ready["url"]) as recorder,
            httpx.Client(timeout=SECONDS) as client,
        ):
            database.execute(LOUD)
            database.execute("select pg_reload_conf()")
            tree = Tree(ready, process, log, recorder, data, database, client)
            with _watched(address, tree.queries):
                yield tree
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=SECONDS)
    assert process.returncode == 0


@contextmanager
def _watched(address: str, queries: set[str]) -> Iterator[None]:
    """Keep whatever the database says that it is asked."""
    stop = threading.Event()

    def watch() -> None:
        with psycopg.connect(address, autocommit=True) as looking:
            while not stop.wait(0.05):
                queries.update(text for (text,) in looking.execute("select query from pg_stat_activity"))

    watching = threading.Thread(target=watch, name="activity")
    watching.start()
    try:
        yield
    finally:
        stop.set()
        watching.join()


def enrolling(tree: Tree) -> tuple[list[str], dict[str, str]]:
    """The command and the variables with which the server's own people enrol a phone."""
    words = [sys.executable, "-m", "jobservice", "totp", "enrol", "n.ode", "--set", "code.rest=PT0S"]
    return words, {
        "JOBSERVICE_DATABASE_URL": tree.cluster.url(OWNER, DATABASE),
        "JOBSERVICE_KEYRING": str(tree.data / "keyring"),
        "JOBSERVICE_APPLICATION": "examples.payments:application",
        "PYTHONPATH": os.getcwd(),
    }
