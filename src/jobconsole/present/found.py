"""Owns how what a text leads to is listed: noun, title, state, which of its words was met. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from jobconsole.present.columns import Column, Line, Piece, Tone, joined
from jobconsole.present.schedules import At
from jobconsole.present.times import age_short, both
from jobcontract.ids import KEY_MAX
from jobcontract.job_states import FoundNoun
from jobcontract.jobs import HERE

if TYPE_CHECKING:
    from jobcontract.jobs import Finding, Found

NOUNS: Mapping[FoundNoun, str] = {
    FoundNoun.JOB: "job",
    FoundNoun.ITEM: "item",
    FoundNoun.PLAN: "plan",
    FoundNoun.RECOVERY: "recovery",
    FoundNoun.SCHEDULE: "schedule",
    FoundNoun.OCCURRENCE: "occurrence",
    FoundNoun.PERSON: "person",
    FoundNoun.AUDIT: "audit entry",
    FoundNoun.WORKER: "Worker",
}
"""Each noun as it is read."""
MANY: Mapping[FoundNoun, str] = {
    FoundNoun.JOB: "jobs",
    FoundNoun.ITEM: "items",
    FoundNoun.PLAN: "plans",
    FoundNoun.RECOVERY: "recoveries",
    FoundNoun.SCHEDULE: "schedules",
    FoundNoun.OCCURRENCE: "occurrences",
    FoundNoun.PERSON: "people",
    FoundNoun.AUDIT: "the audit trail",
    FoundNoun.WORKER: "Workers",
}
"""All of each noun."""
LEADS: Mapping[FoundNoun, str] = {
    FoundNoun.JOB: "opens the job",
    FoundNoun.ITEM: "opens the item in its queue",
    FoundNoun.PLAN: "opens the plan",
    FoundNoun.RECOVERY: "opens the recovery",
    FoundNoun.SCHEDULE: "goes to the schedule",
    FoundNoun.OCCURRENCE: "opens the occurrence",
    FoundNoun.PERSON: "lists the jobs that they asked for",
    FoundNoun.AUDIT: "opens the entry of the trail",
    FoundNoun.WORKER: "goes to the Workers",
}
"""What opening one does."""
WIDE = 100
LEAST = 2
"""Fewest characters that can be looked up."""


def key_of(found: Found) -> str:
    """A row's key."""
    return f"{found.noun} {found.source} {found.id} {found.matched}"


def found_columns(*, wide: bool) -> tuple[Column, ...]:
    """The columns of what was found."""
    return (
        Column(id="noun", label="found", least=8, whole=True),
        Column(id="title", label="what", least=16, yields=6),
        Column(id="state", label="stands", least=6, uncut=True, most=14, yields=4),
        Column(id="matched", label="by its", least=8, uncut=True, most=24, yields=5),
        *((Column(id="id", label="id", least=8, uncut=True, most=38, yields=1),) if wide else ()),
        Column(id="when", label="age", least=4, right=True, uncut=True, most=8, yields=3),
    )


def found_cells(found: Found, at: At) -> Mapping[str, Piece]:
    """The cells of one thing by column id."""
    return {
        "noun": Piece(NOUNS[found.noun], Tone.MINE),
        "title": Piece(found.title, Tone.STRONG),
        "state": Piece(found.state or ""),
        "matched": Piece(found.matched, Tone.QUIET),
        "id": Piece(found.id, Tone.QUIET),
        "when": Piece(age_short(found.at, at.now) if found.at is not None else "", Tone.QUIET),
    }


def found_lines(found: Found, at: At, key: str) -> list[Line]:
    """The thing under the cursor in full, and where it leads."""
    source = f"of {found.source}" if found.source != HERE else ""
    queue = f"in {found.queue}" if found.queue else ""
    head = joined(
        [
            Piece(NOUNS[found.noun], Tone.MINE),
            Piece(found.title, Tone.STRONG),
            Piece(found.state or ""),
            Piece(source, Tone.WARN),
            Piece(queue, Tone.QUIET),
        ]
    )
    when = both(found.at, at.zone) if found.at is not None else ""
    return [
        head,
        joined([Piece(f"met by its {found.matched}"), Piece(found.id), Piece(when, Tone.QUIET)]),
        (Piece(f"{key} ", Tone.MINE), Piece(LEADS[found.noun], Tone.QUIET)),
    ]


def find_title(text: str, finding: Finding | None) -> Line:
    """`Find "E-1F2A" · 3 found, more follow`."""
    told = [Piece("Find", Tone.QUIET), Piece(f'"{text}"', Tone.STRONG)]
    if finding is None:
        return tuple(_spaced(told))
    count = len(finding.found)
    more = "; only the first are listed" if finding.more else ""
    return (*_spaced(told), Piece(f" · {count:,} found{more}", Tone.GOOD if count else Tone.WARN))


def nothing_lines(finding: Finding, keys: Mapping[str, str]) -> list[Line]:
    """What is said where nothing was found: where was looked, and how a text is written. `keys`: `again`."""
    looked = ", ".join(MANY[noun] for noun in finding.looked)
    where = f"It was looked for in {looked}." if looked else "There is nothing that you may look through."
    if looked and FoundNoun.PLAN not in finding.looked:
        where += " What is not of your customers, and what moves money, is found by finance: give them the text."
    return [
        (Piece(f'Nothing that you may see is called "{finding.text}".'),),
        (Piece(where, Tone.QUIET),),
        (
            Piece(
                "Whole ids, identities and references are found, as they are written, in small or in large letters; no parts of "
                "words. "
                f"{keys['again']} looks for something else.",
                Tone.QUIET,
            ),
        ),
    ]


def read_text(typed: str) -> str:
    """What is to be looked up; ValueError with the sentence that says what is wrong with it."""
    text = typed.strip()
    if len(text) < LEAST:
        raise ValueError(f"Type at least {LEAST} characters: an id, a reference, a name.")
    if len(text) > KEY_MAX:
        raise ValueError(f"At most {KEY_MAX} characters can be looked up.")
    return text


def _spaced(pieces: list[Piece]) -> list[Piece]:
    return [pieces[0], Piece(" "), *pieces[1:]]
