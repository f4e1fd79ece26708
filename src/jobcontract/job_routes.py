"""Owns the routes of background jobs and of finding. `routes` lists them with all others.

A job's id is the rest of a path: those of other engines may hold what parts an address.
"""

from __future__ import annotations

from jobcontract.permissions import Permission
from jobcontract.route import Route


def _read(name: str, path: str) -> Route:
    return Route(name=name, method="GET", path=path, permission=Permission.JOB_READ)


def _act(name: str, path: str, permission: Permission) -> Route:
    return Route(name=name, method="POST", path=path, permission=permission, acts=True)


JOBS = _read("jobs", "/v1/jobs")
"""`filter`, `view` (unresolved, all), `source`, `cursor`, `limit`."""
JOB_COUNTS = _read("job-counts", "/v1/job-counts")
"""`filter`, `view`, `source`: fetched after the page."""
JOB_KINDS = Route(
    name="job-kinds",
    method="GET",
    path="/v1/job-kinds",
    permission=Permission.JOB_READ,
    instead=Permission.JOB_SUBMIT,
)
"""Who submits has to know what a kind takes."""
JOB = _read("job", "/v1/jobs/{job:path}")
"""`source`."""
JOB_EVENTS = _read("job-events", "/v1/jobs/{job:path}/events")
"""`source`, `cursor`, `limit`."""
SUBMIT_JOB = _act("submit-job", "/v1/jobs", Permission.JOB_SUBMIT)
CANCEL_JOB = _act("cancel-job", "/v1/jobs/{job:path}/cancel", Permission.JOB_CANCEL)
RETRY_JOB = _act("retry-job", "/v1/jobs/{job:path}/retry", Permission.JOB_RETRY)
RESOLVE_JOB = _act("resolve-job", "/v1/jobs/{job:path}/resolve", Permission.JOB_RESOLVE)
REVEAL_JOB = _act("reveal-job", "/v1/jobs/{job:path}/reveal", Permission.JOB_REVEAL)
FIND = Route(name="find", method="GET", path="/v1/find")
"""`text`. Each noun is looked up under its own permission."""

JOB_ROUTES: tuple[Route, ...] = (
    JOBS,
    JOB_COUNTS,
    JOB_KINDS,
    JOB,
    JOB_EVENTS,
    SUBMIT_JOB,
    CANCEL_JOB,
    RETRY_JOB,
    RESOLVE_JOB,
    REVEAL_JOB,
    FIND,
)
