"""Owns what the content of a work item may be, when it counts as changed, and how a change is told to a person.

Pure. An account is never told whole: its last four characters, and whether it is another one (MONEY.md 7, 8).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from jobcontract.filters import folded_words
from jobcontract.ids import ACCOUNT_LEAST, KEY_MAX, NAME_MAX, addressable, storable, visible
from jobcontract.items import Change
from jobcontract.money import EXPONENTS, Money, MoneyError, exponent, show
from jobcontract.states import ItemState
from jobservice.rules.inputs import YEARS, InputValue
from jobservice.rules.queues import Queue

PAYLOAD_DEPTH = 32
"""Most levels of nesting in a payload."""
NOTHING = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Payment:
    """The money side of an item: minor units, ISO 4217 code, payee, destination account."""

    minor: int
    currency: str
    payee_id: str
    payee_name: str
    account: str

    @property
    def last4(self) -> str:
        """The only part of the account that a person sees: at most half of it, see `payment_faults`."""
        return self.account[-4:]


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What the pusher says of an item, without its business key and payload: all of it raises the version."""

    title: str
    payment: Payment | None
    inputs: Mapping[str, InputValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """An item as one money_version knew it."""

    number: int
    state: ItemState
    set_aside_until: datetime | None
    content: Content


def searched_words(content: Content, key: str) -> str:
    """What a search looks in: casefolded words of title, payee, key, payee id and last four, a blank before each."""
    payment = content.payment
    texts = [content.title, key]
    if payment is not None:
        texts[1:1] = [payment.payee_name, payment.payee_id, payment.last4]
    return "".join(f" {word}" for text in texts for word in folded_words(text))


def standing_state(state: ItemState, set_aside_until: datetime | None, now: datetime) -> ItemState:
    """The state a person sees: an open item whose time has not come is set aside."""
    if state.closed or set_aside_until is None or set_aside_until <= now:
        return state
    return ItemState.SET_ASIDE


def payment_faults(queue: Queue, payment: Payment | None) -> Iterator[str]:
    """What is wrong with the money side; a queue with money wants one, a queue without refuses it.

    Credits (negative) are legal; zero pays nobody anything and is refused.
    """
    if payment is None:
        if queue.money:
            yield f"An item of {queue.id} needs `amount` and `payee`."
        return
    if not queue.money:
        yield f"{queue.id} carries no money: leave out `amount` and `payee`."
        return
    try:
        exponent(payment.currency)
        Money(minor=payment.minor, currency=payment.currency)
    except MoneyError as wrong:
        yield f"`amount`: {wrong}."
    else:
        if payment.minor == 0:
            yield "`amount`: an amount of zero pays nobody anything."
    account = payment.account
    if not (ACCOUNT_LEAST <= len(account) <= 64 and account.isascii() and account.isalnum()):
        yield f"`payee.account` is {ACCOUNT_LEAST} to 64 letters and digits: its last four are shown, the rest is not."


def text_faults(**texts: str | None) -> Iterator[str]:
    """What is wrong with short texts: empty, too long, not storable; a title or name with nothing to see; a key that no
    address can carry. Names are the fields' own."""
    for name, text in texts.items():
        most = KEY_MAX if name in ("key", "customer", "workspace", "payee_id") else NAME_MAX
        if text is not None and not (0 < len(text) <= most and storable(text)):
            yield f"`{name}` is 1 to {most} characters, without NUL or lone surrogates."
        elif text is not None and name in ("title", "payee_name") and not visible(text):
            yield f"`{name}` must hold a character that can be seen."
        elif text is not None and name == "key" and not addressable(text):
            yield "`key` is part of an address: no control character in it, and no `.` or `..` between slashes."


def created_faults(created: datetime | None) -> Iterator[str]:
    """What is wrong with an item's own date: it needs an offset and a year of this system."""
    if created is not None and (created.tzinfo is None or created.year not in YEARS[1:-1]):
        yield f"`created` is an instant with an offset, from {YEARS[1]} to {YEARS[-2]}."


def payload_size(payload: Mapping[str, object]) -> int | None:
    """Bytes of the payload as UTF-8 JSON; None where it is not JSON that can be kept, or nested too deep."""
    if not _keepable(payload):
        return None
    try:
        return len(json.dumps(payload, ensure_ascii=False, allow_nan=False).encode())
    except (TypeError, ValueError):
        return None


def _keepable(value: object) -> bool:
    """Whether every text is storable and nothing is nested deeper than `PAYLOAD_DEPTH`; walks without recursion."""
    level: list[object] = [value]
    for _ in range(PAYLOAD_DEPTH):
        below: list[object] = []
        for each in level:
            if isinstance(each, str) and not storable(each):
                return False
            if isinstance(each, Mapping):
                below += [*each.keys(), *each.values()]
            elif isinstance(each, list | tuple):
                below += each
        if not below:
            return True
        level = below
    return False


def changes(before: Version, after: Version) -> tuple[Change, ...]:
    """What differs between two versions, as text to show: money by the currency's own digits, accounts by last four."""
    told = _told(before)
    return tuple(
        Change(field=name, before=told.get(name, NOTHING), after=_another(name, before, after, text))
        for name, text in _told(after).items()
        if told.get(name, NOTHING) != text or (name == "account" and _account(before) != _account(after))
    ) + tuple(Change(field=name, before=text, after=NOTHING) for name, text in told.items() if name not in _told(after))


def _told(version: Version) -> dict[str, str]:
    until = version.set_aside_until
    told = {
        "title": version.content.title,
        "state": version.state.value,
        "set aside until": NOTHING if until is None else f"{until:%Y-%m-%d %H:%M} UTC",
    }
    payment = version.content.payment
    if payment is not None:
        told["amount"] = _amount(payment)
        told["payee"] = f"{payment.payee_name} ({payment.payee_id})"
        told["account"] = f"…{payment.last4}"
    return told | {f"input {name}": _value(value) for name, value in version.content.inputs.items()}


def _amount(payment: Payment) -> str:
    if payment.currency not in EXPONENTS:
        return f"{payment.minor} minor units of {payment.currency}"
    return show(Money(minor=payment.minor, currency=payment.currency))


def _value(value: InputValue) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def _account(version: Version) -> str | None:
    return None if version.content.payment is None else version.content.payment.account


def _another(name: str, before: Version, after: Version, text: str) -> str:
    same_end = name == "account" and _told(before).get("account") == text
    return f"{text} (another account)" if same_end and _account(before) != _account(after) else text
