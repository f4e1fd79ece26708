"""Owns plain aligned text about recoveries, stops and alarms for the headless twins. Pure; never cuts a value."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, tzinfo

from jobconsole.present.occurrences import CAUSES
from jobconsole.present.plain import pairs, table
from jobconsole.present.recoveries import act_words, ended_count, money_text, reason_words
from jobconsole.present.recovery_rows import items_text
from jobconsole.present.text import line
from jobconsole.present.times import local, utc
from jobcontract.alarms import Alarm
from jobcontract.operating import AlarmTold, RecoveryAct, RecoveryState, RecoveryTarget
from jobcontract.recoveries import Recovery, RecoveryLeftOut, RecoveryRow
from jobcontract.states import Moves
from jobcontract.stops import Stop


def recoveries_lines(recoveries: Sequence[Recovery], zone: tzinfo) -> list[str]:
    """One line a recovery, the latest first."""
    rows = (
        (
            each.name,
            each.state,
            each.owner.id,
            f"{ended_count(each):,} of {each.count:,}" if each.account else f"{each.count:,}",
            "money" if each.moves is Moves.MONEY else "",
            local(each.frozen_at, zone),
            each.words,
            each.reason,
            each.id,
        )
        for each in recoveries
    )
    heads = ("recovery", "state", "owner", "rows", "moves", "frozen", "what", "why", "id")
    return table(heads, rows, right=(3,)) if recoveries else ["No recovery was made here lately."]


def recovery_lines(recovery: Recovery, zone: tzinfo) -> list[str]:
    """Everything of one recovery but its rows."""
    ended = recovery.ended_at
    by = f" by {recovery.ended_by.id}" if recovery.ended_by is not None else ""
    left_out = ", ".join(f"{each.count:,} {reason_words(each.reason)}" for each in recovery.left_out)
    return pairs(
        (
            ("recovery", f"{recovery.name} ({recovery.id})"),
            ("does", act_words(recovery)),
            ("asked for", recovery.words),
            ("why", recovery.reason),
            ("owner", f"{recovery.owner.id} ({recovery.owner.name})"),
            ("state", f"{recovery.state}{by}{f': {recovery.why}' if recovery.why else ''}"),
            ("frozen", f"{_both(recovery.frozen_at, zone)}, edition {recovery.edition}"),
            ("valid until", _both(recovery.expires_at, zone) if recovery.state is RecoveryState.OPEN else None),
            ("confirmed", _both(recovery.confirmed_at, zone) if recovery.confirmed_at is not None else None),
            ("ended", _both(ended, zone) if ended is not None else None),
            ("enabled again", _both(recovery.disable_until, zone) if recovery.disable_until is not None else None),
            ("rows", f"{recovery.count:,}, at most {recovery.at_once:,} at a time"),
            *((_of(recovery), f"{each.schedule} {each.count:,}") for each in recovery.schedules),
            ("moves", "money: confirming it takes a code" if recovery.moves is Moves.MONEY else None),
            *(("tried again", money_text(each)) for each in recovery.money),
            ("left out", left_out or "nothing"),
            ("account", ", ".join(f"{each.count:,} {each.turn}" for each in recovery.account) or None),
            ("made by", recovery.command),
        )
    )


def _of(recovery: Recovery) -> str:
    """What its rows are of."""
    return "kind" if recovery.act in (RecoveryAct.RETRY, RecoveryAct.CANCEL) else "schedule"


def confirm_words(recovery: Recovery) -> str:
    """How an open one is confirmed."""
    code = ", which asks for the six digits from your phone" if recovery.moves is Moves.MONEY else ""
    return f"Nothing was done yet. To confirm it: jobconsole recoveries confirm {line(recovery.name)}{code}"


def rows_lines(rows: Sequence[RecoveryRow], zone: tzinfo) -> list[str]:
    """One line a row, in the order in which they are done; of jobs that were retried also the job that was made."""
    of_jobs = any(each.target is RecoveryTarget.JOB for each in rows)
    told = (
        (
            f"{each.number:,}",
            each.name,
            each.state or each.target,
            each.schedule if of_jobs else items_text(each),
            "money" if each.moves is Moves.MONEY else "",
            each.turn,
            each.sentence or "",
            each.error or (CAUSES[each.cause] if each.cause is not None else ""),
            local(each.ended_at, zone) if each.ended_at is not None else "",
            each.key,
            *((each.made or "",) if of_jobs else ()),
        )
        for each in rows
    )
    heads = ("#", "what", "was", "kind" if of_jobs else "items", "moves", "turn", "how it went", "why it ended before")
    return table((*heads, "ended", "key", *(("made",) if of_jobs else ())), told, right=(0,))


def left_out_lines(left_out: Sequence[RecoveryLeftOut]) -> list[str]:
    """One line a thing that is left out, and why."""
    rows = ((each.name, each.schedule, reason_words(each.reason), each.sentence) for each in left_out)
    return table(("left out", "of", "because", "why"), rows) if left_out else ["Nothing is left out."]


def progress_line(recovery: Recovery) -> str:
    """How far it is, in one line."""
    counts = ", ".join(f"{each.count:,} {each.turn}" for each in recovery.account)
    return f"{line(recovery.name)} {recovery.state}: {ended_count(recovery):,} of {recovery.count:,}{f' ({counts})' if counts else ''}"


def stops_lines(stops: Sequence[Stop], zone: tzinfo) -> list[str]:
    """One line a stop in force, the latest first."""
    rows = (
        (
            each.scope,
            each.name,
            each.title,
            _both(each.at, zone),
            each.by.id,
            each.reason,
            "a code of another person" if each.lifted_by_code else "a reason",
        )
        for each in stops
    )
    heads = ("scope", "name", "what", "since", "by", "why", "lifting takes")
    return table(heads, rows) if stops else ["Nothing is stopped. Whether money is: jobconsole money status"]


def alarms_lines(alarms: Sequence[Alarm], zone: tzinfo) -> list[str]:
    """One line an alarm: open ones first."""
    rows = (
        (
            each.kind,
            "over" if each.cleared_at is not None else "open",
            each.subject,
            each.sentence,
            _both(each.opened_at, zone),
            each.acknowledged_by.id if each.acknowledged_by is not None else "nobody",
            each.note or "",
            each.told if each.told is not AlarmTold.GIVEN_UP else f"{each.told}: {each.told_words or ''}",
            each.id,
        )
        for each in alarms
    )
    heads = ("alarm", "state", "about", "what", "since", "looked after by", "note", "told", "id")
    return table(heads, rows) if alarms else ["No alarm was raised."]


def _both(instant: datetime, zone: tzinfo) -> str:
    return f"{utc(instant)} ({local(instant, zone)})"
