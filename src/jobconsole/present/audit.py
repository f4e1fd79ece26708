"""Owns how the audit trail is written: rows, the filter in words and as a form, one entry with before and after side by
side, its seal. Pure; needs no client.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from jobconsole.present.columns import Column, Line, Piece, Tone, joined, plain, width_of
from jobconsole.present.line_fields import LineField, Unfit, instant_in, period_words, typed_instant, word_in
from jobconsole.present.times import both, short, utc

if TYPE_CHECKING:
    from jobconsole.present.schedules import At
    from jobcontract.audit import AuditDetail, AuditEntry

EMPTY = "Nothing was written into the audit trail yet. Every act, and every one that was refused, appears here."
OUTCOMES: Mapping[str, tuple[str, Tone]] = {
    "done": ("✓ done", Tone.GOOD),
    "refused": ("✗ refused", Tone.WARN),
    "failed": ("✗ failed", Tone.BAD),
    "retry": ("◌ retry", Tone.WARN),
    "uncertain": ("? uncertain", Tone.BAD),
}
LABEL = 13
"""Cells of a member's name."""
MEMBERS_MOST = 60
FIELDS = (
    LineField(name="since", label="since", hint="2026-12-01 09:00 · yesterday · -2h"),
    LineField(name="until", label="until", hint="before then: 2026-12-01 17:00 · -1h"),
    LineField(name="person", label="person", hint="an id like m.ito; - for the service by itself"),
    LineField(name="action", label="action", hint="claim · confirm-plan · replay-occurrence · disable-schedule"),
    LineField(name="subject", label="subject", hint="the id of an item, a plan, a schedule, a person"),
    LineField(name="outcome", label="outcome", choices=tuple(OUTCOMES)),
    LineField(name="schedule", label="schedule", hint="statements.nightly"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """What of the trail is shown; None = whatever it is."""

    since: datetime | None = None
    until: datetime | None = None
    person: str | None = None
    action: str | None = None
    subject: str | None = None
    outcome: str | None = None
    schedule: str | None = None


ALL = AuditFilter()


def typed_filter(asked: AuditFilter, at: At) -> Mapping[str, str]:
    """What stands in the form for a filter."""
    words = {name: getattr(asked, name) or "" for name in ("person", "action", "subject", "outcome", "schedule")}
    return {"since": typed_instant(asked.since, at), "until": typed_instant(asked.until, at), **words}


def read_filter(typed: Mapping[str, str], at: At) -> AuditFilter:
    """The filter that was typed; Unfit names the field that cannot be read."""
    since, until = instant_in(typed, "since", at), instant_in(typed, "until", at)
    if since is not None and until is not None and until <= since:
        raise Unfit("until", "That is not later than since: nothing is in between.")
    outcome = word_in(typed, "outcome")
    if outcome is not None and outcome not in OUTCOMES:
        raise Unfit("outcome", f"It takes one of {', '.join(OUTCOMES)}.")
    return AuditFilter(
        since=since,
        until=until,
        person=word_in(typed, "person"),
        action=word_in(typed, "action"),
        subject=word_in(typed, "subject"),
        outcome=outcome,
        schedule=word_in(typed, "schedule"),
    )


def filter_words(asked: AuditFilter, at: At) -> str:
    """`by m.ito · claim · refused · since …`; empty for everything."""
    person = None if asked.person is None else "by the service itself" if asked.person == "-" else f"by {asked.person}"
    schedule = None if asked.schedule is None else f"of {asked.schedule}"
    period = period_words(asked.since, asked.until, at)
    return " · ".join(filter(None, (person, asked.action, asked.subject, asked.outcome, schedule, period)))


def nothing_like_it(looked_to: datetime | None, keys: Mapping[str, str]) -> str:
    """What stands in place of entries; `looked_to`: what is older was not looked at yet. `keys`: command id to its key."""
    again = f"{keys['audit.filter']} changes what is asked for."
    if looked_to is None:
        return f"No entry is all of that. {again}"
    return f"No entry back to {utc(looked_to)} is all of that. {keys['row.last']} looks further back, {again}"


def audit_title(rows: int, *, more: bool, asked: AuditFilter, at: At, width: int) -> Line:
    """`Audit trail · 200 read, there is more · by m.ito`, as much of it as fits."""
    words, entries = filter_words(asked, at), "1 entry" if rows == 1 else f"{rows:,} entries"
    # Where there is none, the sentence in their place says why: nothing happened, nothing is like it, it may not be read.
    count = f"{rows:,} read, there is more" if more else entries if rows else ""
    told = [
        Piece("Audit trail", Tone.STRONG),
        Piece(words, Tone.WARN),
        Piece(count, Tone.QUIET),
    ]
    while width_of(plain(joined(told))) > width and len(told) > 2:
        told.pop()
    return joined(told)


def audit_columns() -> tuple[Column, ...]:
    """The columns of the trail; the subject is cut before who and what are."""
    return (
        Column(id="at", label="when", least=5, uncut=True, most=12, yields=6),
        Column(id="person", label="who", least=6, uncut=True, most=18, yields=5),
        Column(id="action", label="did", least=8, most=28, yields=4),
        Column(id="outcome", label="outcome", least=7, uncut=True, most=12, yields=3),
        Column(id="subject", label="to", least=8, most=42, yields=2),
        Column(id="reason", label="reason", least=16, yields=1),
    )


def audit_cells(entry: AuditEntry, at: At) -> Mapping[str, Piece]:
    """The cells of one entry's row by column id."""
    word, tone = OUTCOMES.get(entry.outcome, (entry.outcome, Tone.PLAIN))
    who = Piece("service", Tone.QUIET) if entry.person is None else Piece(entry.person.id, Tone.STRONG)
    return {
        "at": Piece(short(entry.at, at.zone, at.now), Tone.QUIET),
        "person": who,
        "action": Piece(entry.action),
        "outcome": Piece(word, tone),
        "subject": Piece(subject_words(entry), Tone.PLAIN),
        "reason": Piece(reason_of(entry), Tone.QUIET),
    }


def subject_words(entry: AuditEntry) -> str:
    """What was acted on by the name that people know, where the entry has one."""
    for member in ("occurrence", "name", "key"):
        value = entry.detail.get(member)
        if isinstance(value, str) and value:
            return value
    return entry.subject


def reason_of(entry: AuditEntry) -> str:
    """The reason that was given, or what was said of the refusal."""
    for member in ("reason", "note", "sentence", "why"):
        value = entry.detail.get(member)
        if isinstance(value, str) and value:
            return value
    return ""


def entry_lines(entry: AuditEntry, at: At) -> list[Line]:
    """One entry in two lines, under the list: when, who, what, to what; the reason."""
    word, tone = OUTCOMES.get(entry.outcome, (entry.outcome, Tone.PLAIN))
    head = joined(
        (Piece(f"{entry.id}", Tone.QUIET), Piece(_who(entry), Tone.STRONG), Piece(entry.action), Piece(word, tone))
    )
    reason = reason_of(entry)
    about = joined((Piece(subject_words(entry)), Piece(reason)))
    return [head, about, (Piece(both(entry.at, at.zone), Tone.QUIET),)]


def _who(entry: AuditEntry) -> str:
    """`Mina Ito (m.ito)`; what has no name but its id is named by that alone."""
    person = entry.person
    if person is None:
        return "the service by itself"
    return person.id if person.name == person.id else f"{person.name} ({person.id})"


def seal_line(detail: AuditDetail, at: At) -> Line:
    """How the entry is sealed, and how that is verified."""
    seal = detail.seal
    if seal is None:
        return (Piece("◌ not sealed yet: the Worker seals within moments", Tone.WARN),)
    said = f"✓ sealed {both(seal.sealed_at, at.zone)} at place {seal.place:,}, link {seal.link[:16]}…"
    return (Piece(said, Tone.GOOD), Piece(" · verified on the server: jobservice audit verify", Tone.QUIET))


def head_lines(detail: AuditDetail, at: At) -> list[Line]:
    """Everything of one entry but its members."""
    entry = detail.entry
    lines = entry_lines(entry, at)
    if subject_words(entry) != entry.subject:
        lines.append(_member("subject", entry.subject))
    if detail.reference:
        lines.append(_member("reference", f"{detail.reference} (for an engineer)"))
    return [*lines, seal_line(detail, at)]


def detail_lines(detail: AuditDetail) -> list[Line]:
    """What else the act kept: every member but before and after."""
    members = [(name, value) for name, value in detail.entry.detail.items() if name not in ("before", "after")]
    return [_member(name, text_of(value)) for name, value in members[:MEMBERS_MOST]]


def sides(detail: AuditDetail) -> list[tuple[str, str, str, bool]]:
    """Name, before, after, and whether they differ, of every member of either side; what changed first."""
    before, after = detail.before or {}, detail.after or {}
    rows = []
    for name in dict.fromkeys((*before, *after)):
        old = text_of(before[name]) if name in before else "–"
        new = text_of(after[name]) if name in after else "–"
        rows.append((name, old, new, detail.before is not None and detail.after is not None and old != new))
    return sorted(rows, key=lambda row: not row[3])[:MEMBERS_MOST]


def side_lines(detail: AuditDetail, *, after: bool) -> list[Line]:
    """One side, a line a member; ≠ marks what changed."""
    lines: list[Line] = [(Piece("after" if after else "before", Tone.STRONG),)]
    whole = detail.after if after else detail.before
    if whole is None:
        words = (
            "kept nothing of after" if after else "was not there before" if detail.after else "kept nothing of before"
        )
        return [*lines, (Piece(words, Tone.QUIET),)]
    for name, old, new, differs in sides(detail):
        mark = Piece("≠ " if differs else "  ", Tone.WARN)
        value = Piece(new if after else old, Tone.WARN if differs else Tone.PLAIN)
        lines.append((mark, Piece(f"{name.ljust(LABEL)} ", Tone.QUIET), value))
    return lines


def has_sides(detail: AuditDetail) -> bool:
    """Whether the entry tells of before or after at all."""
    return detail.before is not None or detail.after is not None


def text_of(value: object) -> str:
    """A member's value in one line: words as they are, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def audit_entry_lines(detail: AuditDetail, at: At) -> list[str]:
    """One entry as plain text, for the headless twin."""
    lines = [plain(line) for line in (*head_lines(detail, at), *detail_lines(detail))]
    if not has_sides(detail):
        return lines
    rows = [(name, old, new, "changed" if differs else "") for name, old, new, differs in sides(detail)]
    widths = [max(width_of(row[column]) for row in (*rows, ("member", "before", "after", ""))) for column in range(3)]
    table = [("member", "before", "after", ""), *rows]
    return [*lines, "", *("  ".join(_padded(row, widths)).rstrip() for row in table)]


def _padded(row: tuple[str, str, str, str], widths: list[int]) -> list[str]:
    cells = [plain(((Piece(text)),)) for text in row]
    return [text + " " * (width - width_of(text)) for text, width in zip(cells[:3], widths, strict=True)] + [cells[3]]


def _member(name: str, value: str) -> Line:
    return (Piece(f"{name.ljust(LABEL)} ", Tone.QUIET), Piece(value))
