"""Owns what a service process is told by its environment, and the refusal to start. Never holds a setting record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jobcontract.ids import is_slug
from jobcontract.job_states import HERE

DATABASE_URL = "JOBSERVICE_DATABASE_URL"
APPLICATION = "JOBSERVICE_APPLICATION"
KEYRING = "JOBSERVICE_KEYRING"
PUBLIC_KEYS = "JOBSERVICE_PUBLIC_KEYS"
DEPLOYMENT = "JOBSERVICE_DEPLOYMENT"
DELIVERY_URL = "JOBSERVICE_DELIVERY_URL"
WEBHOOK_URL = "JOBSERVICE_WEBHOOK_URL"
WEBHOOK_SECRET = "JOBSERVICE_WEBHOOK_SECRET"  # noqa: S105  # the name of a variable
WEBHOOK_ALLOW = "JOBSERVICE_WEBHOOK_ALLOW"
SEALS = "JOBSERVICE_SEALS"
JOB_VIEWS = "JOBSERVICE_JOB_VIEWS"

PURPOSES: Mapping[str, str] = {
    DATABASE_URL: "the PostgreSQL of this process, under its own role, like postgresql://jobs_api@host/jobs",
    APPLICATION: "the application, like examples.payments:application",
    KEYRING: "the folder of key files, 0700",
    PUBLIC_KEYS: "the file of public keys that jobservice keyring public writes",
    DEPLOYMENT: "the name of this place, like production",
    DELIVERY_URL: "how people are told outside the console, like smtp://user:password@host/?from=jobs@example.org",
    WEBHOOK_URL: "where alarms are told, like https://hooks.example.org/jobs",
    WEBHOOK_SECRET: "the file of the secrets that sign it, 0600, one a line",
    WEBHOOK_ALLOW: "hosts and networks that a webhook may reach although they are not public, with commas between",
    JOB_VIEWS: "where other engines' jobs are read, like shop=postgresql://jobs_views@host/shop, with blanks between",
    SEALS: "the folder outside the database for the heads of the audit trail, 0700",
}
"""Every variable of a service process, and what it says."""


class StartRefused(Exception):
    """A process that does not start, and why: one or more sentences for a person."""

    def __init__(self, *sentences: str) -> None:
        super().__init__("\n".join(sentences))
        self.sentences = sentences


class AlreadyRuns(StartRefused):
    """Another process owns that folder, and serves what is in it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessSettings:
    """What an API or Worker process needs to start. `database_url` may hold a password: never log it."""

    database_url: str
    application: str
    deployment: str
    keyring: Path | None = None
    """The API's alone: the Worker never opens it (MONEY.md 17)."""
    public_keys: Path | None = None
    """The Worker's alone: what it believes confirmations by (MONEY.md 19)."""
    delivery_url: str | None = None
    """The Worker's alone: how notices are delivered. May hold a password: never log it."""
    webhook_url: str | None = None
    """The Worker's alone: where alarms are told. May hold a secret of the receiver's: never log it."""
    webhook_secret: Path | None = None
    webhook_allow: str = ""
    job_views: tuple[tuple[str, str], ...] = ()
    """The API's alone: names and addresses of databases with monitoring views. May hold passwords: never log them."""
    seals: Path | None = None
    """The Worker's alone: where heads of the trail are written (MONEY.md 31)."""

    def __repr__(self) -> str:
        return f"ProcessSettings(application={self.application!r}, deployment={self.deployment!r})"

    @classmethod
    def read(cls, environment: Mapping[str, str], *, keyring: bool) -> ProcessSettings:
        """From the environment, with the key ring where this process opens it; StartRefused names all that is missing."""
        names = (DATABASE_URL, APPLICATION, DEPLOYMENT, *((KEYRING,) if keyring else ()))
        values = required(environment, *names)
        secret = environment.get(WEBHOOK_SECRET)
        public_keys = None if keyring else environment.get(PUBLIC_KEYS) or None
        seals = None if keyring else environment.get(SEALS) or None
        return cls(
            database_url=values[DATABASE_URL],
            application=values[APPLICATION],
            deployment=values[DEPLOYMENT],
            keyring=Path(values[KEYRING]).expanduser() if keyring else None,
            public_keys=None if public_keys is None else Path(public_keys).expanduser(),
            delivery_url=None if keyring else environment.get(DELIVERY_URL) or None,
            webhook_url=None if keyring else environment.get(WEBHOOK_URL) or None,
            webhook_secret=None if keyring or not secret else Path(secret).expanduser(),
            webhook_allow="" if keyring else environment.get(WEBHOOK_ALLOW) or "",
            seals=None if seals is None else Path(seals).expanduser(),
            job_views=_named_addresses(environment.get(JOB_VIEWS) or "") if keyring else (),
        )


def _named_addresses(text: str) -> tuple[tuple[str, str], ...]:
    """`name=address` between blanks; StartRefused where one is not, without showing an address."""
    found: list[tuple[str, str]] = []
    for place, word in enumerate(text.split(), start=1):
        name, _, address = word.partition("=")
        if not is_slug(name) or not address.startswith(("postgresql://", "postgres://")):
            raise StartRefused(f"{JOB_VIEWS}: entry {place} is not like shop=postgresql://jobs_views@host/shop.")
        if name == HERE or name in {known for known, _ in found}:
            raise StartRefused(f"{JOB_VIEWS}: {name} is taken; each source has a name of its own.")
        found.append((name, address))
    return tuple(found)


def required(environment: Mapping[str, str], *names: str) -> Mapping[str, str]:
    """The values of `names`; StartRefused with one sentence for each that is missing or empty."""
    missing = [name for name in names if not environment.get(name)]
    if missing:
        raise StartRefused(*(f"{name} is not set: {PURPOSES[name]}." for name in missing))
    return {name: environment[name] for name in names}
