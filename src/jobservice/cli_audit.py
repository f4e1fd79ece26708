"""Owns the command that verifies the audit trail, on the owner's connection (MONEY.md 31). Changes nothing.

The heads outside the database are what catches whoever can rewrite the database: keep them where its administrators cannot
write, and name their folder.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jobservice.cli_people import as_owner
from jobservice.settings import SEALS, StartRefused

if TYPE_CHECKING:
    from jobservice.usecases.seals import Verified


@click.group()
def audit() -> None:
    """The audit trail, as it is sealed (on the server only)."""


@audit.command("verify")
@click.option(
    "--seals",
    "folder",
    envvar=SEALS,
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help=f"Compare also with the heads in this folder, as a Worker wrote them there. From {SEALS} where that is set.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object instead of sentences.")
def audit_verify(folder: Path | None, as_json: bool) -> None:
    """Compute the whole chain anew; name the first gap, with exit code 1."""
    from jobservice.delivery.heads import Heads
    from jobservice.usecases.seals import verify

    if folder is not None and not folder.is_dir():
        raise StartRefused(f"There is no folder {folder}: --seals names the one that a Worker writes heads into.")
    heads = None if folder is None else Heads(folder=folder)
    found = as_owner(lambda database: verify(database, heads))
    for line in [_json(found)] if as_json else _lines(found, folder):
        click.echo(line)
    if found.gap is not None:
        sys.exit(1)


def _lines(found: Verified, folder: Path | None) -> list[str]:
    if found.gap is not None:
        return [found.gap.sentence, f"{_before(found)} Keep this database and the heads as they are, and say so."]
    outside = (
        f"Heads outside that agree: {found.heads:,}, in {folder}."
        if folder is not None
        else "No heads from outside were compared: whoever can rewrite the whole chain is not found out. Use --seals."
    )
    purged = [f"The trail begins behind place {found.purged:,}: what was before was purged."] if found.purged else []
    return [
        *purged,
        f"Every sealed entry is as it was sealed: {_count(found.entries, 'entry', 'entries')} in "
        f"{_count(found.seals, 'seal')}.",
        outside,
        f"Not sealed yet: {_count(found.unsealed, 'entry', 'entries')}.",
    ]


def _before(found: Verified) -> str:
    place = found.gap.place if found.gap is not None and found.gap.place else found.purged + found.entries + 1
    before = max(0, place - 1 - found.purged)
    return f"Everything before it holds: {_count(before, 'entry', 'entries')}."


def _count(number: int, one: str, many: str | None = None) -> str:
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def _json(found: Verified) -> str:
    gap = found.gap
    return json.dumps(
        {
            "purged": found.purged,
            "entries": found.entries,
            "seals": found.seals,
            "heads": found.heads,
            "unsealed": found.unsealed,
            "gap": None
            if gap is None
            else {"kind": gap.kind.value, "place": gap.place, "entry": gap.entry, "sentence": gap.sentence},
        },
        indent=2,
    )
