"""Owns the facts of the machine and the run that every figure depends on."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version
from pathlib import Path

import psutil

LIBRARIES = ("textual", "pydantic", "fastapi", "uvicorn", "psycopg")


def facts(postgresql: str) -> tuple[str, ...]:
    """What to know before comparing with another run: one Markdown list item each."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = psutil.virtual_memory().total / 2**30
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    load = ", ".join(f"{load:.1f}" for load in os.getloadavg())
    return (
        f"- {cores} cores ({_processor()}), {memory:.0f} GiB; {platform.system()} {platform.release()}",
        f"- Python {platform.python_version()}, PostgreSQL {postgresql} (embedded, fsync on), {libraries}",
        f"- load average at the start {load}; middle of the rounds, in brackets the least and the most",
    )


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    except OSError:
        return platform.machine()
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, platform.machine())
