"""Owns an application's own processes in `jobservice dev`, like the example's bank: where each listens, how it starts."""

from __future__ import annotations

import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jobservice.application import Companion
from jobservice.bootstrap.children import Child, child_environment

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """The processes, the addresses by their names, and the variables that tell the Worker of them."""

    children: tuple[Child, ...]
    addresses: Mapping[str, str]
    variables: Mapping[str, str]


def beside(companions: Sequence[Companion], data: Path) -> Beside:
    """Prepare each companion: a folder of its own below `data`, and a port that it keeps over its restarts."""
    children: list[Child] = []
    addresses: dict[str, str] = {}
    variables: dict[str, str] = {}
    for companion in companions:
        folder = data / companion.name
        folder.mkdir(mode=0o700, exist_ok=True)
        port = _free_port()
        words = [word.format(data=folder, port=port) for word in companion.arguments]
        children.append(
            Child(name=companion.name, arguments=words, environment=child_environment(), module=companion.module)
        )
        addresses[companion.name] = variables[companion.variable] = f"http://{HOST}:{port}"
    return Beside(children=tuple(children), addresses=addresses, variables=variables)


def _free_port() -> int:
    """A port that nobody listens on now. The kernel does not hand it out again at once, so it is there for the child."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port
