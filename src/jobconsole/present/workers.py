"""Owns how Worker processes are written: how each is doing, since when, when it was last heard, how much it holds. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from jobconsole.present.columns import Column, Line, Piece, Tone, joined
from jobconsole.present.times import ago, brief_span
from jobcontract.states import WorkerStanding

if TYPE_CHECKING:
    from datetime import datetime

    from jobconsole.present.schedules import At
    from jobcontract.workers import Worker

SHORT_ID = 8
"""Characters of an incarnation that are shown in a list."""
STANDINGS: Mapping[WorkerStanding, tuple[str, Tone]] = {
    WorkerStanding.LIVE: ("● live", Tone.GOOD),
    WorkerStanding.DRAINING: ("‖ draining", Tone.WARN),
    WorkerStanding.SILENT: ("✗ silent", Tone.BAD),
    WorkerStanding.STOPPED: ("– stopped", Tone.QUIET),
}
"""Sign and word of each standing."""
NONE_LIVE = "No Worker is live: what is due waits until one is started, or heard of again."
EMPTY = "No Worker lives, and none stopped within the last day: nothing of any schedule runs until one is started."


def workers_columns() -> tuple[Column, ...]:
    """The columns of the Workers."""
    return (
        Column(id="state", label="state", least=10, whole=True),
        Column(id="host", label="host", least=8, uncut=True, most=30, yields=4),
        Column(id="worker", label="Worker", least=8, whole=True),
        Column(id="slots", label="processing", least=10, right=True, whole=True),
        Column(id="heard", label="last heard", least=10, uncut=True, most=24, yields=3),
        Column(id="since", label="since", least=6, uncut=True, most=14, yields=2),
        Column(id="version", label="version", least=7, uncut=True, most=20, yields=0),
        Column(id="rest", label="", least=12, yields=1),
    )


def workers_cells(worker: Worker, at: At) -> Mapping[str, Piece]:
    """The cells of one Worker's row by column id."""
    word, tone = STANDINGS[worker.standing]
    beat = ago(worker.beat_at, at.now)
    heard = beat if worker.stopped_at is None else f"stopped {ago(worker.stopped_at, at.now)}"
    full = worker.slots > 0 and worker.processing >= worker.slots
    return {
        "state": Piece(word, tone),
        "host": Piece(worker.host, Tone.STRONG),
        "worker": Piece(worker.incarnation[:SHORT_ID]),
        "slots": Piece(f"{worker.processing:,} of {worker.slots:,}", Tone.WARN if full else Tone.PLAIN),
        "heard": Piece(heard, tone if worker.standing is WorkerStanding.SILENT else Tone.PLAIN),
        "since": Piece(brief_span((at.now - worker.started_at).total_seconds())),
        "version": Piece(worker.version, Tone.QUIET),
        "rest": Piece(_ending(worker, at.now), Tone.QUIET),
    }


def _ending(worker: Worker, now: datetime) -> str:
    if worker.stopped_at is None and worker.drain_asked_at is not None:
        by = worker.drain_asked_by.id if worker.drain_asked_by is not None else "somebody"
        return f'by {by} {ago(worker.drain_asked_at, now)}: "{worker.drain_reason or ""}"'
    if worker.stopped_at is None and worker.draining_at is not None:
        return f"nothing new since {brief_span((now - worker.draining_at).total_seconds())}"
    return ""


def workers_title(workers: Sequence[Worker] | None) -> Line:
    """`Workers 3 live · 1 silent · 1 stopped · processing 7 of 48 here`."""
    if workers is None:
        return (Piece("Workers", Tone.STRONG),)
    told = [Piece("Workers", Tone.STRONG)]
    for standing, (word, tone) in STANDINGS.items():
        count = sum(each.standing is standing for each in workers)
        told.append(Piece(f"{count:,} {word.partition(' ')[2]}" if count else "", tone))
    takes = [each for each in workers if each.standing is WorkerStanding.LIVE]
    slots = sum(each.slots for each in takes)
    here = sum(each.processing for each in workers)
    told.append(Piece(f"{here:,} of {slots:,} slots used here" if takes else "", Tone.QUIET))
    return joined(told)


def none_live_words(workers: Sequence[Worker]) -> str:
    """That nothing runs, where none of the listed Workers takes anything new; empty otherwise, and without any."""
    live = any(each.standing is WorkerStanding.LIVE for each in workers)
    return "" if live or not workers else NONE_LIVE


def drained_words(worker: Worker, at: At) -> str:
    """Who asked a Worker to take nothing new, when and why; empty where nobody did."""
    if worker.drain_asked_at is None or worker.stopped_at is not None:
        return ""
    by = worker.drain_asked_by.id if worker.drain_asked_by is not None else "somebody"
    asked = f"asked by {by} {ago(worker.drain_asked_at, at.now)}"
    return (
        f"‖ Worker {worker.incarnation[:SHORT_ID]} on {worker.host} takes nothing new, {asked}: "
        f'"{worker.drain_reason or ""}"'
    )


def silent_words(worker: Worker, at: At) -> str:
    """What a silent Worker means for what it holds here; empty where it holds nothing, and for any other."""
    if worker.standing is not WorkerStanding.SILENT or not worker.processing:
        return ""
    return (
        f"Worker {worker.incarnation[:SHORT_ID]} on {worker.host} was not heard of for "
        f"{brief_span((at.now - worker.beat_at).total_seconds())}: another one takes over what it holds once its leases run out."
    )
