"""Owns plain aligned text of *why is it not running?* for its headless twins. Pure; never cuts a value."""

from __future__ import annotations

from datetime import tzinfo

from jobconsole.present.plain import pairs
from jobconsole.present.text import line
from jobconsole.present.times import local, utc
from jobcontract.why import Cause, Evidence, Why


def why_lines(why: Why, zone: tzinfo) -> list[str]:
    """The sentence, then each cause that applies with its evidence and what to do, then what was checked."""
    head = pairs((("schedule", why.schedule), ("occurrence", why.occurrence), ("why", why.sentence)))
    lines = list(head)
    for cause in why.causes:
        if cause.applies:
            lines += ["", *_cause(cause, zone)]
    checked = [f"  {line(cause.kind)}: {line(cause.sentence)}" for cause in why.causes if not cause.applies]
    return [*lines, "", "Checked, and not the cause:", *checked] if checked else lines


def _cause(cause: Cause, zone: tzinfo) -> list[str]:
    told = [line(f"{cause.kind}: {cause.sentence}")]
    told += [f"  {each}" for each in pairs((each.label, _value(each, zone)) for each in cause.evidence)]
    return told if cause.remedy is None else [*told, f"  What to do: {line(cause.remedy)}"]


def _value(evidence: Evidence, zone: tzinfo) -> str:
    if evidence.at is None:
        return evidence.value
    at = f"{utc(evidence.at)} ({local(evidence.at, zone)})"
    return f"{evidence.value}, {at}" if evidence.value else at
