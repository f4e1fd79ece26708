"""Owns what a code from a phone is: how it is typed, which step it belongs to, when guessing is stopped (MONEY.md 13 to
15; RFC 6238: SHA-1, six digits, thirty seconds).

Pure: secrets and instants come in, nothing is kept. Never says a secret or a code in an error or a repr.
"""

from __future__ import annotations

import binascii
import hmac
import re
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

import pyotp

STEP_SECONDS = 30
DRIFT = 1
"""Steps that a phone's clock may be behind or ahead (RFC 6238, section 5.2)."""
TRIES = 5
"""Wrong codes in a row until a lock."""
LOCK_FIRST = timedelta(minutes=15)
LOCK_LONGEST = timedelta(days=30)
WINDOW = timedelta(days=30)
WINDOW_TRIES = 20
"""Wrong codes within `WINDOW` until a lock that a person on the server must end."""

_CODE = re.compile(r"[0-9]{6}", re.ASCII)
_SECRET_LETTERS = re.compile(r"[A-Z2-7]+", re.ASCII)
_SECRET_MOST = 128
"""Most letters of a secret: twice the block of SHA-1 and more than any service shows."""


class Verdict(StrEnum):
    """What became of a code."""

    RIGHT = "right"
    """And spent."""
    WRONG = "wrong"
    USED = "used"
    LOCKED = "locked"
    """Whether it was right is not said."""
    UNREADY = "unready"
    """No phone, or enrolled too short a time ago; whether it was right is not said."""
    EARLY = "early"
    """Right, and of a step before the plan was frozen."""


class SecretUnfit(Exception):
    """A secret that no code can be made from; the sentence says why, without the secret."""


def read_code(text: str) -> str | None:
    """The six digits that a person typed, ASCII spaces forgiven; None for anything else (case OTP-03)."""
    digits = text.replace(" ", "")
    return digits if _CODE.fullmatch(digits) is not None else None


def read_secret(text: str) -> str:
    """A secret as it is kept (base32, upper case, no padding) from what a phone or a service shows.

    Blanks, hyphens, lower case and missing `=` are forgiven. SecretUnfit with a sentence for anything else, and for
    fewer than 112 bits (NIST SP 800-63B-4, section 3.1.4).
    """
    letters = re.sub(r"[ \t-]", "", text).rstrip("=").upper()
    if not letters:
        raise SecretUnfit("There is no secret in that.")
    if _SECRET_LETTERS.fullmatch(letters) is None:
        odd = sorted({sign for sign in letters if sign in "0189"})
        if odd:
            raise SecretUnfit(
                f"A secret has the letters A to Z and the digits 2 to 7; this one has {', '.join(odd)}. "
                "Perhaps O for 0, I or L for 1, B for 8."
            )
        raise SecretUnfit("A secret has only the letters A to Z, the digits 2 to 7 and blanks; this one has others.")
    if len(letters) > _SECRET_MOST:
        raise SecretUnfit(f"A secret has at most {_SECRET_MOST} letters; this one has {len(letters)}.")
    try:
        pyotp.TOTP(letters)
    except binascii.Error:
        raise SecretUnfit(f"A secret of {len(letters)} letters is cut off: look for a missing one.") from None
    except ValueError:
        raise SecretUnfit("The secret is too short: it needs 112 bits, which are 23 letters and digits.") from None
    return letters


def new_secret() -> str:
    """A random secret of 160 bits, the length of SHA-1's output (RFC 4226, section 4)."""
    return pyotp.random_base32()


def enrolment_address(secret: str, person: str, place: str) -> str:
    """What a QR code for a phone says (`otpauth://`): the secret, whose it is, and the name of the place."""
    return pyotp.TOTP(secret).provisioning_uri(name=person, issuer_name=f"jobconsole {place}".strip())


def step_of(instant: datetime) -> int:
    """The step that an instant (aware) is in."""
    return int(instant.timestamp()) // STEP_SECONDS


