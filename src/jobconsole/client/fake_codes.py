"""Owns the codes of the fake service: which are right once, tries left, locks. No secret, no time step.

`123456` and the other five of RIGHT are right once a person; any other is wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.plans import CodeStanding

RIGHT = ("123456", "234567", "345678", "456789", "567890", "678901")
TRIES = 5
LOCK = timedelta(minutes=15)


@dataclass(slots=True)
class _Phone:
    """What is known of one person's codes."""

    used: set[str] = field(default_factory=set)
    in_a_row: int = 0
    locked_until: datetime | None = None
    locked_for_good: bool = False
    enrolled: bool = True
    rests_until: datetime | None = None


class FakeCodes:
    """Judges codes. `phone(person)` is where a test locks or un-enrols somebody."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._phones: dict[str, _Phone] = {}

    def phone(self, person: str) -> _Phone:
        """The person's phone."""
        return self._phones.setdefault(person, _Phone())

    def fresh(self, person: str) -> str:
        """A code that is right for the person once."""
        return next(code for code in RIGHT if code not in self.phone(person).used)

    def standing(self, person: str) -> CodeStanding:
        """Whether the person can give a code now."""
        phone = self.phone(person)
        return CodeStanding(
            enrolled=phone.enrolled,
            tries_left=self._left(phone),
            locked_until=self._locked(phone),
            locked_for_good=phone.locked_for_good,
            rests_until=phone.rests_until,
        )

    def judge(self, person: str, code: str) -> Refusal | None:
        """What is wrong with the code, spent or counted by now; None where it is right.

        Refusal INVALID_REQUEST where it is not six digits: nothing is counted.
        """
        phone = self.phone(person)
        if not phone.enrolled:
            return Refusal(ErrorCode.CODE_UNREADY, "No phone of yours confirms yet: have one enrolled on the server.")
        text = code.replace(" ", "")
        if not (len(text) == 6 and text.isascii() and text.isdigit()):
            raise Refusal(ErrorCode.INVALID_REQUEST, "A code is six digits, 0 to 9; spaces between them do not matter.")
        locked = self._locked(phone) is not None or phone.locked_for_good
        if text in phone.used:
            verdict = Refusal(ErrorCode.CODE_USED, "That code was already used. Wait for the next one.")
        elif text in RIGHT:
            phone.used.add(text)
            verdict = None
            if not locked:
                phone.in_a_row = 0
        else:
            phone.in_a_row += 1
            if phone.in_a_row % TRIES == 0:
                phone.locked_until = self._now() + LOCK
            verdict = self._wrong(phone)
        return self._too_many(phone) if locked else verdict

    def _wrong(self, phone: _Phone) -> Refusal:
        left = self._left(phone)
        tries = "1 try" if left == 1 else f"{left} tries"
        until = phone.locked_until
        return Refusal(
            ErrorCode.CODE_WRONG,
            f"That code is not right. {tries} left.",
            tries_left=left,
            locked_until=until.isoformat() if until is not None and self._locked(phone) else None,
            locked_for_good=phone.locked_for_good,
        )

    def _too_many(self, phone: _Phone) -> Refusal:
        until = self._locked(phone)
        when = f"until {until:%H:%M:%S} UTC" if until else "until somebody unlocks them on the server"
        return Refusal(
            ErrorCode.CODE_LOCKED,
            f"Too many wrong codes: none is taken {when}.",
            tries_left=0,
            locked_until=until.isoformat() if until else None,
            locked_for_good=phone.locked_for_good,
        )

    def _locked(self, phone: _Phone) -> datetime | None:
        return phone.locked_until if phone.locked_until is not None and phone.locked_until > self._now() else None

    def _left(self, phone: _Phone) -> int:
        return 0 if self._locked(phone) or phone.locked_for_good else TRIES - phone.in_a_row % TRIES
