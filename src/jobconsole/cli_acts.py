"""Owns the headless twins of acts: `act` for any use case, and a command of its own for each verb of the example.

A use case is named by its id or its verb; its inputs are read as its record declares them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import click

from jobconsole.cli_connection import (
    DONE,
    REFUSED,
    USAGE,
    Shown,
    SignedIn,
    fail,
    item_id,
    same_key,
    sure,
    twin,
    why,
)
from jobconsole.client import queues as client
from jobconsole.present import plain
from jobconsole.present.times import EXAMPLES, read_instant
from jobcontract.items import ActOrder, InputValue, ItemDetail
from jobcontract.queues import UseCase, UseCaseInput
from jobcontract.states import InputType, OutcomeKind

REASON = click.option("--reason", required=True, callback=why, help="Why.")
ACT_OPTIONS = (
    click.argument("item", callback=item_id),
    click.option(
        "--version", type=click.IntRange(min=1), help="The item's version that you saw; else its present one."
    ),
    click.option("--fence", type=click.IntRange(min=1), help="Fence of your claim; else that of the claim you hold."),
    click.option("--key", metavar="KEY", callback=same_key, help="Idempotency key: repeat an act with its first key."),
)


async def run_act(
    at: SignedIn,
    item: str,
    use_case: str,
    inputs: Mapping[str, str],
    *,
    version: int | None,
    fence: int | None,
    key: str | None,
) -> Shown:
    """Run `use_case` (id or verb) on `item` with typed `inputs`; exit code 1 where its outcome is not *done*."""
    detail = await client.item(at.service, item)
    case = await _find(at, detail, use_case)
    holder = detail.item.holder
    mine = detail.item.fence if holder is not None and holder.id == at.session.person.id else None
    order = ActOrder(
        money_version=version or detail.item.money_version,
        fence=fence or mine,
        inputs={name: _read(at, _declared(case, name), text) for name, text in inputs.items()},
    )
    once = key or client.new_key()
    read = {declared.name: order.inputs.get(declared.name) for declared in case.inputs if _resolved(declared)}
    carried = {"version": order.money_version, "fence": order.fence, **read}
    answer = await sure(client.act(at.service, item, case.id, order, once), once, **carried)
    code = DONE if answer.outcome is OutcomeKind.DONE else REFUSED
    return Shown(answer=answer, lines=plain.acted_lines(answer, at.settings.zone), code=code, acted=True)


async def _find(at: SignedIn, detail: ItemDetail, use_case: str) -> UseCase:
    known = await client.queues(at.service)
    cases = next((queue.use_cases for queue in known.queues if queue.id == detail.item.queue), ())
    for case in cases:
        if use_case in (case.id, case.id.rpartition(".")[2]):
            return case
    names = ", ".join(case.id for case in cases)
    fail(f"{detail.item.queue} has no use case {use_case}; it has: {names}", USAGE)


def _declared(case: UseCase, name: str) -> UseCaseInput:
    for declared in case.inputs:
        if declared.name == name:
            return declared
    names = ", ".join(declared.name for declared in case.inputs) or "none"
    fail(f"{case.id} takes no input {name}; its inputs: {names}", USAGE)


def _resolved(declared: UseCaseInput) -> bool:
    """Whether what was typed may mean something else at the next run (`+2d`)."""
    return declared.type is InputType.INSTANT


def _read(at: SignedIn, declared: UseCaseInput, text: str) -> InputValue:
    """The typed text as the declared type."""
    if declared.type is InputType.BOOLEAN:
        if text not in ("true", "false"):
            fail(f"{declared.name} is true or false, not {text!r}", USAGE)
        return text == "true"
    if declared.type is InputType.INTEGER:
        try:
            return int(text)
        except ValueError:
            fail(f"{declared.name} is a whole number, not {text!r}", USAGE)
    if declared.type is InputType.INSTANT:
        typed = read_instant(text, at.settings.zone, at.service.clock.server_now() or at.session.now)
        if typed.instant is None:
            fail(f"{declared.name}: {typed.sentence}", USAGE)
        return typed.instant.replace(microsecond=0).isoformat()
    return text


def act_options(callback: Callable[..., Any]) -> Callable[..., Any]:
    """ITEM, --version, --fence and --key on a callback."""
    for option in reversed(ACT_OPTIONS):
        callback = option(callback)
    return callback


@act_options
@click.argument("use_case")
@click.option("--input", "inputs", metavar="NAME=VALUE", multiple=True, help="An input of the use case; repeat it.")
@twin
async def act(at: SignedIn, item: str, use_case: str, inputs: tuple[str, ...], **options: Any) -> Shown:
    """Do to ITEM what USE_CASE says (its id, or its last word)."""
    given: dict[str, str] = {}
    for text in inputs:
        name, sign, value = text.partition("=")
        if not sign:
            fail(f"--input is NAME=VALUE, not {text!r}", USAGE)
        given[name] = value
    return await run_act(at, item, use_case, given, **options)


@act_options
@REASON
@twin
async def reject(at: SignedIn, item: str, reason: str, **options: Any) -> Shown:
    """Reject ITEM: it will not be paid."""
    return await run_act(at, item, "reject", {"reason": reason}, **options)


@act_options
@click.option("--until", required=True, metavar="WHEN", help=f"{EXAMPLES}.")
@REASON
@twin
async def set_aside(at: SignedIn, item: str, until: str, reason: str, **options: Any) -> Shown:
    """Keep ITEM out of the waiting list until WHEN."""
    return await run_act(at, item, "set-aside", {"until": until, "reason": reason}, **options)


@act_options
@click.option("--text", required=True, help="The note.")
@twin
async def note(at: SignedIn, item: str, text: str, **options: Any) -> Shown:
    """Write a note on ITEM."""
    return await run_act(at, item, "note", {"text": text}, **options)


@act_options
@click.option("--colleague", required=True, metavar="PERSON", help="Who is to hold it.")
@REASON
@twin
async def hand_over(at: SignedIn, item: str, colleague: str, reason: str, **options: Any) -> Shown:
    """Hand ITEM to a colleague."""
    return await run_act(at, item, "hand-over", {"colleague": colleague, "reason": reason}, **options)


@act_options
@REASON
@twin
async def resolve(at: SignedIn, item: str, reason: str, **options: Any) -> Shown:
    """Resolve ITEM: nothing is left to do."""
    return await run_act(at, item, "resolve", {"reason": reason}, **options)


@act_options
@click.option("--question", required=True, help="What is needed.")
@twin
async def ask_evidence(at: SignedIn, item: str, question: str, **options: Any) -> Shown:
    """Ask for evidence on ITEM."""
    return await run_act(at, item, "ask-evidence", {"question": question}, **options)


ACTS: tuple[tuple[str, Callable[..., Any]], ...] = (
    ("act", act),
    ("reject", reject),
    ("set-aside", set_aside),
    ("note", note),
    ("hand-over", hand_over),
    ("resolve", resolve),
    ("ask-evidence", ask_evidence),
)
"""Name and callback of each, for the `queues` group."""
