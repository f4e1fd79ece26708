"""Owns the headless twins that act on one background job: submit, cancel, retry, resolve, reveal. Each runs the function of
`client/` that the dialog runs; each takes a key, and all but submitting a reason. Many at once: `recoveries retry|cancel`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click
from pydantic import ValidationError

from jobconsole.cli_bulk_steering import KEY, REASON, key_or_new
from jobconsole.cli_connection import USAGE, Shown, SignedIn, fail, sure, twin, within
from jobconsole.client import jobs as client
from jobconsole.present import plain_jobs as plain
from jobconsole.present.text import line
from jobcontract.ids import KEY_MAX, NAME_MAX
from jobcontract.jobs import SubmitJob
from jobcontract.states import InputType

JOB = click.argument("job", callback=within(KEY_MAX))
_TRUE, _FALSE = frozenset({"true", "yes"}), frozenset({"false", "no"})


def _pairs(_ctx: click.Context, _parameter: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    """A click callback: `name=value`, each name once."""
    given: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name.strip():
            raise click.BadParameter(f"{line(text)[:80]} is not NAME=VALUE.")
        if name.strip() in given:
            raise click.BadParameter(f"{line(name.strip())} is given twice.")
        given[name.strip()] = value
    return given


@click.argument("kind", callback=within(KEY_MAX))
@click.option(
    "--identity",
    required=True,
    callback=within(KEY_MAX),
    help="A token of yours for this one intention: sent again, it is the same job.",
)
@click.option(
    "--input",
    "inputs",
    multiple=True,
    callback=_pairs,
    metavar="NAME=VALUE",
    help="An input that the kind declares (jobs kinds); several may be given.",
)
@click.option("--subject", callback=within(NAME_MAX), help="What people read of it; else the workspace or customer.")
@click.option("--customer", callback=within(KEY_MAX), help="The customer whom it is for.")
@click.option("--workspace", callback=within(KEY_MAX), help="The workspace that it is for.")
@KEY
@twin
async def submit(at: SignedIn, kind: str, identity: str, inputs: dict[str, str], key: str | None, **more: Any) -> Shown:
    """Submit a job of KIND. The same identity with the same inputs is the same job, however often it is sent."""
    members = {"kind": kind, "submission_identity": identity, "inputs": await _typed(at, kind, inputs), **more}
    try:
        order = SubmitJob.model_validate(members)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        fail(f"{'.'.join(str(step) for step in first['loc'])}: {first['msg']}.", USAGE)
    once = key_or_new(key)
    answer = await sure(client.submit_job(at.service, order, once), once)
    told = "It is submitted." if answer.first else "It was submitted before, with the same inputs: this is that job."
    return Shown(answer=answer, lines=[told, "", *plain.summary_lines(answer.job, at.settings.zone)], acted=True)


async def _typed(at: SignedIn, kind: str, given: Mapping[str, str]) -> dict[str, str | int | bool]:
    """The inputs as the kind declares them."""
    if not given:
        return {}
    known = {each.id: each for each in (await client.job_kinds(at.service)).kinds}.get(kind)
    types = {} if known is None else {field.name: field.type for field in known.inputs}
    return {name: _value(name, text, types.get(name, InputType.TEXT)) for name, text in given.items()}


def _value(name: str, text: str, kind: str) -> str | int | bool:
    """One value as the type that it is declared as; ends the process where it is none."""
    if kind == InputType.INTEGER:
        number = _whole(text)
        if number is None:
            fail(f"--input {line(name)}: {line(text)[:80]} is no whole number.", USAGE)
        return number
    if kind == InputType.BOOLEAN:
        if text.lower() not in _TRUE | _FALSE:
            fail(f"--input {line(name)}: it takes true or false; not {line(text)[:80]}.", USAGE)
        return text.lower() in _TRUE
    return text


def _whole(text: str) -> int | None:
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) <= 18 else None


@JOB
@REASON
@KEY
@twin
async def cancel(at: SignedIn, job: str, reason: str, key: str | None) -> Shown:
    """Cancel a JOB: what nobody began ends at once, what runs within a second or so. What is done stays done."""
    once = key_or_new(key)
    answer = await sure(client.cancel_job(at.service, job, reason, once), once)
    lines = [line(answer.sentence), "", *plain.summary_lines(answer.job, at.settings.zone)]
    return Shown(answer=answer, lines=lines, acted=True)


@JOB
@REASON
@KEY
@twin
async def retry(at: SignedIn, job: str, reason: str, key: str | None) -> Shown:
    """Make a new job from a settled JOB, linked to it. One that moves money takes a recovery: recoveries retry."""
    once = key_or_new(key)
    answer = await sure(client.retry_job(at.service, job, reason, once), once)
    lines = [line(answer.sentence), "", *plain.summary_lines(answer.job, at.settings.zone)]
    return Shown(answer=answer, lines=lines, acted=True)


@JOB
@REASON
@click.option("--ticket", callback=within(KEY_MAX), help="Where it is followed up: the failure is acknowledged by it.")
@KEY
@twin
async def resolve(at: SignedIn, job: str, reason: str, ticket: str | None, key: str | None) -> Shown:
    """Say why a failed JOB asks for nothing any more. Nothing is retried."""
    once = key_or_new(key)
    answer = await sure(client.resolve_job(at.service, job, reason, once, ticket), once)
    lines = [line(answer.sentence), "", *plain.summary_lines(answer.job, at.settings.zone)]
    return Shown(answer=answer, lines=lines, acted=True)


@JOB
@REASON
@KEY
@twin
async def reveal(at: SignedIn, job: str, reason: str, key: str | None) -> Shown:
    """Show the inputs of a JOB in clear; that you looked, and why, is written down."""
    once = key_or_new(key)
    answer = await sure(client.reveal_job(at.service, job, reason, once), once)
    lines = plain.inputs_lines(answer.inputs) if answer.inputs else ["It has no inputs."]
    return Shown(answer=answer, lines=lines, acted=True)


JOB_ACTS: tuple[tuple[str, Callable[..., Any]], ...] = (
    ("submit", submit),
    ("cancel", cancel),
    ("retry", retry),
    ("resolve", resolve),
    ("reveal", reveal),
)
"""Name and callback of each, for the `jobs` group."""
