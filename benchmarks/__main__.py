"""Starts the benchmarks: `python -m benchmarks`, or `make bench`. Prints the table; asserts nothing."""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

import click
import structlog
import uvloop

from benchmarks import (
    applying,
    claims,
    codes,
    console,
    engine,
    history,
    instants,
    jobs_listed,
    lateness,
    machine,
    operator,
    pages,
    plans,
    rescoring,
    runs,
)
from benchmarks.figures import Figure
from benchmarks.ground import Ground, ground
from benchmarks.table import PAGE, line_of, table, write

Part = Callable[[Ground], AsyncIterator[Figure]]
PARTS: Mapping[str, Part] = {
    "page": pages.measure,
    "claims": claims.measure,
    "rescoring": rescoring.measure,
    "codes": codes.measure,
    "plans": plans.measure,
    "applying": applying.measure,
    "runs": runs.measure,
    "lateness": lateness.measure,
    "history": history.measure,
    "instants": instants.measure,
    "operator": operator.measure,
    "jobs": jobs_listed.measure,
    "engine": engine.measure,
    "console": console.measure,
}
ROWS = 1_000_000


@click.command()
@click.option("--only", multiple=True, type=click.Choice(list(PARTS)), help="Measure this part alone. Repeatable.")
@click.option("--rows", default=ROWS, show_default=True, type=click.IntRange(20_000), help="Items of the large queue.")
@click.option(
    "--keep",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder, outside the repository, whose server and rows are used again next time.",
)
@click.option("--write", "written", is_flag=True, help="Also put the table into docs/benchmarks.md.")
def main(only: tuple[str, ...], rows: int, keep: Path | None, written: bool) -> None:
    """Measure what has to be fast, each against a limit or a peer of the same run, and print a table."""
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    if written and only:
        raise click.UsageError("--write wants every part: leave out --only.")
    began = time.perf_counter()
    with ground(keep, rows) as server:
        facts = machine.facts(server.version)
        figures = uvloop.run(_measure(server, tuple(only) or tuple(PARTS)))
    took = f"- {rows:,} rows; the run took {(time.perf_counter() - began) / 60:.0f} minutes"
    text = table(figures, (*facts, took))
    click.echo(text)
    if written:
        write(PAGE, text)


async def _measure(server: Ground, parts: tuple[str, ...]) -> list[Figure]:
    figures = []
    for part in parts:
        click.echo(f"{part} ...", err=True)
        async for figure in PARTS[part](server):
            click.echo(f"  {line_of(figure)}", err=True)
            figures.append(figure)
    return figures


if __name__ == "__main__":
    main()
