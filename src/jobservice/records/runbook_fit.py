"""Owns whether the runbooks serve: each of a schedule that there is, by an interface that does it, and three of each job
(requirement provide-operational-recovery-procedures). Reads no file."""

from __future__ import annotations

from jobcontract.operating import Procedure
from jobcontract.states import ScheduleType
from jobservice.records.index import Index
from jobservice.records.jobs import JobRecord
from jobservice.records.kind import Written
from jobservice.records.runbooks import RunbookRecord
from jobservice.rules.runbooks import RunbookRule, unfit
from jobservice.rules.schedules import Confirmed

_UNFIT = "runbook-unfit"


def runbooks(index: Index) -> dict[str, dict[Procedure, RunbookRule]]:
    """Every runbook that can serve, by schedule and procedure: inspect, replay, disable."""
    stated: dict[tuple[str, Procedure], str] = {}
    found: dict[str, dict[Procedure, RunbookRule]] = {}
    for record, content in index.of("runbook", RunbookRecord):
        place = (content.schedule.id, content.procedure)
        if stated.setdefault(place, record.id) != record.id:
            sentence = (
                f"`procedure`: {stated[place]} says how {place[0]} is to be {_done(content.procedure)} already; "
                "one runbook a procedure."
            )
            index.found(record, content.procedure_line, "runbook-twice", sentence)
        elif _fits(index, record, content):
            found.setdefault(content.schedule.id, {})[content.procedure] = _built(record, content)
    _missing(index, set(stated))
    return {
        schedule: {procedure: by[procedure] for procedure in Procedure if procedure in by}
        for schedule, by in found.items()
    }


def _missing(index: Index, stated: set[tuple[str, Procedure]]) -> None:
    """A job without the three. None is missing where it may stand in a record that could not be read."""
    if not index.all_read("runbook"):
        return
    for record, _ in index.of("job", JobRecord):
        lacking = [procedure for procedure in Procedure if (record.id, procedure) not in stated]
        if lacking:
            sentence = (
                f"No runbook says how {record.id} is to be {_or([_done(each) for each in lacking])}: whoever is on duty "
                f"would improvise. Add a record of kind runbook with `schedule: {record.id}` for each."
            )
            index.found(record, None, "runbook-missing", sentence)


def _fits(index: Index, record: Written, content: RunbookRecord) -> bool:
    before = len(index.findings)
    job = index.look_up(record, "job", content.schedule, "schedule")
    if content.may != content.interface.route.permission:
        sentence = f"`may`: {content.interface.route.name} asks for {content.interface.route.permission}; say that."
        index.found(record, content.may_line, _UNFIT, sentence)
    read = None if job is None else job.content
    if isinstance(read, JobRecord):
        manual, money = read.type is ScheduleType.MANUAL, isinstance(read.selection, Confirmed)
        why = unfit(content.procedure, content.interface, manual=manual, money=money)
        if why is not None:
            index.found(record, content.interface_line, _UNFIT, f"`interface.route`: {why}.")
    return job is not None and len(index.findings) == before


def _built(record: Written, content: RunbookRecord) -> RunbookRule:
    return RunbookRule(
        id=record.id,
        schedule=content.schedule.id,
        procedure=content.procedure,
        title=content.title,
        interface=content.interface,
        may=content.may,
        steps=content.steps,
        claimed=content.claimed,
    )


def _done(procedure: Procedure) -> str:
    return {
        Procedure.INSPECT: "inspected",
        Procedure.REPLAY: "replayed",
        Procedure.DISABLE: "disabled",
    }[procedure]


def _or(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