def code_at(secret: str, step: int) -> str:
    """The code of a step. ValueError for a secret that `read_secret` would refuse."""
    return pyotp.TOTP(secret, digits=6, interval=STEP_SECONDS).generate_otp(step)


def matching_step(secret: str, code: str, now: int) -> int | None:
    """The latest step from `now` - 1 to `now` + 1 whose code this is; all are compared, always, in the same time."""
    found = None
    for step in range(max(now - DRIFT, 0), now + DRIFT + 1):
        if hmac.compare_digest(code_at(secret, step), code):
            found = step
    return found


def successive_steps(secret: str, first: str, second: str, now: int) -> int | None:
    """The step of `second` where `first` is the code of the step before it and `second` one of about now."""
    found = None
    for step in range(max(now - DRIFT, 1), now + DRIFT + 1):
        both = hmac.compare_digest(code_at(secret, step - 1) + code_at(secret, step), first + second)
        found = step if both else found
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Guesses:
    """What is counted of one person's codes. `in_a_row`: since the last right code or the last lock."""

    in_a_row: int = 0
    locks: int = 0
    """How many have followed one another; sets how long the next one is."""
    locked_until: datetime | None = None
    locked_for_good: bool = False
    """Until `jobservice totp unlock`."""

    def locked(self, now: datetime) -> bool:
        """Whether no code is taken now, a right one neither."""
        return self.locked_for_good or (self.locked_until is not None and self.locked_until > now)

    def tries_left(self, recent: int, now: datetime) -> int:
        """Wrong codes until the next lock; `recent` = counted within `WINDOW`."""
        return 0 if self.locked(now) else max(0, min(TRIES, TRIES - self.in_a_row, WINDOW_TRIES - recent))


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A guess that was counted before it was looked at. `raised`: it is the one that locked."""

    before: Guesses
    after: Guesses
    raised: bool


def count_guess(before: Guesses, recent: int, now: datetime) -> Counted:
    """Count a guess as wrong until it is known; `recent` counts it too.

    It locks at once where it is one too many, so that of many guesses at the same moment no more are looked at than
    one after the other.
    """
    in_a_row = before.in_a_row + 1
    after = replace(before, in_a_row=in_a_row, locked_for_good=before.locked_for_good or recent >= WINDOW_TRIES)
    if in_a_row >= TRIES:
        # A further lock is one while wrong codes of an earlier one still count.
        locks = before.locks + 1 if recent > TRIES else 1
        after = replace(after, in_a_row=in_a_row - TRIES, locks=locks, locked_until=now + lock_length(locks))
    return Counted(
        before=before,
        after=after,
        raised=in_a_row >= TRIES or after.locked_for_good != before.locked_for_good,
    )


def lock_length(locks: int) -> timedelta:
    """How long the lock of that number lasts: fifteen minutes, and each further one twice as long; a month at most."""
    doublings = min(max(locks, 1) - 1, 32)
    return min(LOCK_FIRST * (1 << doublings), LOCK_LONGEST)


def give_back(stands: Guesses, counted: Counted, recent: int, now: datetime, *, right: bool) -> Guesses:
    """The counters without a guess that was right or used; `recent` is without it. A right one ends the row: those
    counted before it no longer stand.

    The lock that it raised goes, unless guesses counted meanwhile fill its place: five wrong are a lock in whatever
    order they are settled. While a lock stands that a taken-back guess helped to raise, the row is below zero.
    """
    before, after = counted.before, counted.after
    in_a_row = stands.in_a_row - (after.in_a_row if right else 1)
    given = replace(stands, in_a_row=in_a_row)
    if after.locked_until != before.locked_until and stands.locked_until == after.locked_until:
        others = in_a_row if right else in_a_row + TRIES
        if others < TRIES:
            given = replace(stands, in_a_row=others, locks=before.locks, locked_until=before.locked_until)
    if after.locked_for_good and not before.locked_for_good and recent < WINDOW_TRIES:
        given = replace(given, locked_for_good=False)
    return given if given.in_a_row >= 0 or given.locked(now) else replace(given, in_a_row=0)
