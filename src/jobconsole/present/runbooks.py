"""Owns how runbooks are written: the three procedures of a schedule, one of them in full, what was done before. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from jobconsole.present.columns import Column, Line, Piece, Tone
from jobconsole.present.schedules import At
from jobconsole.present.times import ago, short
from jobcontract.operating import Procedure

if TYPE_CHECKING:
    from jobcontract.runbooks import Runbook, Transcript

LABEL = 10
"""Cells of a label."""
SIGNS: Mapping[Procedure, str] = {Procedure.INSPECT: "○", Procedure.REPLAY: "↻", Procedure.DISABLE: "‖"}


def runbooks_columns() -> tuple[Column, ...]:
    """The columns of the procedures."""
    return (
        Column(id="procedure", label="procedure", least=9, whole=True),
        Column(id="title", label="what it does", least=12, yields=2),
        Column(id="who", label="who may", least=8, uncut=True, most=40, yields=1),
    )


def runbooks_cells(runbook: Runbook) -> Mapping[str, Piece]:
    """The cells of one procedure's row."""
    allowed = runbook.refused is None
    return {
        "procedure": Piece(f"{SIGNS[runbook.procedure]} {runbook.procedure}", Tone.STRONG if allowed else Tone.QUIET),
        "title": Piece(runbook.title, Tone.PLAIN if allowed else Tone.QUIET),
        "who": Piece(", ".join(runbook.roles) if allowed else f"not you: {', '.join(runbook.roles)}", Tone.QUIET),
    }


def runbook_lines(runbook: Runbook) -> list[Line]:
    """One procedure in full: its steps, its interface, who may, what becomes of what is claimed."""
    lines: list[Line] = []
    if runbook.refused is not None:
        lines.append((Piece(f"✗ {runbook.refused}", Tone.BAD),))
    lines += [
        _labelled("steps" if number == 1 else "", Piece(f"{number}. ", Tone.MINE), Piece(step))
        for number, step in enumerate(runbook.steps, 1)
    ]
    roles = f" ({', '.join(runbook.roles)})" if runbook.roles else ""
    return [
        *lines,
        _labelled("request", Piece(runbook.request)),
        _labelled("command", Piece(_whole_command(runbook.command), Tone.STRONG)),
        _labelled("who may", Piece(f"{runbook.permission}{roles}")),
        _labelled("claimed", Piece(runbook.claimed)),
    ]


def _whole_command(command: str) -> str:
    return command if command.startswith("jobconsole ") else f"jobconsole {command}"


def transcript_lines(transcript: Sequence[Transcript], at: At) -> list[Line]:
    """What was done before, the latest first."""
    if not transcript:
        return [(Piece("Nothing was done by these procedures yet.", Tone.QUIET),)]
    return [_transcript_line(each, at) for each in transcript]


def _transcript_line(entry: Transcript, at: At) -> Line:
    done = entry.outcome == "done"
    who = entry.person.id if entry.person is not None else "the service"
    told = f': "{entry.sentence}"' if done and entry.sentence else f": {entry.sentence}" if entry.sentence else ""
    return (
        Piece("✓ " if done else "✗ ", Tone.GOOD if done else Tone.BAD),
        Piece(f"{short(entry.at, at.zone, at.now)} ", Tone.QUIET),
        Piece(f"{who} ", Tone.STRONG),
        Piece(f"{entry.action} {entry.subject}{'' if done else f' was {entry.outcome}'}"),
        Piece(told),
        Piece(f" · {ago(entry.at, at.now)}", Tone.QUIET),
    )


def _labelled(label: str, *pieces: Piece) -> Line:
    return (Piece(f"{label} ".ljust(LABEL), Tone.QUIET), *pieces)
