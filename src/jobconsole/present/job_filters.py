"""Owns what the console knows of the filter of background jobs: what is wrong with one, what could be typed next, and the
filter by which a view, or all that a view lists, is asked for. Pure; the service judges again.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import TYPE_CHECKING

from jobconsole.present.filters import Fault
from jobconsole.present.jobs import UNRESOLVED, VIEWS
from jobcontract.job_filters import ME, FilterError, JobIs, judge_names, parse
from jobcontract.job_states import JobStatus
from jobcontract.jobs import HERE
from jobcontract.queues import FilterField, Vocabulary

if TYPE_CHECKING:
    from jobcontract.jobs import JobKind, JobSource, JobSummary

SAID = f"is:{JobIs.UNRESOLVED}"


def fault_of(
    text: str, *, tenant: str, kinds: Collection[str] | None = None, sources: Collection[str] | None = None
) -> Fault | None:
    """What is wrong with a filter, as far as is known without the service; None where nothing is."""
    try:
        judge_names(parse(text), tenant=tenant, kinds=kinds, sources=sources)
    except FilterError as error:
        return Fault(sentence=error.sentence, at=error.at, length=error.length)
    return None


def asked_filter(shown: int, text: str) -> str:
    """The filter as it is sent for the view with that index: what the view itself means is left out where the text says it."""
    view = VIEWS[shown]
    return text if view.narrowed and _says(text, "status") else view.asked(text)


def frozen_filter(shown: int, text: str) -> str | None:
    """The filter that finds all that is listed, for a recovery; None where no filter says it: two conditions on `is`."""
    if shown != UNRESOLVED:
        return asked_filter(shown, text)
    if not _says(text, "is"):
        return " ".join(part for part in (SAID, text) if part)
    return text if parse(text).values("is") == (JobIs.UNRESOLVED.value,) else None


def _says(text: str, field: str) -> bool:
    try:
        return bool(parse(text).of(field))
    except FilterError:
        return False


def vocabulary(
    kinds: Iterable[JobKind], sources: Iterable[JobSource], rows: Iterable[JobSummary], *, tenant: str, now: datetime
) -> Vocabulary:
    """What a filter of jobs may name, with values out of the registered kinds, the sources, and what is listed."""
    listed = list(rows)
    known = list(dict.fromkeys([*(kind.id for kind in kinds), *(row.kind for row in listed)]))
    people = dict.fromkeys(row.requester.id for row in listed if row.requester is not None)
    scopes = dict.fromkeys(scope for row in listed for scope in (row.customer, row.workspace) if scope)
    fields = (
        ("status", "word", "where it stands", tuple(JobStatus)),
        ("kind", "word", "kind of job", tuple(known)),
        ("error", "text", "words of the failure", ()),
        ("age", "age", "since it was asked for", ()),
        ("requester", "word", "who asked for it", (ME, *people, "none")),
        ("scope", "text", "customer or workspace", tuple(scopes)),
        ("is", "word", "what became of it", tuple(JobIs)),
        ("source", "word", "which engine's", tuple(source.name for source in sources) or (HERE,)),
        ("tenant", "word", "always this one", (tenant,)),
    )
    return Vocabulary(
        queue="",
        fields=tuple(
            FilterField(name=name, type=kind, title=title, values=tuple(map(str, values)))
            for name, kind, title, values in fields
        ),
        currencies=(),
        as_of=now,
    )
