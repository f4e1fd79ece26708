"""Owns the headless command that makes a recovery: written with what was typed, and read back from a recovery that says by
which command it is made. Pure; runs nothing."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from datetime import datetime

from pydantic import ValidationError

from jobconsole.present.equivalent import UNSAID, typed_instant
from jobcontract.operating import RecoveryAct
from jobcontract.recoveries import RecoveryOrder

_LISTS: Mapping[str, str] = {
    "--schedule": "schedules",
    "--occurrence": "occurrences",
    "--cause": "causes",
    "--job": "jobs",
}
_TEXTS: Mapping[str, str] = {"--filter": "job_filter", "--reason": "reason"}
_TIMES: Mapping[str, str] = {"--from": "since", "--to": "until", "--until": "disable_until"}


def recovery_command(
    act: RecoveryAct,
    order: RecoveryOrder | None,
    reason: str,
    where: Mapping[str, str] | None = None,
    schedules: Sequence[str] = (),
) -> str:
    """`jobconsole recoveries replay --schedule statements.nightly --from … --to … --reason '…'`; `order` None: what was
    typed is no order yet, and of it only `schedules` are named."""
    parts = ["jobconsole", "recoveries", act.value]
    if order is None:
        for name in schedules:
            parts += ["--schedule", shlex.quote(name)]
        parts += ["--schedule", "SCHEDULE"] if act is RecoveryAct.DISABLE and not schedules else []
        parts += ["--from", UNSAID, "--to", UNSAID] if act is RecoveryAct.REPLAY else []
    else:
        parts += _set(order)
    parts += ["--reason", shlex.quote(reason) if reason.strip() else UNSAID]
    for name, value in (where or {}).items():
        parts += [f"--{name}", shlex.quote(value)]
    return " ".join(parts)


def _set(order: RecoveryOrder) -> list[str]:
    parts: list[str] = []
    named = (("--schedule", order.schedules), ("--occurrence", order.occurrences), ("--cause", order.causes))
    for option, names in (*named, ("--job", order.jobs)):
        for name in names or ():
            parts += [option, shlex.quote(str(name))]
    parts += ["--filter", shlex.quote(order.job_filter)] if order.job_filter is not None else []
    for option, instant in (("--from", order.since), ("--to", order.until), ("--until", order.disable_until)):
        if (typed := typed_instant(instant)) is not None:
            parts += [option, typed]
    return [*parts, *(["--skipped"] if order.skipped else [])]


def order_of(command: str) -> RecoveryOrder | None:
    """The order that the command makes, for making the same set anew; None where it is not understood."""
    try:
        words = shlex.split(command)
        members = _members(words)
        return RecoveryOrder.model_validate(members)
    except (ValueError, ValidationError):
        return None


def _members(words: list[str]) -> dict[str, object]:
    """Members of the order by name; ValueError for a word that no such command has."""
    if words[:2] != ["jobconsole", "recoveries"] or len(words) < 3:
        raise ValueError("it is no command of recoveries")
    members: dict[str, object] = {"act": RecoveryAct(words[2])}
    lists: dict[str, list[str]] = {}
    rest = iter(words[3:])
    for option in rest:
        if option == "--skipped":
            members["skipped"] = True
        elif (value := next(rest, None)) is None:
            raise ValueError(f"{option} has no value")
        elif option in _LISTS:
            lists.setdefault(_LISTS[option], []).append(value)
        elif option in _TIMES:
            members[_TIMES[option]] = datetime.fromisoformat(value)
        elif option in _TEXTS:
            members[_TEXTS[option]] = value
        else:
            raise ValueError(f"{option} is no option of it")
    return {**members, **{name: tuple(values) for name, values in lists.items()}}
