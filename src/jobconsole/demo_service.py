"""Owns the demo's service as a process of its own: started, waited for, stopped; and the tokens of its made-up people.

Knows `jobservice` only by its command line. The child gets no token and no address from this process's environment,
and ends by itself when this process goes, however it goes: its standard input closes.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Self

from pydantic import BaseModel, SecretStr, ValidationError

START_SECONDS = 120.0
"""How long everything may take to start: a first start makes a database and fills it."""
STOP_SECONDS = 30.0
EXAMPLE = Path("examples") / "payments" / "__init__.py"


class DemoFailed(Exception):
    """The demo cannot go on; the text says why and what to do."""


class DemoPerson(BaseModel):
    """One made-up person of the tokens file."""

    person: str
    name: str
    role: str
    tenants: tuple[str, ...]
    token: SecretStr


class _TokensFile(BaseModel):
    url: str
    tokens: tuple[DemoPerson, ...]


def checkout() -> Path:
    """The folder that holds the example application; DemoFailed where this is an installed console alone."""
    for folder in (Path(__file__).resolve().parents[2], Path.cwd()):
        if (folder / EXAMPLE).is_file():
            return folder
    raise DemoFailed(
        "The demo needs the example application, which is in the repository and not in the installed package. "
        "Clone the repository and type there: make demo"
    )


@dataclass(slots=True, kw_only=True)
class DemoService:
    """The running service. Use as a context: leaving it stops everything, asking nothing."""

    url: str
    tokens_file: Path
    people: Sequence[DemoPerson]
    log: Path
    """What the service wrote; removed after a good end."""
    bank: str = ""
    """Where the example's bank listens; empty for another demo's."""
    process: subprocess.Popen[str] | None = field(repr=False)
    """None where it is another demo's, joined and left as it was."""

    @classmethod
    def start(
        cls,
        *,
        data: Path | None,
        assignments: Sequence[str] = (),
        waiting: Callable[[float], None] = lambda _seconds: None,
    ) -> Self:
        """Start it and wait until it is ready, or join the one that runs there; DemoFailed.

        `waiting` hears how many seconds it has taken.
        """
        root = checkout()
        words = [sys.executable, "-m", "jobservice", "dev", "--until-stdin-closes"]
        words += ["--data", str(data)] if data is not None else []
        words += [word for assignment in assignments for word in ("--set", assignment)]
        descriptor, name = tempfile.mkstemp(prefix="jobconsole-demo-", suffix=".log")
        with os.fdopen(descriptor, "w", encoding="utf-8") as writing:
            process = subprocess.Popen(  # noqa: S603  # our own program
                words,
                cwd=root,
                env=_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=writing,
                text=True,
                start_new_session=True,  # ctrl+c is the console's; this process ends the service in order
            )
        log = Path(name)
        try:
            ready = _wait_ready(process, waiting)
            if ready is None:
                raise DemoFailed(f"The service did not start: {_last_words(log)}\nIts log: {log}")
            file = Path(ready["tokens_file"])
            tokens = _read_tokens(file)
            joined = ready["event"] == "running"
            if joined:
                _stop(process)
                log.unlink(missing_ok=True)
            return cls(
                url=tokens.url,
                tokens_file=file,
                people=tokens.tokens,
                log=log,
                bank=ready.get("bank_url", ""),
                process=None if joined else process,
            )
        except BaseException:  # however the start ends, ctrl+c too, no service is left behind
            _stop(process)
            raise

    def person(self, wanted: str) -> DemoPerson:
        """The made-up person of that id; DemoFailed, naming those there are."""
        for person in self.people:
            if person.person == wanted:
                return person
        known = ", ".join(f"{person.person} ({person.role})" for person in self.people)
        raise DemoFailed(f"There is no demo person {wanted}. There are: {known}.")

    def stop(self) -> None:
        """Stop everything and wait for it; DemoFailed, naming the log, where it does not end well. Not a joined one."""
        if self.process is None:
            return
        code = _stop(self.process)
        if code != 0:
            raise DemoFailed(f"The service ended with {code}: {_last_words(self.log)}\nIts log: {self.log}")
        self.log.unlink(missing_ok=True)

    @property
    def data(self) -> Path:
        """The folder that keeps the demo's content."""
        return self.tokens_file.parent.parent


def temporary_folder() -> Path:
    """A fresh folder for one walk. As root it can be passed, not read, by the user that PostgreSQL runs as."""
    base = tempfile.gettempdir()
    folder = Path(tempfile.mkdtemp(prefix="jobconsole-", dir=base if " " not in base else "/tmp"))  # noqa: S108  # mkdtemp
    if os.geteuid() == 0:
        folder.chmod(0o711)
    return folder


def _environment() -> Mapping[str, str]:
    own = ("JOBSERVICE_", "JOBCONSOLE_", "PG")
    return {name: value for name, value in os.environ.items() if not name.startswith(own)}


def _wait_ready(process: subprocess.Popen[str], waiting: Callable[[float], None]) -> dict[str, str] | None:
    """The members of the line that says it is ready, or that another runs there; None where it ended or took too long."""
    lines: queue.Queue[str | None] = queue.Queue()
    assert process.stdout is not None  # noqa: S101  # asked for when it was started
    threading.Thread(target=_read, args=(process.stdout, lines), name="demo-service", daemon=True).start()
    began = time.monotonic()
    while (taken := time.monotonic() - began) < START_SECONDS:
        waiting(taken)
        try:
            text = lines.get(timeout=0.25)
        except queue.Empty:
            continue
        if text is None:
            process.wait(STOP_SECONDS)
            return None
        said = _said(text)
        if said.get("event") in ("ready", "running") and "tokens_file" in said:
            return said
    return None


def _read(stream: IO[str], lines: queue.Queue[str | None]) -> None:
    """Hand on every line; reads until the end, so that the child never waits for a full pipe."""
    with stream:
        for text in stream:
            lines.put(text)
    lines.put(None)


def _said(text: str) -> dict[str, str]:
    try:
        said = json.loads(text)
    except ValueError:
        return {}
    return {str(name): str(value) for name, value in said.items()} if isinstance(said, dict) else {}


def _read_tokens(file: Path) -> _TokensFile:
    try:
        return _TokensFile.model_validate_json(file.read_bytes())
    except (OSError, ValidationError) as error:
        raise DemoFailed(
            f"The tokens of the demo people cannot be read from {file} ({type(error).__name__})."
        ) from None


def _stop(process: subprocess.Popen[str]) -> int:
    """End it as a person would, and kill it only past a deadline; its exit code."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    if process.stdin is not None:
        process.stdin.close()
    try:
        return process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def _last_words(log: Path) -> str:
    """The sentences with which the service refused to start, else its last line."""
    try:
        lines = [text.strip() for text in log.read_text("utf-8", errors="replace").splitlines() if text.strip()]
    except OSError:
        return "it said nothing."
    sentences = [text.removeprefix("jobservice: ") for text in lines if text.startswith("jobservice: ")]
    return " ".join(sentences) or (lines[-1][:500] if lines else "it said nothing.")
