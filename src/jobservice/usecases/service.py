"""Owns the value that every use case starts from: the database, the records in force, the application, the place.

Built once by a roof and handed down; holds no state of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jobcontract.errors import ErrorCode, Refusal
from jobservice.application import Application
from jobservice.records import RecordSet
from jobservice.rules.claims import Denied
from jobservice.rules.keys import Keys
from jobservice.rules.queues import Queue
from jobservice.store.database import Database
from jobservice.usecases.job_sources import ForeignSource
from jobservice.usecases.job_views import ViewSources
from jobservice.usecases.scoring import Scorer

ACT_SECONDS = 5.0
"""Seconds that an application's function may take, with its item locked; then it is stopped and has failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """What a use case needs besides who acts and what they ask."""

    database: Database
    records: RecordSet
    application: Application
    deployment: str
    """`JOBSERVICE_DEPLOYMENT`: the name of the place, shown to people."""
    act_seconds: float = ACT_SECONDS
    keys: Keys | None = None
    """What opens the secrets of phones and signs confirmations; None in processes without the key ring."""
    job_views: ViewSources | None = None
    """Where other engines' jobs are read; None where nobody named a place."""

    async def foreign_sources(self) -> Sequence[ForeignSource]:
        """Other engines' jobs, to be listed beside our own."""
        return () if self.job_views is None else await self.job_views.current()

    @property
    def scorer(self) -> Scorer:
        """The rules in force with the application's functions."""
        return Scorer.of(self.records, self.application)

    def queue(self, identifier: str) -> Queue:
        """The queue of that id; Refusal NOT_FOUND, naming those there are."""
        return find_queue(self.records.queues, identifier)


def find_queue(queues: Mapping[str, Queue], identifier: str) -> Queue:
    """The queue of that id; Refusal NOT_FOUND, naming those there are."""
    found = queues.get(identifier)
    if found is None:
        known = ", ".join(sorted(queues)) or "none"
        raise Refusal(ErrorCode.NOT_FOUND, f"There is no queue {identifier[:80]!r}. Queues: {known}.")
    return found


def refuse(denied: Denied) -> Refusal:
    """The refusal that carries a rule's denial over the wire."""
    return Refusal(denied.kind, denied.sentence)
