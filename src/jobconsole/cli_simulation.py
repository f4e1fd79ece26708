"""Owns the headless twin of the clock simulator: `jobconsole schedules simulate`. It runs the function of `client/` that the
screen runs, and acts on nothing."""

from __future__ import annotations

import re
from typing import Any

import click

from jobconsole.cli_connection import EPILOG, USAGE, Shown, SignedIn, fail, twin
from jobconsole.cli_schedules import SCHEDULE, instant_of
from jobconsole.client import simulation as client
from jobconsole.present.plain_simulation import simulation_lines
from jobcontract.simulation import Down, Edit
from jobcontract.states import MisfirePolicy, Repeated, Skipped

_LENGTH = re.compile(r"(?:PT)?(?P<number>\d{1,9})(?P<unit>[smhSMH]?)", re.ASCII)
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3_600}


def _seconds(_ctx: click.Context, _parameter: click.Parameter, text: str | None) -> int | None:
    """A click callback: a length of time in whole seconds, minutes or hours."""
    if text is None:
        return None
    found = _LENGTH.fullmatch(text.strip())
    if found is None or not int(found["number"]):
        raise click.BadParameter(f"{text} is no length of time; say 90s, 15m, 24h, or PT15M.")
    return int(found["number"]) * _UNITS[found["unit"].lower()]


def _down(at: SignedIn, text: str) -> Down:
    """A downtime as it was typed, `A..B`; ends the process where it is none."""
    since, dots, until = text.partition("..")
    if not dots:
        fail(
            f"--down: {text} is no stretch of time; say from when to when, 2026-10-25T00:00Z..2026-10-25T04:00Z", USAGE
        )
    began, ended = instant_of(at, "--down", since), instant_of(at, "--down", until)
    assert began is not None  # noqa: S101  # it was typed
    assert ended is not None  # noqa: S101  # it was typed
    return Down(since=began, until=ended)


def _edit(given: dict[str, Any]) -> Edit | None:
    """What is to be different; None where nothing is."""
    named = {name: value for name, value in given.items() if value is not None}
    return Edit.model_validate(named, strict=False) if named else None


@SCHEDULE
@click.option("--from", "since", metavar="WHEN", required=True, help="Where the stretch begins.")
@click.option("--to", "until", metavar="WHEN", required=True, help="Where it ends; not included.")
@click.option("--down", multiple=True, metavar="A..B", help="Nothing runs from A on and before B. Repeatable.")
@click.option("--cron", metavar="EXPRESSION", help="Another cron expression; --zone says its zone.")
@click.option("--every", callback=_seconds, metavar="LENGTH", help="Every 15m, 24h, PT90S; with --anchor.")
@click.option("--anchor", metavar="WHEN", help="What --every counts from.")
@click.option("--zone", metavar="ZONE", help="Another time zone, by its IANA name.")
@click.option(
    "--skipped", type=click.Choice([each.value for each in Skipped]), help="What a time does that the clock leaves out."
)
@click.option(
    "--repeated",
    type=click.Choice([each.value for each in Repeated]),
    help="What a time does that the clock shows twice.",
)
@click.option(
    "--misfire", type=click.Choice([each.value for each in MisfirePolicy]), help="What becomes of missed instants."
)
@click.option(
    "--misfire-after", callback=_seconds, metavar="LENGTH", help="Missed when not started so long past its time."
)
@click.option("--newest", type=click.IntRange(1, 10_000), help="With each-interval: how many run at most.")
@twin
async def simulate(
    at: SignedIn, schedule: str, since: str, until: str, down: tuple[str, ...], anchor: str | None, **edit: Any
) -> Shown:
    """What SCHEDULE does in a stretch of time: what runs, is skipped, merged or made up for, with downtimes in it. Any edit
    is compared with it; nothing is saved."""
    began, ended = instant_of(at, "--from", since), instant_of(at, "--to", until)
    assert began is not None  # noqa: S101  # it is required
    assert ended is not None  # noqa: S101  # it is required
    changes = _edit({**edit, "anchor": instant_of(at, "--anchor", anchor)})
    answer = await client.simulate(at.service, schedule, began, ended, tuple(_down(at, each) for each in down), changes)
    return Shown(answer=answer, lines=simulation_lines(answer, at.settings.zone))


SIMULATE = click.command("simulate", epilog=EPILOG)(simulate)
