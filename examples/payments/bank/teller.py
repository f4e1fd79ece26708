"""Owns what the bank answers to each request: the ledger decides, the script makes it misbehave.

Answers: 201 booked now, 200 booked before, 402 refused by the bank for good (status and content are the same when it is
asked again; other content is looked at anew), 409 the key was booked with other content, 503 busy, 422 a wrong message,
404 a key never seen, 500 the ledger cannot be written. Files are answered alike; a refused one is looked at anew when it
comes again. No answer at all is `None`. Never speaks HTTP itself.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from examples.payments.bank.files import FileOrder, FileRefused, read_file
from examples.payments.bank.ledger import Booking, Entry, FileKeyTaken, KeyTaken, Ledger, LedgerRefused
from examples.payments.bank.orders import MessageRefused, PaymentOrder, read_order
from examples.payments.bank.script import REASON, Do, Rule, Script, read_rules
from jobcontract.money import totals

FILE_REASON = "The bank does not take this file."
"""The reason of a rule about files that states none."""
BUSY_SECONDS = 1
"""What a busy bank asks to wait where its rule does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What is answered: an HTTP status and the members of a JSON object."""

    status: int
    body: Mapping[str, object]
    headers: Mapping[str, str] = field(default_factory=dict)


class Teller:
    """Takes the requests of several threads. `stopping` ends every wait."""

    def __init__(self, ledger: Ledger, script: Script) -> None:
        self._ledger = ledger
        self._script = script
        self._lock = threading.Lock()
        self._deliveries: Counter[str] = Counter()
        self.stopping = threading.Event()

    def pay(self, message: object) -> Answer | None:
        """Book an order once for its key, or what the script wants instead; None = close without an answer."""
        try:
            order = read_order(message)
        except MessageRefused as error:
            return _wrong(error)
        self._delivered(order.key)
        waited, last = self._wait(self._script.for_payment(order))
        return self._follow(last, order) if waited else None

    def settle(self, message: object) -> Answer | None:
        """Settle a file once for its key, or what the script wants instead; None = close without an answer."""
        try:
            order = read_file(message)
        except MessageRefused as error:
            return _wrong(error)
        self._delivered(order.key)
        waited, last = self._wait(self._script.for_file(order.key))
        return self._follow_file(last, order) if waited else None

    def look_up_file(self, key: str) -> Answer | None:
        """What is known of a file by its key; None = close without an answer."""
        if self._script.for_file_look_up(key) is not None:
            return None
        try:
            entry = self._ledger.find_file(key)
        except LedgerRefused as error:
            return _broken(error)
        if entry is None:
            return Answer(status=404, body={"unknown": True})
        return Answer(status=200, body={**entry.told(self._ledger.now), "repeated": True})

    def look_up(self, key: str) -> Answer | None:
        """What is known of an outward key; None = close without an answer."""
        if self._script.for_look_up(key) is not None:
            return None
        try:
            entry = self._ledger.find(key)
        except LedgerRefused as error:
            return _broken(error)
        if entry is None:
            return Answer(status=404, body={"unknown": True})
        return Answer(status=200, body=_known(entry, repeated=True))

    def ledger(self) -> Answer:
        """The whole ledger in its order, totals per currency, how often each key was ordered since the start, and
        what is known last of each file."""
        try:
            entries = self._ledger.entries()
        except LedgerRefused as error:
            return _broken(error)
        bookings = [entry for entry in entries if isinstance(entry, Booking)]
        with self._lock:
            deliveries = dict(self._deliveries)
        files = self._ledger.files()
        body = {
            "bookings": [booking.message() for booking in bookings],
            "refusals": [entry.message() for entry in entries if not isinstance(entry, Booking)],
            "totals": [
                {
                    "currency": total.currency,
                    "out_minor": total.out_minor,
                    "out_count": total.out_count,
                    "back_minor": total.back_minor,
                    "back_count": total.back_count,
                }
                for total in totals(booking.order.money for booking in bookings)
            ],
            "deliveries": deliveries,
            "files": [entry.message() for entry in files],
        }
        return Answer(status=200, body=body)

    def script(self) -> Answer:
        """The rules in force and how often each was applied."""
        return Answer(status=200, body=self._script.message())

    def replace_script(self, message: object) -> Answer:
        """Put the rules of a list in force, in place of those before; an empty list clears them."""
        try:
            self._script.replace(read_rules(message))
        except MessageRefused as error:
            return _wrong(error)
        return self.script()

    def _wait(self, rules: Sequence[Rule]) -> tuple[bool, Rule | None]:
        """Wait as the rules say: False where the bank stops meanwhile; and the last rule, to follow."""
        last: Rule | None = None
        for rule in rules:
            last = rule
            if rule.do is Do.SLOW and self.stopping.wait(rule.seconds):
                return False, None
        return True, last

    def _follow_file(self, rule: Rule | None, order: FileOrder) -> Answer | None:
        match None if rule is None else rule.do:
            case Do.LOSE_BEFORE:
                return None
            case Do.BUSY:
                return _busy(rule)
            case Do.LOSE_AFTER:
                self._enter_file(order)
                return None
            case Do.TWICE:
                first = self._enter_file(order)
                self._delivered(order.key)
                self._enter_file(order)
                return first
            case _:
                return self._enter_file(order, rule)

    def _enter_file(self, order: FileOrder, rule: Rule | None = None) -> Answer:
        refuse = rule is not None and rule.do is Do.REFUSE
        late = rule.seconds if rule is not None and rule.do is Do.LATE and rule.seconds is not None else 0.0
        reason = (rule and rule.reason) or FILE_REASON
        try:
            if refuse:
                entry, repeated = self._ledger.refuse_file(order, reason)
            else:
                entry, repeated = self._ledger.settle(order, late=late)
        except FileKeyTaken as taken:
            told = taken.entry.told(self._ledger.now)
            return Answer(status=409, body={"error": str(taken), **told, "repeated": True})
        except LedgerRefused as error:
            return _broken(error)
        status = 402 if isinstance(entry, FileRefused) else 200 if repeated else 201
        return Answer(status=status, body={**entry.told(self._ledger.now), "repeated": repeated})

    def _follow(self, rule: Rule | None, order: PaymentOrder) -> Answer | None:
        match None if rule is None else rule.do:
            case Do.LOSE_BEFORE:
                return None
            case Do.BUSY:
                return _busy(rule)
            case Do.REFUSE:
                return self._enter(order, refuse=(rule and rule.reason) or REASON)
            case Do.LOSE_AFTER:
                self._enter(order)
                return None
            case Do.TWICE:
                first = self._enter(order)
                self._delivered(order.key)
                self._enter(order)
                return first
            case _:
                return self._enter(order)

    def _enter(self, order: PaymentOrder, *, refuse: str | None = None) -> Answer:
        try:
            entry, repeated = self._ledger.book(order) if refuse is None else self._ledger.refuse(order, refuse)
        except KeyTaken as taken:
            known = _known(taken.entry, repeated=True)
            return Answer(status=409, body={"error": str(taken), **known})
        except LedgerRefused as error:
            return _broken(error)
        if isinstance(entry, Booking):
            return Answer(status=200 if repeated else 201, body=_known(entry, repeated=repeated))
        return Answer(status=402, body=_known(entry, repeated=repeated))

    def _delivered(self, key: str) -> None:
        with self._lock:
            self._deliveries[key] += 1


def _known(entry: Entry, *, repeated: bool) -> dict[str, object]:
    """What is told of an entry: its key, so that an answer cannot be taken for that of another order."""
    if isinstance(entry, Booking):
        told = {"booking": entry.reference, "booked_at": entry.at.isoformat()}
    else:
        told = {"refused": entry.reason, "refused_at": entry.at.isoformat()}
    return {**told, "key": entry.order.key, "repeated": repeated}


def _busy(rule: Rule | None) -> Answer:
    seconds = BUSY_SECONDS if rule is None or rule.seconds is None else rule.seconds
    return Answer(
        status=503,
        body={"error": f"The bank is busy; nothing was booked. Try again after {seconds} s."},
        headers={"Retry-After": str(seconds)},
    )


def _wrong(error: MessageRefused) -> Answer:
    return Answer(status=422, body={"error": str(error)})


def _broken(error: LedgerRefused) -> Answer:
    return Answer(status=500, body={"error": str(error)})
