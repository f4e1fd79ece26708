"""Owns which background jobs of the fake service a filter finds. The language is the contract's (`jobcontract.job_filters`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.job_filters import ME, NOT_GIVEN, FilterError, JobFilter, JobIs, judge_names, parse
from jobcontract.job_states import JobResolution, JobStatus
from jobcontract.jobs import JobSummary

Matches = Callable[[JobSummary], bool]
_RESOLVED: Mapping[JobIs, JobResolution] = {
    JobIs.RETRIED: JobResolution.RETRIED,
    JobIs.ACKNOWLEDGED: JobResolution.ACKNOWLEDGED,
    JobIs.RESOLVED: JobResolution.RESOLVED,
}


def matching(
    text: str, now: datetime, *, tenant: str, person: str, kinds: Collection[str] | None, sources: Collection[str]
) -> Matches:
    """What a filter finds; Refusal FILTER_INVALID with `at` and `length`."""
    try:
        read = parse(text)
        judge_names(read, tenant=tenant, kinds=kinds, sources=sources)
    except FilterError as error:
        raise Refusal(ErrorCode.FILTER_INVALID, str(error), at=error.at, length=error.length) from None
    tests = [
        *_fields(read, person),
        *(_named(word) for word in read.words),
        *_ages(read, now),
    ]
    return lambda job: all(test(job) for test in tests)


def _fields(read: JobFilter, person: str) -> list[Matches]:
    found: list[Matches] = []
    for field, texts in _TEXTS.items():
        values = read.values(field)
        if values is not None:
            wanted = {person if (field, each) == ("requester", ME) else each for each in values}
            found.append(_any_of({each.lower() for each in wanted} if field == "kind" else wanted, texts))
    errors = read.values("error")
    if errors is not None:
        parts = [each.casefold() for each in errors]
        found.append(lambda job: any(part in (job.failure_summary or "").casefold() for part in parts))
    states = read.values("is")
    if states is not None:
        found.append(lambda job: any(_is(job, JobIs(state)) for state in states))
    return found


def _any_of(wanted: set[str], texts: Callable[[JobSummary], set[str]]) -> Matches:
    return lambda job: not wanted.isdisjoint(texts(job))


def _ages(read: JobFilter, now: datetime) -> list[Matches]:
    older, younger = read.older, read.younger
    found: list[Matches] = []
    if older is not None:
        found.append(lambda job: job.requested_at < now - older)
    if younger is not None:
        found.append(lambda job: job.requested_at > now - younger)
    return found


def _named(word: str) -> Matches:
    """Whole ids, submission identities and failure references."""
    return lambda job: word in (job.id, job.submission_identity, job.failure_reference)


def _is(job: JobSummary, state: JobIs) -> bool:
    if state is JobIs.CANCELLING:
        return job.cancel_asked_at is not None and not job.status.final
    if state is JobIs.UNRESOLVED:
        return job.status is JobStatus.FAILED and job.resolution is None
    return job.resolution is _RESOLVED[state]


_TEXTS: Mapping[str, Callable[[JobSummary], set[str]]] = {
    "status": lambda job: {job.status.value},
    "kind": lambda job: {job.kind.lower()},
    "source": lambda job: {job.source},
    "requester": lambda job: {NOT_GIVEN if job.requester is None else job.requester.id},
    "scope": lambda job: {each for each in (job.customer, job.workspace) if each is not None},
}
