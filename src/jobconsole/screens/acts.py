"""Owns what every act of an operator shares: from where it is asked, and its headless command with where it is run.

An act is asked in an order's dialog (`order_form`); what it says before stands in `present/acts`, and it runs the function
of `client/acts` that the headless twin runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from jobconsole.present.equivalent import equivalent
from jobconsole.screens.order_form import Given, Order, asked

if TYPE_CHECKING:
    from jobconsole.screens.place import PlaceScreen

R = TypeVar("R")
Options = Callable[[Given], Mapping[str, str | None]]
"""The options of a headless command by name, from what was typed; None: left out."""
WHY = "Why; everybody who sees it reads it"


def where_of(screen: PlaceScreen) -> Mapping[str, str]:
    """The options without which a shell would act elsewhere: profile and tenant, where there is a choice."""
    shell = screen.shell
    where: dict[str, str] = {}
    if shell.frame.profile not in ("", "default"):
        where["profile"] = shell.frame.profile
    if shell.situation(screen.PLACE).tenants > 1 and shell.tenant:
        where["tenant"] = shell.tenant
    return where


def reason_alone(given: Given) -> Mapping[str, str | None]:
    """The options of most acts: the reason."""
    return {"reason": given.reason}


def command_of(screen: PlaceScreen, words: Sequence[str], options: Options = reason_alone) -> Callable[[Given], str]:
    """The headless command with what was typed, run where this console is."""
    where = where_of(screen)
    return lambda given: equivalent(words, options(given), where=where)


async def acted(screen: PlaceScreen, order: Order[R], said: Callable[[R], str]) -> R | None:
    """Asks what the order asks for, sends it, and says what became of it; None where it was given up."""
    answer = await asked(screen, order)
    if answer is not None:
        screen.say(said(answer))
    return answer
