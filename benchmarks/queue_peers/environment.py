"""Owns the peers' own environments and running their programs; nothing of a peer is installed beside us."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
UV = Path(sys.executable).parent / "uv"
RUN_SECONDS = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A queue to stand beside: its name, its program with arguments, and the Python and pins that it needs."""

    name: str
    program: str
    arguments: tuple[str, ...] = ()
    python: str = "3.11"
    pins: str = "peers.txt"


PEERS = (
    Peer(name="procrastinate", program="procrastinate_peer.py"),
    Peer(name="pgqueuer, psycopg", program="pgqueuer_peer.py", arguments=("psycopg",)),
    Peer(name="pgqueuer, asyncpg", program="pgqueuer_peer.py", arguments=("asyncpg",)),
    Peer(name="dbos, no step", program="dbos_peer.py", arguments=("nothing",)),
    Peer(name="dbos, one step", program="dbos_peer.py", arguments=("with-a-step",)),
    Peer(name="oban", program="oban_peer.py", python="3.12", pins="oban.txt"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerRun:
    """What a peer did: jobs a second and its settings; or why it did nothing."""

    rate: float | None
    words: str


def python_of(peer: Peer, folder: Path) -> Path | str:
    """The Python of a peer's environment, made below `folder` where it is not there; why not, where it cannot be."""
    environment = folder / f"peers-{peer.python}"
    python = environment / "bin" / "python"
    if python.exists():
        return python
    found = _working(peer.python)
    if found is None:
        return f"no working Python {peer.python} here"
    pins = str(HERE / peer.pins)
    for step in (
        (UV, "venv", "--quiet", "--python", found, environment),
        (UV, "pip", "install", "--quiet", "--python", python, "--require-hashes", "-r", pins),
    ):
        made = subprocess.run([str(word) for word in step], capture_output=True, text=True, check=False)
        if made.returncode:
            shutil.rmtree(environment, ignore_errors=True)
            return f"could not be installed: {(made.stderr.strip().splitlines() or ['no reason given'])[-1][:200]}"
    return python


def _working(version: str) -> str | None:
    """A Python of that version that starts: the one on the path, or one that pyenv has (whose own may not be switched on)."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    own = (str(each) for each in sorted(pyenv.glob(f"{version}.*/bin/python{version}")))
    for python in (shutil.which(f"python{version}"), *own):
        if python is not None and not subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode:
            return python
    return None


def run(peer: Peer, folder: Path, url: str, jobs: int) -> PeerRun:
    """Run the peer's program on an empty database."""
    python = python_of(peer, folder)
    if isinstance(python, str):
        return PeerRun(rate=None, words=python)
    program = [str(python), str(HERE / peer.program), url, str(jobs), *peer.arguments]
    try:
        ran = subprocess.run(program, capture_output=True, text=True, timeout=RUN_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return PeerRun(rate=None, words=f"did not end within {RUN_SECONDS} s")
    answers = [line for line in ran.stdout.splitlines() if line.startswith("{")]
    if ran.returncode or not answers:
        return PeerRun(rate=None, words=f"failed: {(ran.stderr.strip().splitlines() or ['no reason given'])[-1][:200]}")
    answer = json.loads(answers[-1])
    return PeerRun(rate=answer["jobs"] / answer["seconds"], words=answer["settings"])
