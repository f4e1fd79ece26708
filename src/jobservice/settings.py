"""Owns what a service process is told by its environment, and the refusal to start. Never holds a setting record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

DATABASE_URL = "JOBSERVICE_DATABASE_URL"
APPLICATION = "JOBSERVICE_APPLICATION"
KEYRING = "JOBSERVICE_KEYRING"
DEPLOYMENT = "JOBSERVICE_DEPLOYMENT"

PURPOSES: Mapping[str, str] = {
    DATABASE_URL: "the PostgreSQL of this process, under its own role, like postgresql://jobs_api@host/jobs",
    APPLICATION: "the application, like examples.payments:application",
    KEYRING: "the folder of key files, 0700",
    DEPLOYMENT: "the name of this place, like production",
}
"""Every variable of a service process, and what it says."""


class StartRefused(Exception):
    """A process that does not start, and why: one or more sentences for a person."""

    def __init__(self, *sentences: str) -> None:
        super().__init__("\n".join(sentences))
        self.sentences = sentences


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessSettings:
    """What an API or Worker process needs to start. `database_url` may hold a password: never log it."""

    database_url: str
    application: str
    keyring: Path
    deployment: str

    def __repr__(self) -> str:
        return f"ProcessSettings(application={self.application!r}, deployment={self.deployment!r})"

    @classmethod
    def read(cls, environment: Mapping[str, str]) -> ProcessSettings:
        """From the environment; StartRefused names every variable that is missing, with what it is for."""
        return cls(
            database_url=required(environment, *PURPOSES)[DATABASE_URL],
            application=environment[APPLICATION],
            keyring=Path(environment[KEYRING]).expanduser(),
            deployment=environment[DEPLOYMENT],
        )


def required(environment: Mapping[str, str], *names: str) -> Mapping[str, str]:
    """The values of `names`; StartRefused with one sentence for each that is missing or empty."""
    missing = [name for name in names if not environment.get(name)]
    if missing:
        raise StartRefused(*(f"{name} is not set: it names {PURPOSES[name]}." for name in missing))
    return {name: environment[name] for name in names}
