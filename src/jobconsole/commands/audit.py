"""Owns the commands of the audit trail (place `audit`), of one entry (`audit-entry`), and of the timeline of an incident
(`timeline`)."""

from __future__ import annotations

from jobconsole.commands.command import Command
from jobconsole.commands.situation import Situation
from jobcontract.permissions import Permission

AUDIT, TIMELINE = ("audit",), ("timeline",)


def _entry(situation: Situation) -> str | None:
    return None if situation.entry else "no entry is selected"


AUDIT_COMMANDS: tuple[Command, ...] = (
    Command(
        id="audit.open",
        title="Open the entry",
        help="Shows one entry whole: before and after side by side, everything that was kept of it, and how it is sealed.",
        keys=("enter", "i"),
        places=AUDIT,
        permission=Permission.AUDIT_READ,
        twin="audit show ENTRY",
        hint="open",
        rank=10,
        judge=_entry,
    ),
    Command(
        id="audit.filter",
        title="Filter the trail …",
        help="Asks for a time, a person, an action, a subject, an outcome or a schedule; shows what is all of it.",
        keys=("/",),
        places=AUDIT,
        permission=Permission.AUDIT_READ,
        twin="audit list --since WHEN --until WHEN --person ID --action ACTION --subject ID --outcome OUTCOME",
        hint="filter",
        rank=11,
    ),
    Command(
        id="audit.export",
        title="Export the trail",
        help="Writes what the filter shows to a new CSV file in the folder in which the console was started; the service "
        "records it.",
        keys=("x",),
        places=AUDIT,
        permission=Permission.AUDIT_READ,
        twin="audit export --out FILE",
        hint="export",
        rank=12,
    ),
    Command(
        id="timeline.open",
        title="Timeline of an incident …",
        help="Asks for a stretch of time, then tells what happened in it, over schedules, runs, Workers, stops, alarms, "
        "plans and people.",
        keys=("T",),
        places=("schedules", "occurrences", "occurrence", "workers", "overview", "alarms"),
        permission=Permission.TIMELINE_READ,
        twin="timeline --from WHEN --to WHEN",
        rank=20,
    ),
    Command(
        id="timeline.stretch",
        title="Another stretch of time …",
        help="Asks from when to when, and of which kinds.",
        keys=("/",),
        places=TIMELINE,
        permission=Permission.TIMELINE_READ,
        twin="timeline --from WHEN --to WHEN",
        hint="time, kinds",
        rank=10,
    ),
    Command(
        id="timeline.kind",
        title="Next kind",
        help="Shows only what is about the next kind: all, acts, runs, skips, leases, schedules and so on.",
        keys=("v",),
        places=TIMELINE,
        permission=Permission.TIMELINE_READ,
        twin="timeline --kind KIND",
        hint="kind",
        rank=11,
    ),
    Command(
        id="timeline.export",
        title="Export as Markdown",
        help="Writes the whole timeline to a new Markdown file in the folder in which the console was started, and sends it "
        "to the clipboard.",
        keys=("x",),
        places=TIMELINE,
        permission=Permission.TIMELINE_READ,
        twin="timeline --from WHEN --to WHEN --markdown --out FILE",
        hint="export",
        rank=12,
    ),
)
"""Every command of these, as a reader would look for them."""
