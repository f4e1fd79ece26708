"""Owns the headless twins of saved filters, and what `--filter @NAME` means. They ask no service: the filters are in a
file of this machine, one a profile.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import click

from jobconsole.cli_connection import EPILOG, REFUSED, USAGE, fail, hand_down, within, write
from jobconsole.cli_console import profile_option, settings_or_exit
from jobconsole.kept_filters import NAME_MAX, KeptFilter, KeptFilters, KeptFiltersError
from jobconsole.paths import filters_file
from jobconsole.present.filters import fault_of, pointed_lines
from jobconsole.present.text import line
from jobcontract.ids import FILTER_MAX, KEY_MAX

KEPT = "@"
"""How `--filter` begins that names a saved one."""
_JSON = click.option("--json", "as_json", is_flag=True, help="Print as JSON.")


def filter_of(profile: str, queue: str, typed: str) -> str:
    """The filter that was typed, or the one that `@NAME` names: saved for the queue, else for one other queue alone."""
    if not typed.startswith(KEPT):
        return typed
    name = typed.removeprefix(KEPT)
    found = [kept for kept in _kept(profile) if kept.name == name]
    here = [kept for kept in found if kept.queue == queue] or found
    if len(here) == 1:
        return here[0].text
    if here:
        queues = ", ".join(kept.queue for kept in here)
        fail(f"the filter {name} is saved for several other queues ({queues}), for {queue} it is not", USAGE)
    names = ", ".join(sorted({kept.name for kept in _kept(profile)})) or "none"
    fail(f'no filter is saved as {name}; saved are: {names}. To look for the text itself: "{typed}"', USAGE)


@click.group("filters", epilog=EPILOG, invoke_without_command=True)
@profile_option
@_JSON
@click.pass_context
def filters(ctx: click.Context, /, **options: Any) -> None:
    """Filters saved under a name, for this profile. Alone: the list."""
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_filters, queue=None, **options)
    hand_down(ctx, options)


@filters.command("list", epilog=EPILOG)
@click.option("--queue", metavar="QUEUE", callback=within(KEY_MAX), help="Those of one queue.")
@profile_option
@_JSON
def list_filters(queue: str | None, profile: str | None, as_json: bool) -> None:
    """Every saved filter with its queue; one that can no longer be read says why."""
    kept = [one for one in _kept(settings_or_exit(profile).profile) if queue in (None, one.queue)]
    rows = [(one, fault_of(one.text)) for one in kept]
    if as_json:
        listed = [_told(one, fault.sentence if fault is not None else None) for one, fault in rows]
        write(json.dumps({"filters": listed}, indent=2), 0)
    if not rows:
        write("No filter is saved yet: jobconsole queues filters save QUEUE NAME FILTER", 0)
    widths = [max(len(line(text)) for text in column) for column in ([k.queue for k in kept], [k.name for k in kept])]
    lines: list[str] = []
    for one, fault in rows:
        lines.append(f"{line(one.queue):<{widths[0]}}  {line(one.name):<{widths[1]}}  {line(one.text)}")
        if fault is not None:
            lines.append(f"{'':<{widths[0]}}  {'':<{widths[1]}}  cannot be used: {line(fault.sentence)}")
    write("\n".join(lines), 0)


@filters.command("save", epilog=EPILOG)
@click.argument("queue", callback=within(KEY_MAX))
@click.argument("name", callback=within(NAME_MAX))
@click.argument("filter_text", metavar="FILTER", callback=within(FILTER_MAX))
@profile_option
@_JSON
def save(queue: str, name: str, filter_text: str, profile: str | None, as_json: bool) -> None:
    """Keep FILTER for QUEUE under NAME; `--filter @NAME` then stands for it."""
    fault = fault_of(filter_text)
    if fault is not None:
        fail(f"the filter cannot be read: {fault.sentence}", USAGE, None, *pointed_lines(filter_text, fault))
    kept = KeptFilter(queue=queue, name=name, text=filter_text.strip())
    replaced = _change(profile, lambda known: known.save(kept))
    told = f"saved for {queue}: {name} = {kept.text}"
    instead = [f"instead of: {replaced.text}"] if replaced is not None and replaced.text != kept.text else []
    _done([line(told), *map(line, instead)], kept, as_json)


@filters.command("delete", epilog=EPILOG)
@click.argument("queue", callback=within(KEY_MAX))
@click.argument("name", callback=within(NAME_MAX))
@profile_option
@_JSON
def delete(queue: str, name: str, profile: str | None, as_json: bool) -> None:
    """Forget the filter that QUEUE has under NAME."""
    gone = _change(profile, lambda known: known.delete(queue, name))
    if gone is None:
        fail(f"{queue} has no saved filter {name}; see: jobconsole queues filters list", REFUSED)
    _done([line(f"deleted from {queue}: {name} = {gone.text}")], gone, as_json)


def _change(profile: str | None, change: Callable[[KeptFilters], KeptFilter | None]) -> KeptFilter | None:
    try:
        return change(KeptFilters(filters_file(settings_or_exit(profile).profile)))
    except KeptFiltersError as error:
        fail(str(error), REFUSED)


def _kept(profile: str) -> Sequence[KeptFilter]:
    try:
        return KeptFilters(filters_file(profile)).read()
    except KeptFiltersError as error:
        fail(str(error), REFUSED)


def _told(one: KeptFilter, fault: str | None = None) -> Mapping[str, str | None]:
    return {"queue": one.queue, "name": one.name, "filter": one.text, "fault": fault}


def _done(lines: Sequence[str], one: KeptFilter, as_json: bool) -> None:
    write(json.dumps(_told(one), indent=2) if as_json else "\n".join(lines), 0, acted=True)
