"""Owns the headless twin that finds whatever a text leads to. It runs the function of `client/` that the screen runs."""

from __future__ import annotations

import click

from jobconsole.cli_connection import EPILOG, Shown, SignedIn, twin, within
from jobconsole.client.finding import find as ask
from jobconsole.present import plain_jobs as plain
from jobcontract.ids import KEY_MAX


def _least_two(ctx: click.Context, parameter: click.Parameter, text: str) -> str:
    within(KEY_MAX)(ctx, parameter, text)
    if len(text.strip()) < 2:
        raise click.BadParameter("it takes at least two characters.")
    return text.strip()


@click.command("find", epilog=EPILOG)
@click.argument("text", callback=_least_two)
@twin
async def find(at: SignedIn, text: str) -> Shown:
    """Whatever TEXT leads to: an id, a submission identity, a payout or failure reference, a person. Whole words, or eight
    characters of an id."""
    answer = await ask(at.service, text)
    return Shown(answer=answer, lines=plain.finding_lines(answer, at.settings.zone))
