"""Owns the folder of a run of the tests: what each process keeps in it, its server, and what runs that were killed left behind.
Never touches the folder of a run that goes on.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

RUNS = Path(tempfile.gettempdir())
RUN_PREFIX = "jc-"


def freeze(folder: Path) -> None:
    """Keep the developer's machine out of this process: its configuration, zone and language."""
    home = folder / "home"
    home.mkdir(mode=0o700, exist_ok=True)
    for name in list(os.environ):
        if name.startswith(("JOBSERVICE_", "JOBCONSOLE_", "PG", "XDG_", "LC_")):
            del os.environ[name]
    os.environ.update(
        TZ="UTC",
        LANG="C.UTF-8",
        HOME=str(home),
        XDG_CONFIG_HOME=str(home / "config"),
        XDG_DATA_HOME=str(home / "share"),
        XDG_STATE_HOME=str(home / "state"),
        XDG_CACHE_HOME=str(home / "cache"),
        XDG_RUNTIME_DIR=str(home),
    )


def cluster_in(folder: Path, **more: str) -> Any:
    """A server in that folder, with `more` settings. Imported here: tests of the console run where the server's libraries
    are not installed."""
    from jobservice.cluster import Cluster
    from jobservice.embedded import NEWEST, server_user, wheel_programs

    return Cluster(
        folder=folder,
        programs=wheel_programs(NEWEST),
        user=server_user(),
        options={"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off", "max_connections": "400"}
        | more,
    )


def remove_run(folder: Path) -> None:
    """Stop the server of a run that is over, and remove its folder."""
    if (folder / "cluster").exists():
        cluster_in(folder).stop()
    shutil.rmtree(folder, ignore_errors=True)


def remove_dead_runs() -> None:
    """Stop what runs that were killed left behind: their owner's lock is free."""
    for alive in RUNS.glob(f"{RUN_PREFIX}*/alive"):
        try:
            lock = os.open(alive, os.O_RDWR | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            remove_run(alive.parent)
        except OSError:
            continue
        finally:
            os.close(lock)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """One test process at a time."""
    with (folder / "turn").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        yield
