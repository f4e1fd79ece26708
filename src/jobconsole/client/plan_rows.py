"""Owns the rows of a plan as the console keeps fifty thousand of them, and reading a page of them quickly.

A row is a slim value and no wire model: building models of a whole plan takes seconds. Every member that is shown or
hashed is checked here all the same; nothing of a page is taken that does not have its type.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic_core import from_json

from jobconsole.client.errors import ServiceAway
from jobcontract.items import Amount, InputValue, Payee
from jobcontract.plan_digest import DigestRow
from jobcontract.states import Turn, Warned


@dataclass(slots=True, eq=False)
class PlanRow:
    """One row of a plan: what `PlanItem` says, flat. `ended` and `inputs` are as they came."""

    number: int
    item: str
    key: str | None
    title: str
    minor: int
    currency: str
    exponent: int
    payee_id: str
    payee_name: str
    account_last4: str
    inputs: Mapping[str, InputValue | None]
    money_version: int
    warned: tuple[str, ...]
    turn_word: str
    attempts: int
    sentence: str | None
    reference: str | None
    ended: str | None

    @property
    def amount(self) -> Amount:
        """The amount, as a wire model for whatever shows one."""
        return Amount(minor=self.minor, currency=self.currency, exponent=self.exponent)

    @property
    def payee(self) -> Payee:
        """The payee, as a wire model."""
        return Payee(id=self.payee_id, name=self.payee_name, account_last4=self.account_last4)

    @property
    def turn(self) -> Turn | None:
        """How far it is; None for a word of a newer service (`turn_word` has it)."""
        try:
            return Turn(self.turn_word)
        except ValueError:
            return None

    @property
    def warnings(self) -> tuple[Warned, ...]:
        """What is odd about it; words of a newer service left out (`warned` has them)."""
        known = {word.value for word in Warned}
        return tuple(Warned(word) for word in self.warned if word in known)

    @property
    def ended_at(self) -> datetime | None:
        """When its turn ended."""
        return datetime.fromisoformat(self.ended) if self.ended is not None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class RawPage:
    """A page of rows that are not read yet."""

    edition: int
    items: list[Any]
    next: str | None


def read_page(body: bytes, address: str) -> RawPage:
    """The page in a body; ServiceAway where it is none."""
    try:
        page = from_json(body, cache_strings="keys")
        edition, listed, following = page["edition"], page["items"], page["next"]
    except (ValueError, KeyError, TypeError):
        raise _unreadable(address, "the whole") from None
    if type(edition) is not int or type(listed) is not list or not (following is None or type(following) is str):
        raise _unreadable(address, "edition, items or next")
    return RawPage(edition=edition, items=listed, next=following)


def read_rows(items: list[Any], address: str) -> Iterator[tuple[PlanRow, DigestRow]]:
    """Each row with what of it goes through the digest; ServiceAway at the first that cannot be read."""
    for given in items:
        try:
            yield _row(given)
        except (KeyError, TypeError, ValueError):
            number = given.get("number") if isinstance(given, dict) else None
            raise _unreadable(address, f"row {number}" if type(number) is int else "a row") from None


def _row(given: Any) -> tuple[PlanRow, DigestRow]:
    amount, payee = given["amount"], given["payee"]
    key = given["key"]
    row = PlanRow(
        _whole(given["number"]),
        _text(given["item"]),
        None if key is None else _text(key),
        _text(given["title"]),
        _whole(amount["minor"]),
        _text(amount["currency"]),
        _whole(amount["exponent"]),
        _text(payee["id"]),
        _text(payee["name"]),
        _text(payee["account_last4"]),
        _mapping(given["inputs"]),
        _whole(given["money_version"]),
        tuple(map(_text, given["warnings"])),
        _text(given["turn"]),
        _whole(given["attempts"]),
        _perhaps(given["sentence"]),
        _perhaps(given["reference"]),
        _perhaps(given["ended_at"]),
    )
    hashed = DigestRow(
        item=row.item,
        money_version=row.money_version,
        key=row.key or "",
        title=row.title,
        minor=row.minor,
        currency=row.currency,
        exponent=row.exponent,
        payee_id=row.payee_id,
        payee_name=row.payee_name,
        account_last4=row.account_last4,
        account_mark=_text(given["account_mark"]),
    )
    return row, hashed


def _text(given: Any) -> str:
    if type(given) is not str:
        raise TypeError
    return given


def _perhaps(given: Any) -> str | None:
    return None if given is None else _text(given)


def _whole(given: Any) -> int:
    if type(given) is not int:
        raise TypeError
    return given


def _mapping(given: Any) -> Mapping[str, InputValue | None]:
    if type(given) is not dict:
        raise TypeError
    for value in given.values():
        if not (value is None or type(value) in (str, int, bool)):
            raise TypeError
    return given


def _unreadable(address: str, where: str) -> ServiceAway:
    return ServiceAway(f"The answer of {address} cannot be read as a page of a plan: {where}.")
