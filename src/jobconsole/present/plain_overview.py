"""Owns plain aligned text of the overview for its headless twin. Pure; never cuts a value."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import tzinfo

from jobconsole.present.amounts import amount_text
from jobconsole.present.plain import pairs, table
from jobconsole.present.text import line
from jobconsole.present.times import ago, local, utc
from jobcontract.overview import Overview, QueueLine, Trend


def overview_lines(overview: Overview, zone: tzinfo) -> list[str]:
    """What needs somebody, part by part; what the person may not read is left out."""
    lines = pairs(_counts(overview))
    if overview.money_stopped is not None:
        lines += ["", line(f"Money is stopped: {overview.money_stopped}")]
    if overview.stops:
        rows = ((each.scope, each.title, each.by.name, local(each.at, zone), each.reason) for each in overview.stops)
        lines += ["", *table(("stopped", "what", "by", "since", "why"), rows)]
    if overview.alarms:
        open_now = (
            (each.kind, each.subject, ago(each.opened_at, overview.now), each.sentence) for each in overview.alarms
        )
        lines += ["", *table(("alarm", "about", "since", "what"), open_now)]
    if overview.urgent:
        lines += [
            "",
            *table(
                ("schedule", "state", "how it is doing"),
                ((each.id, each.standing, each.words) for each in overview.urgent),
            ),
        ]
    if overview.queues:
        lines += ["", *queues_lines(overview, zone)]
    if overview.trend is not None:
        lines += ["", *trend_lines(overview.trend)]
    return lines


def queues_lines(overview: Overview, zone: tzinfo) -> list[str]:
    """A line a queue, the one with the oldest item first."""
    rows = (
        (
            each.queue,
            f"{each.open:,}{_more(each)}",
            "" if each.oldest_at is None else f"{utc(each.oldest_at)} ({local(each.oldest_at, zone)})",
            f"{each.unclaimed:,}{_more(each)}",
            " + ".join(map(amount_text, each.unclaimed_out))
            + (" and more" if each.unclaimed_out and not each.whole else ""),
        )
        for each in overview.queues
    )
    return table(("queue", "open", "oldest", "unclaimed", "unclaimed, going out"), rows, right=(1, 3))


def trend_lines(trend: Trend) -> list[str]:
    """The last day by hour, the present hour last."""
    return pairs(
        (name, " ".join(f"{each:,}" for each in numbers))
        for name, numbers in (
            ("completed by hour", trend.completed),
            ("dead letters", trend.dead),
            ("missed", trend.missed),
        )
    )


def _counts(overview: Overview) -> Iterator[tuple[str, str | None]]:
    jobs = overview.jobs
    more = "" if jobs is None or jobs.whole else "+"
    for name, value, mark in (
        ("late schedules", overview.late, ""),
        ("dead letters", overview.dead, ""),
        ("parked schedules", overview.parked, ""),
        ("disabled schedules", overview.disabled, ""),
        ("waiting for another attempt", overview.retrying, ""),
        ("running", overview.processing, ""),
        ("jobs that failed, unresolved", None if jobs is None else jobs.unresolved, more),
        ("jobs that wait", None if jobs is None else jobs.pending, more),
        ("jobs under way", None if jobs is None else jobs.running, more),
        ("alarms", overview.alarms_open, ""),
        ("recoveries", overview.recoveries, ""),
        ("plans of payouts", overview.plans, ""),
        ("payouts of uncertain outcome", overview.uncertain, ""),
        ("Workers that take work", overview.workers, ""),
        ("Workers that drain", overview.workers_draining, ""),
        ("silent Workers", overview.workers_silent, ""),
    ):
        yield name, None if value is None else f"{value:,}{mark}"


def _more(queue: QueueLine) -> str:
    return "" if queue.whole else "+"
