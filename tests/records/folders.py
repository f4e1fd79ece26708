"""Owns how tests change a copy of the good records."""

from __future__ import annotations

from pathlib import Path

from jobcontract.operating import Procedure


def drop_job(folder: Path, job: str) -> None:
    """Take a job out of a copy of the good set, with its runbooks."""
    (folder / "jobs" / f"{job}.yaml").unlink()
    for procedure in Procedure:
        (folder / "runbooks" / f"{job}-{procedure}.yaml").unlink()
