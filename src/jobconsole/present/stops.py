"""Owns how stops are written: what is held still, by whom, since when, why, and what lifting takes. Pure. The switch that
stops money has its own words (`money`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from jobconsole.present.columns import Column, Line, Piece, Tone
from jobconsole.present.times import age_short, both, short
from jobcontract.operating import StopScope

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, tzinfo

    from jobconsole.present.schedules import At
    from jobcontract.stops import Stop

SCOPES: Mapping[StopScope, str] = {
    StopScope.TENANT: "all work",
    StopScope.BULK_COMMAND: "command",
    StopScope.QUEUE: "queue",
    StopScope.JOB_KIND: "kind of job",
}
DOES: Mapping[StopScope, str] = {
    StopScope.QUEUE: "Nobody claims or acts in it, and no plan of it is made or confirmed. Items still come in.",
    StopScope.BULK_COMMAND: "No plan of it is made, confirmed or resumed, and plans that run begin no further item.",
    StopScope.JOB_KIND: "No step of a job of that kind begins any more; jobs are still submitted, and wait.",
    StopScope.TENANT: "No occurrence starts, no item is claimed or acted on, and all money is stopped with it.",
}
"""What a stop does, in a sentence."""
GOES_ON = "What is under way goes on to its end."
EMPTY = "Nothing is stopped. Work is stopped at a queue, at a plan, or from here all of it."


def stop_words(stop: Stop, zone: tzinfo, now: datetime) -> str:
    """`Supplier payouts stopped by o.lind 12:04: drill`, in the words of the stop of money."""
    return f"{stop.title} stopped by {stop.by.id} {short(stop.at, zone, now)}: {stop.reason}"


def stops_title(stops: Sequence[Stop] | None) -> Line:
    """`Stops · 2 in force`."""
    title = Piece("Stops", Tone.STRONG)
    if stops is None:
        return (title,)
    told = Piece(f"{len(stops):,} in force", Tone.BAD) if stops else Piece("none in force", Tone.GOOD)
    return (title, Piece(" · ", Tone.QUIET), told)


def stops_columns() -> tuple[Column, ...]:
    """The columns of the stops in force."""
    return (
        Column(id="scope", label="stopped", least=10, whole=True),
        Column(id="title", label="what", least=10, uncut=True, most=32, yields=4),
        Column(id="since", label="since", least=6, right=True, uncut=True, most=9, yields=2),
        Column(id="by", label="by", least=6, uncut=True, most=18, yields=3),
        Column(id="reason", label="why", least=10, yields=1),
    )


def stops_cells(stop: Stop, at: At) -> Mapping[str, Piece]:
    """The cells of one stop's row by column id."""
    return {
        "scope": Piece(f"■ {SCOPES[stop.scope]}", Tone.BAD),
        "title": Piece(stop.title, Tone.STRONG),
        "since": Piece(age_short(stop.at, at.now)),
        "by": Piece(stop.by.id),
        "reason": Piece(stop.reason),
    }


def stop_lines(stop: Stop, at: At) -> list[Line]:
    """Everything of one stop: why in full, what it holds still, what lifting takes."""
    lifts = "a code of another person in finance" if stop.lifted_by_code else "a reason"
    money = " Money stays stopped until it is started again, with a code." if stop.scope is StopScope.TENANT else ""
    return [
        (Piece(f"■ {stop.title} · {stop.name}", Tone.BAD), Piece(f" · {stop.by.name} ({stop.by.id}): {stop.reason}")),
        (Piece(f"since {both(stop.at, at.zone)} · lifting it takes {lifts}.{money}", Tone.QUIET),),
        (Piece(DOES[stop.scope]),),
    ]
