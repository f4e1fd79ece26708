"""Owns the background jobs of a fresh demo: some that end well, some that fail in each way, one that takes its time, one that
was cancelled; of customers and of nobody. They are submitted for real, and run when a Worker is there."""

from __future__ import annotations

from collections.abc import Mapping

from examples.payments.archives import ARCHIVE
from examples.payments.exports import EXPORT, FULL_STORE
from examples.payments.workspaces import ACTIVATE
from jobservice.application import NewJob

SCHOOL, LIBRARY, MARKET = "highfield-school", "otley-library", "kirkgate-market"
MUSEUM = "castle-museum"


def _activation(customer: str, workspace: str, licence: str, seats: int) -> NewJob:
    return NewJob(
        kind=ACTIVATE,
        submission_identity=f"demo/activate/{workspace}",
        inputs={"licence": licence, "seats": seats},
        subject=f"Workspace {workspace}",
        customer=customer,
        workspace=workspace,
    )


def _export(month: str, form: str, store: str, customer: str | None = None) -> NewJob:
    return NewJob(
        kind=EXPORT,
        submission_identity=f"demo/export/{month}/{form}/{store}",
        inputs={"month": month, "format": form, "store": store},
        subject=f"Export of {month} for the {store}",
        customer=customer,
    )


def _archive(statements: int, subject: str, customer: str | None = None, *, cancelled: str | None = None) -> NewJob:
    return NewJob(
        kind=ARCHIVE,
        submission_identity=f"demo/archive/{subject.lower().replace(' ', '-')}",
        inputs={"statements": statements},
        subject=subject,
        customer=customer,
        cancelled=cancelled,
    )


SEEDED: Mapping[str, tuple[NewJob, ...]] = {
    "leeds": (
        _activation(SCHOOL, "highfield/accounts", "professional", 25),
        _activation(LIBRARY, "otley/main", "standard", 5),
        _activation(MARKET, "kirkgate/stalls", "complete", 120),
        _activation(SCHOOL, "highfield/admin", "standard", 2),
        _activation(LIBRARY, "otley/reading-room", "premium", 10),
        _export("2010-12", "csv", "records-office", SCHOOL),
        _export("2020-06", "csv", "auditors"),
        _export("2013-01", "csv", "auditors", LIBRARY),
        _export("2011-06", "fixed", "auditors", SCHOOL),
        _export("2012-11", "csv", FULL_STORE),
        _archive(20, "Statements of the library", LIBRARY),
        _archive(1_200, "Statements of the school, twice", SCHOOL, cancelled="It was ordered twice."),
        _archive(6_000, "Statements of all suppliers"),
    ),
    "york": (
        _activation(MUSEUM, "castle/tickets", "standard", 8),
        _export("2011-06", "csv", "auditors"),
        _export("2012-11", "fixed", "records-office", MUSEUM),
    ),
}
"""By tenant. What fails: a name that nobody may have, a licence that is none, a month that was not published, a format that
breaks, a store that never has room."""
