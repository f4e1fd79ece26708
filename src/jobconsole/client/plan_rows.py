"""Owns the rows of a plan as the console keeps fifty thousand of them, and reading a page of them quickly.

A row is a slim value and no wire model: building models of a whole plan takes seconds. Every member that is shown or
hashed is checked here all the same; nothing of a page is taken that does not have its type.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from typing import Any, overload

from pydantic_core import from_json

from jobconsole.client.errors import ServiceAway
from jobcontract.items import Amount, InputValue, Payee
from jobcontract.plan_digest import DigestRow
from jobcontract.states import Turn, Warned

_INPUTS = (str, int, bool)
_AT_INPUTS = 10
"""Where the inputs stand in a kept row: names and values by turns."""


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


class PlanRows(Sequence[PlanRow]):
    """Rows in order, each kept as a tuple of plain values and made a `PlanRow` when it is asked for.

    The garbage collector lets go of such a tuple for good: walking through fifty thousand objects, or tuples with a
    mapping in them, would cost the screen a pause of tens of milliseconds at each full collection.
    """

    def __init__(self) -> None:
        self._kept: list[tuple[Any, ...]] = []

    def add(self, kept: tuple[Any, ...]) -> None:
        """Put the next row at the end, as `read_rows` gives it."""
        self._kept.append(kept)

    def __len__(self) -> int:
        return len(self._kept)

    @overload
    def __getitem__(self, at: int) -> PlanRow: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[PlanRow]: ...
    def __getitem__(self, at: int | slice) -> PlanRow | Sequence[PlanRow]:
        if isinstance(at, slice):
            return [_made(kept) for kept in self._kept[at]]
        return _made(self._kept[at])


def read_rows(items: list[Any], address: str) -> Iterator[tuple[tuple[Any, ...], DigestRow]]:
    """Each row, as `PlanRows` keeps it, with what of it goes through the digest; ServiceAway at the first that cannot be read."""
    for given in items:
        try:
            yield _row(given)
        except (KeyError, TypeError, ValueError):
            number = given.get("number") if isinstance(given, dict) else None
            raise _unreadable(address, f"row {number}" if type(number) is int else "a row") from None


def _made(kept: tuple[Any, ...]) -> PlanRow:
    inputs = kept[_AT_INPUTS]
    named = dict(zip(inputs[::2], inputs[1::2], strict=True))
    return PlanRow(*(*kept[:_AT_INPUTS], named, *kept[_AT_INPUTS + 1 :]))


def _row(given: Any) -> tuple[tuple[Any, ...], DigestRow]:
    amount, payee, key, inputs = given["amount"], given["payee"], given["key"], given["inputs"]
    hashed = DigestRow(
        item=_text(given["item"]),
        money_version=_whole(given["money_version"]),
        key="" if key is None else _text(key),
        title=_text(given["title"]),
        minor=_whole(amount["minor"]),
        currency=_text(amount["currency"]),
        exponent=_whole(amount["exponent"]),
        payee_id=_text(payee["id"]),
        payee_name=_text(payee["name"]),
        account_last4=_text(payee["account_last4"]),
        account_mark=_text(given["account_mark"]),
    )
    kept = (
        _whole(given["number"]),
        hashed.item,
        key,
        hashed.title,
        hashed.minor,
        hashed.currency,
        hashed.exponent,
        hashed.payee_id,
        hashed.payee_name,
        hashed.account_last4,
        tuple(chain.from_iterable(_mapping(inputs).items())),
        hashed.money_version,
        tuple(map(_text, given["warnings"])),
        _text(given["turn"]),
        _whole(given["attempts"]),
        _perhaps(given["sentence"]),
        _perhaps(given["reference"]),
        _perhaps(given["ended_at"]),
    )
    return kept, hashed


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


def _mapping(given: Any) -> dict[str, Any]:
    if type(given) is not dict or not all(value is None or type(value) in _INPUTS for value in given.values()):
        raise TypeError
    return given


def _unreadable(address: str, where: str) -> ServiceAway:
    return ServiceAway(f"The answer of {address} cannot be read as a page of a plan: {where}.")
