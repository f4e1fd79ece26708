"""Owns one PostgreSQL server in a folder: making it, starting it, stopping it, its address. Unix only.

Takes no lock: whoever calls holds one (`embedded.py`) or is the only one who knows the folder. Never loosens the
permissions of a folder that it did not make, and never runs the server as root (PostgreSQL refuses that).
"""

from __future__ import annotations

import os
import pwd
import shlex
import shutil
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import psutil
import psycopg

from jobservice.settings import StartRefused

SUPERUSER = "postgres"
"""Role inside the server that makes databases and roles; nobody but the starting process uses it."""
START_SECONDS = 60.0
"""How long a server may take to answer, crash recovery included."""
SOCKET_PATH_MOST = 100
"""Longest socket path that every Unix takes (107 on Linux, 103 on macOS)."""
PORT = 5432
SOCKET_FILES = (f".s.PGSQL.{PORT}.lock", f".s.PGSQL.{PORT}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """A server's folder, the folder of its programs, and the system user (root only) that it runs as.

    `folder` gets `cluster` (the data) and `run` (the socket, 0700); where that path is too long for a socket, the socket
    gets a folder elsewhere, which the file `socket-folder` names. `options` are server settings by name.
    """

    folder: Path
    programs: Path
    user: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def pgdata(self) -> Path:
        """Where PostgreSQL keeps its files."""
        return self.folder / "cluster"

    @property
    def log(self) -> Path:
        """The server's own log."""
        return self.pgdata / "server.log"

    def url(self, role: str, database: str) -> str:
        """A libpq URL of the running server; StartRefused where it is not running."""
        lines = self._pid_lines()
        if len(lines) < 5:
            raise StartRefused(f"PostgreSQL in {self.folder} is not running. Start it first.")
        return f"postgresql://{role}@/{database}?host={quote(lines[4], safe='')}&port={PORT}"

    def start(self, *, seconds: float = START_SECONDS, given_up: Callable[[], bool] = lambda: False) -> None:
        """Make the cluster where there is none, start the server where none runs, and wait until it answers.

        Returns early once `given_up`: then the server may run or not. StartRefused after `seconds`, or where PostgreSQL
        itself refuses, with its reason and where its log is.
        """
        if not (self.pgdata / "PG_VERSION").exists():
            self._initialise()
        deadline = time.monotonic() + seconds
        launched = False
        while time.monotonic() < deadline:
            if given_up() or self.answers():
                return
            if not launched and self._nobody_serves():
                self._launch(deadline - time.monotonic())
                launched = True
                continue
            time.sleep(0.1)
        raise StartRefused(
            f"PostgreSQL did not answer within {seconds:g} s; after a crash it may still be recovering. "
            f"Look at the end of {self.log}, then start again."
        )

    def restart(self, *, given_up: Callable[[], bool]) -> None:
        """Start the server again after it died, at its old address; like `start`, but never makes new files.

        StartRefused also where its files have gone: an empty server in their place would hide the loss.
        """
        if not (self.pgdata / "PG_VERSION").exists():
            raise StartRefused(f"PostgreSQL's files in {self.pgdata} have gone. Stop, and put them back.")
        self.start(given_up=given_up)

    def died(self) -> bool:
        """Whether no server runs here; one that runs but does not answer (it recovers, it is full) has not died."""
        return self._server() is None and not self.answers()

    def stop(self) -> None:
        """Stop the server, at once if it does not end within half a minute; nothing where none runs."""
        self._stop_server()
        self.tidy()

    def tidy(self) -> None:
        """Remove the socket's folder elsewhere, and what a killed server left in it; nothing while a server runs."""
        noted = _read(self._socket_note)
        if not noted or self._server() is not None:
            return
        if self._is_ours(Path(noted)):
            for name in SOCKET_FILES:
                (Path(noted) / name).unlink(missing_ok=True)
            with suppress(OSError):  # something else lies in it: not ours to remove
                Path(noted).rmdir()
        self._socket_note.unlink()

    def _stop_server(self) -> None:
        if self._server() is None:
            return
        for mode in ("fast", "immediate"):
            if self._run("pg_ctl", "-D", str(self.pgdata), "-w", "-t", "30", "-m", mode, "stop").returncode == 0:
                return
        raise StartRefused(f"PostgreSQL in {self.folder} does not stop. Look at the end of {self.log}.")

    def answers(self) -> bool:
        """Whether a connection to the running server succeeds."""
        if len(self._pid_lines()) < 5:
            return False
        try:
            psycopg.connect(self.url(SUPERUSER, "postgres"), connect_timeout=5).close()
        except (psycopg.OperationalError, StartRefused):  # refused: it ended between the two looks
            return False
        return True

    def _initialise(self) -> None:
        """A crash on the way leaves `cluster.new`, which nothing else uses: the next start begins afresh."""
        fresh = self.folder / "cluster.new"
        if fresh.exists():
            shutil.rmtree(fresh)
        self._make_private(fresh)
        made = self._run(
            "initdb",
            *("-D", str(fresh), "-U", SUPERUSER, "--encoding=UTF8", "--locale=C"),
            *("--auth-local=trust", "--auth-host=reject", "--no-instructions"),
            *(("--no-sync",) if self.options.get("fsync") == "off" else ()),
        )
        if made.returncode != 0:
            raise StartRefused(f"PostgreSQL could not make its files in {self.folder}: {_last_line(made.stdout)}")
        fresh.rename(self.pgdata)

    def _launch(self, seconds: float) -> None:
        settings = {
            "listen_addresses": "",
            "port": str(PORT),
            "unix_socket_directories": str(self._socket_folder()),
            "timezone": "UTC",
            **self.options,
        }
        options = " ".join(f"-c {shlex.quote(f'{name}={value}')}" for name, value in settings.items())
        wait = str(max(1, int(seconds)))
        logged = len(_read(self.log))
        started = self._run(
            "pg_ctl", "-D", str(self.pgdata), "-l", str(self.log), "-w", "-t", wait, "-o", options, "start"
        )
        if started.returncode != 0 and self._server() is None:
            said = _read(self.log)[logged:]
            if not said.strip():  # it never came to its log: pg_ctl, or the shell it uses, says why
                raise StartRefused(f"PostgreSQL in {self.folder} did not start: {' '.join(started.stdout.split())}")
            raise StartRefused(
                f"PostgreSQL in {self.folder} did not start: {_last_line(said)} The whole log: {self.log}."
            )

    def _socket_folder(self) -> Path:
        folder = self.folder / "run"
        if len(str(folder / f".s.PGSQL.{PORT}").encode()) > SOCKET_PATH_MOST:
            folder = self._socket_folder_elsewhere()
        self._make_private(folder)
        return folder

    @property
    def _socket_note(self) -> Path:
        return self.folder / "socket-folder"

    def _socket_folder_elsewhere(self) -> Path:
        """The folder that the last server used, so that addresses given out stay right; else a new one."""
        noted = _read(self._socket_note)
        if noted and self._is_ours(Path(noted)):
            return Path(noted)
        folder = Path(tempfile.mkdtemp(prefix="jobservice-"))
        self._socket_note.write_text(str(folder), "utf-8")
        return folder

    def _is_ours(self, folder: Path) -> bool:
        """Whether it is a folder, no link, of this user or of the server's; made again where it has gone."""
        try:
            folder.mkdir(mode=0o700)
        except FileExistsError:
            pass
        except OSError:
            return False
        owners = {os.geteuid(), *(() if self.user is None else (pwd.getpwnam(self.user).pw_uid,))}
        found = folder.lstat()
        return stat.S_ISDIR(found.st_mode) and found.st_uid in owners

    def _make_private(self, folder: Path) -> None:
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)
        if self.user is not None:
            entry = pwd.getpwnam(self.user)
            os.chown(folder, entry.pw_uid, entry.pw_gid)

    def _pid_lines(self) -> Sequence[str]:
        return _read(self.pgdata / "postmaster.pid").splitlines()

    def _server(self) -> psutil.Process | None:
        """The running postmaster of this folder, or None."""
        lines = self._pid_lines()
        try:
            process = psutil.Process(int(lines[0])) if lines else None
            if process is not None and _serves(process, self.pgdata):
                return process
        except (psutil.Error, ValueError):
            return None
        return None

    def _nobody_serves(self) -> bool:
        """Whether a server may be started: no process of PostgreSQL works in this folder.

        After a kill -9 the dead postmaster's id may linger as a zombie, for which PostgreSQL would refuse to start, and
        its children may still be ending, beside which it must not start: only when all are gone is the file stale.
        """
        if any(_serves(process, self.pgdata) for process in psutil.process_iter()):
            return False
        lines = self._pid_lines()
        (self.pgdata / "postmaster.pid").unlink(missing_ok=True)
        if len(lines) >= 5:
            for name in SOCKET_FILES:  # the lock names the same dead process
                (Path(lines[4]) / name).unlink(missing_ok=True)
        return True

    def _run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run a program of PostgreSQL with a bare environment: no PG* variable of the person reaches it."""
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said:
            # A file, not a pipe: the server outlives pg_ctl and would keep a pipe open.
            done = subprocess.run(  # noqa: S603  # our own program, arguments of our own
                (str(self.programs / program), *arguments),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                check=False,
                cwd=self.folder,
                env={"PATH": "/usr/bin:/bin", "LC_ALL": "C", "TZ": "UTC", "HOME": str(self.folder)},
                user=self.user,
                group=None if self.user is None else pwd.getpwnam(self.user).pw_gid,
                extra_groups=None if self.user is None else (),
            )
            said.seek(0)
            return subprocess.CompletedProcess(done.args, done.returncode, said.read(), "")


def _serves(process: psutil.Process, pgdata: Path) -> bool:
    """Whether `process` is a living process of the server in `pgdata` (each works with that as its directory)."""
    try:
        return (
            process.name().startswith("postgres")
            and process.status() != psutil.STATUS_ZOMBIE
            and Path(process.cwd()) == pgdata.resolve()
        )
    except psutil.Error:
        return False


def _read(file: Path) -> str:
    try:
        return file.read_text("utf-8", errors="replace")
    except FileNotFoundError:
        return ""


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason given."
