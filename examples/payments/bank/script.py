"""Owns the script that makes the bank behave badly: rules, which request each applies to, and how often it did.

Kept in memory alone. Never books and never answers; the teller does what a rule says.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from examples.payments.bank.orders import (
    ACCOUNT_MOST,
    KEY_MOST,
    MessageRefused,
    PaymentOrder,
    members_of,
    text_of,
    whole_of,
)
from jobcontract.ids import NAME_MAX, REASON_MAX

RULES_MOST = 1_000
SECONDS_MOST = 3_600
MATCHES = ("key", "account", "minor", "currency", "payee")
"""What of an order a rule can name; each is compared as a whole."""
REASON = "The bank does not make this payment."
"""The reason of a rule that states none."""


class Do(StrEnum):
    """What a rule makes the bank do."""

    SLOW = "slow"
    """Wait, then go on with the rules below it."""
    REFUSE = "refuse"
    """Refuse for good: kept in the ledger."""
    LOSE_BEFORE = "lose-before"
    """Close the connection without an answer; nothing is booked."""
    LOSE_AFTER = "lose-after"
    """Book, then close the connection without an answer."""
    BUSY = "busy"
    """503 with `Retry-After`; nothing is booked."""
    TWICE = "twice"
    """Take the same request in twice, as a network does that delivers it twice."""
    SILENT = "silent"
    """Close a look-up without an answer."""
    LATE = "late"
    """Settle a file, and acknowledge it only so many seconds later."""


class Of(StrEnum):
    """What a rule is about."""

    PAYMENT = "payment"
    FILE = "file"


_TIMED = frozenset({Do.SLOW, Do.BUSY, Do.LATE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """One rule; an empty `match` is every request of what it is about."""

    do: Do
    of: Of = Of.PAYMENT
    match: Mapping[str, object] = field(default_factory=dict)
    seconds: float | None = None
    """How long to wait (slow), to ask the other side to wait (busy), or until a file is acknowledged (late)."""
    reason: str | None = None
    times: int | None = None
    """How many requests it applies to; None = all."""

    def fits(self, request: Mapping[str, object]) -> bool:
        """Whether every member that it names is equal in the request."""
        return all(name in request and request[name] == value for name, value in self.match.items())

    def message(self) -> dict[str, object]:
        """The rule as it was written."""
        told: dict[str, object] = {"match": dict(self.match), "do": self.do.value}
        more = {
            "of": None if self.of is Of.PAYMENT else self.of.value,
            "seconds": self.seconds,
            "reason": self.reason,
            "times": self.times,
        }
        return told | {name: value for name, value in more.items() if value is not None}


class Script:
    """The rules in force, from top to bottom, with how often each was applied. Safe for several threads."""

    def __init__(self, rules: Sequence[Rule] = ()) -> None:
        self._lock = threading.Lock()
        self._rules = tuple(rules)
        self._applied = [0] * len(self._rules)

    def replace(self, rules: Sequence[Rule]) -> None:
        """Put these rules in force and start their counts anew."""
        with self._lock:
            self._rules = tuple(rules)
            self._applied = [0] * len(self._rules)

    def for_payment(self, order: PaymentOrder) -> tuple[Rule, ...]:
        """The rules that this request meets, counted: any number of `slow`, then at most one other."""
        return self._take(order.message(), Of.PAYMENT, look_up=False)

    def for_look_up(self, key: str) -> Rule | None:
        """The rule that this look-up meets, counted."""
        return next(iter(self._take({"key": key}, Of.PAYMENT, look_up=True)), None)

    def for_file(self, key: str) -> tuple[Rule, ...]:
        """The rules that a file meets, counted: as `for_payment`."""
        return self._take({"key": key}, Of.FILE, look_up=False)

    def for_file_look_up(self, key: str) -> Rule | None:
        """The rule that a look-up of a file meets, counted."""
        return next(iter(self._take({"key": key}, Of.FILE, look_up=True)), None)

    def message(self) -> dict[str, object]:
        """The rules as they were written, and how often each was applied, in the same order."""
        with self._lock:
            return {"rules": [rule.message() for rule in self._rules], "applied": list(self._applied)}

    def _take(self, request: Mapping[str, object], of: Of, *, look_up: bool) -> tuple[Rule, ...]:
        taken: list[Rule] = []
        with self._lock:
            for at, rule in enumerate(self._rules):
                spent = rule.times is not None and self._applied[at] >= rule.times
                if spent or rule.of is not of or (rule.do is Do.SILENT) is not look_up or not rule.fits(request):
                    continue
                self._applied[at] += 1
                taken.append(rule)
                if rule.do is not Do.SLOW:
                    break
        return tuple(taken)


def read_rules(message: object) -> tuple[Rule, ...]:
    """The rules of a script; MessageRefused says which rule is wrong (counted from 1) and how."""
    if not isinstance(message, list) or len(message) > RULES_MOST:
        raise MessageRefused(f"A script is a JSON list of at most {RULES_MOST:,} rules.")
    rules = []
    for number, each in enumerate(message, 1):
        try:
            rules.append(_rule(each))
        except MessageRefused as error:
            raise MessageRefused(f"Rule {number}: {error}") from None
    return tuple(rules)


def _rule(message: object) -> Rule:
    members = members_of(message, needed=("do",), may=("of", "match", "seconds", "reason", "times"), what="A rule")
    try:
        do = Do(str(members["do"]))
    except ValueError:
        raise MessageRefused(f"`do` is one of {', '.join(Do)}.") from None
    try:
        of = Of(str(members.get("of", Of.PAYMENT)))
    except ValueError:
        raise MessageRefused(f"`of` is one of {', '.join(Of)}.") from None
    if do is Do.LATE and of is not Of.FILE:
        raise MessageRefused("`late` is of a file: say `of: file`.")
    reason = members.get("reason")
    if reason is not None and do is not Do.REFUSE:
        raise MessageRefused("`reason` belongs to `refuse` alone.")
    return Rule(
        do=do,
        of=of,
        match=_match(members.get("match", {}), do, of),
        seconds=_seconds(members.get("seconds"), do),
        reason=None if reason is None else text_of(reason, "reason", most=REASON_MAX),
        times=_times(members.get("times")),
    )


def _match(message: object, do: Do, of: Of) -> Mapping[str, object]:
    if do is Do.SILENT or of is Of.FILE:
        what = "a file" if of is Of.FILE else "`silent`"
        match = members_of(message, needed=(), may=("key",), what=f"`match` of {what}, which knows the key alone,")
    else:
        match = members_of(message, needed=(), may=MATCHES, what="`match`")
    longest = {"key": KEY_MOST, "account": ACCOUNT_MOST, "payee": NAME_MAX, "currency": 3}
    for name, value in match.items():
        if name == "minor":
            whole_of(value, name)
        else:
            text_of(value, name, most=longest[name])
    return match


def _seconds(value: object, do: Do) -> float | None:
    if value is None and do not in (Do.SLOW, Do.LATE):
        return None
    if do not in _TIMED:
        raise MessageRefused("`seconds` belongs to `slow`, `busy` and `late` alone.")
    whole = do is Do.BUSY
    if type(value) not in ((int,) if whole else (int, float)):
        raise MessageRefused(f"`seconds` of `{do}` is a {'whole ' if whole else ''}number.")
    assert isinstance(value, int | float)  # noqa: S101  # said by the line above
    if not 0 <= value <= SECONDS_MOST:
        raise MessageRefused(f"`seconds` is 0 to {SECONDS_MOST:,}.")
    return value


def _times(value: object) -> int | None:
    if value is None:
        return None
    times = whole_of(value, "times")
    if times < 1:
        raise MessageRefused("`times` is 1 or more; leave it out for every request.")
    return times
