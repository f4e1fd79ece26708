"""Owns the headless twins of scores: `explain` and `what-if`. Neither changes anything; each runs the function of
`client/` that the screen runs, and reads what was typed by the same rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

import click

from jobconsole.cli_connection import USAGE, Shown, SignedIn, fail, item_id, twin
from jobconsole.client import scores as client
from jobconsole.present.plain_scores import explanation_lines, what_if_lines
from jobconsole.present.what_if import (
    AGE_EXAMPLE,
    AMOUNT_EXAMPLE,
    Unreadable,
    input_key,
    read_age,
    read_input,
    read_money,
)
from jobcontract.items import Explanation, NewAmount, WhatIf
from jobcontract.scores import Rule, RuleInput

ITEM = click.argument("item", callback=item_id)


@ITEM
@twin
async def explain(at: SignedIn, item: str) -> Shown:
    """Why ITEM stands where it stands: its score part by part, its neighbours, the rule."""
    answer = await client.explanation(at.service, item)
    return Shown(answer=answer, lines=explanation_lines(answer, at.settings.zone))


@ITEM
@click.option("--input", "inputs", metavar="NAME=VALUE", multiple=True, help="An input of the rule; repeat it.")
@click.option("--amount", metavar="AMOUNT", help=f"Another amount, {AMOUNT_EXAMPLE}.")
@click.option("--age", metavar="AGE", help=f"Another age, {AGE_EXAMPLE}.")
@twin
async def what_if(at: SignedIn, item: str, inputs: tuple[str, ...], amount: str | None, age: str | None) -> Shown:
    """Which score and place ITEM would have with other inputs. Nothing is saved."""
    if not inputs and amount is None and age is None:
        fail("say what is to be supposed: --amount, --age, or --input NAME=VALUE", USAGE)
    explanation = await client.explanation(at.service, item)
    rule = explanation.rule
    if rule is None:
        fail(f"{explanation.item.queue} has no rule: its oldest item is first, and no input moves it", USAGE)
    supposed = _what_if(at, explanation, rule, inputs, amount, age)
    answer = await client.what_if(at.service, item, supposed)
    return Shown(answer=answer, lines=what_if_lines(explanation, answer, at.settings.zone))


def _what_if(
    at: SignedIn, explanation: Explanation, rule: Rule, inputs: tuple[str, ...], amount: str | None, age: str | None
) -> WhatIf:
    """What was typed, as the service is asked about it; wrong usage ends the command and names the option."""
    own = explanation.item.amount
    try:
        where = "--amount"
        money = read_money(amount, own.currency if own is not None else None) if amount is not None else None
        where = "--age"
        created = read_age(age, at.settings.zone, _now(at)) if age is not None else None
        given: dict[str, bool | int | str] = {}
        for text in inputs:
            where = f"--input {text.partition('=')[0]}"
            name, value = _named(rule, text)
            given[name] = value
    except Unreadable as wrong:
        fail(f"{where}: {wrong}", USAGE)
    return WhatIf(
        amount=NewAmount(minor=money.minor, currency=money.currency) if money is not None else None,
        created=created,
        inputs=given,
    )


def _named(rule: Rule, text: str) -> tuple[str, bool | int | str]:
    """The item's own name of an input, and its value. Raises `Unreadable`."""
    name, sign, value = text.partition("=")
    if not sign:
        raise Unreadable(f"write NAME=VALUE, not {text[:40]!r}.")
    known: Mapping[str, RuleInput] = {
        key: declared
        for declared in rule.inputs
        if (own := input_key(declared)) is not None
        for key in (declared.name, own)
    }
    if name not in known:
        names = ", ".join(sorted(known)) or "none"
        raise Unreadable(f"{rule.id} takes no such input; there is: {names}. Amount and age have options of their own.")
    declared = known[name]
    if not value.strip():
        raise Unreadable("say a value; what is left out stays as it is.")
    return input_key(declared) or name, read_input(declared, value)


def _now(at: SignedIn) -> datetime:
    return at.service.clock.server_now() or at.session.now


SCORES: tuple[tuple[str, Callable[..., Any]], ...] = (("explain", explain), ("what-if", what_if))
"""Name and callback of each, for the `queues` group."""
