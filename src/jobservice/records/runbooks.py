"""Owns the form of runbook records: how a schedule is inspected, replayed or disabled, by which interface, and by whom.

That route and command exist and belong together is compared here, with `jobcontract.interfaces`; what they have to do
with the schedule elsewhere (`runbook_fit.py`).
"""

from __future__ import annotations

from dataclasses import dataclass

from jobcontract.ids import NAME_MAX
from jobcontract.interfaces import INTERFACES, Interface, interface_of
from jobcontract.operating import Procedure
from jobcontract.permissions import Permission
from jobservice.records.forms import Form, nearest
from jobservice.records.kind import Kind, Reference
from jobservice.rules.runbooks import SENTENCE_MOST, STEPS_MOST


@dataclass(frozen=True, slots=True, kw_only=True)
class RunbookRecord:
    """A runbook record as written, and the lines of what is compared with the job record."""

    title: str
    schedule: Reference
    procedure: Procedure
    procedure_line: int
    interface: Interface
    interface_line: int
    may: Permission
    may_line: int
    steps: tuple[str, ...]
    claimed: str


def _read(form: Form, _identifier: str) -> RunbookRecord | None:
    title = form.text("title", most=NAME_MAX)
    schedule = form.slug("schedule")
    procedure = form.choice("procedure", Procedure)
    interface = _interface(form)
    may = form.choice("may", Permission)
    steps = form.texts("steps", most=SENTENCE_MOST, count=STEPS_MOST)
    claimed = form.text("claimed", most=SENTENCE_MOST)
    form.finish()
    if title is None or schedule is None or procedure is None or interface is None:
        return None
    if may is None or steps is None or claimed is None:
        return None
    return RunbookRecord(
        title=title,
        schedule=Reference(id=schedule, line=form.line_of("schedule")),
        procedure=procedure,
        procedure_line=form.line_of("procedure"),
        interface=interface,
        interface_line=form.line_of("interface"),
        may=may,
        may_line=form.line_of("may"),
        steps=steps,
        claimed=claimed,
    )


def _interface(form: Form) -> Interface | None:
    """What performs it: its route by name, and the headless command of that route; None after a finding."""
    stated = form.form("interface")
    command = form.text("command", most=NAME_MAX)
    route = None if stated is None else stated.slug("route")
    if stated is not None:
        stated.finish()
    known = None if route is None else interface_of(route)
    if stated is not None and route is not None and known is None:
        names = [each.route.name for each in INTERFACES]
        hint = nearest(route, names) or f" There are {', '.join(names)}."
        sentence = f"`interface.route`: no interface of a procedure is {route}.{hint}"
        stated.found("interface-unknown", stated.line_of("route"), sentence)
    if command is None:
        return None
    return known if _command_fits(form, command, known) else None


def _command_fits(form: Form, command: str, known: Interface | None) -> bool:
    """Whether there is such a headless command, and it asks for the route that is named."""
    found = next((each for each in INTERFACES if each.command == command), None)
    if found is None:
        commands = [each.command for each in INTERFACES]
        hint = f" That of {known.route.name} is `{known.command}`." if known is not None else nearest(command, commands)
        why = f"no headless command is {command[:80]!r}.{hint}"
    elif known is not None and found is not known:
        why = f"`{command}` asks for {found.route.name}; that of {known.route.name} is `{known.command}`."
    else:
        return True
    form.found("interface-unknown", form.line_of("command"), f"`command`: {why}")
    return False


RUNBOOK = Kind(word="runbook", read=_read)
