"""Owns judging a code from a phone, in committed transactions of its own, and how a person stands with theirs
(MONEY.md 13 to 15).

    judge    (a) lock the person's row, count the guess, read     committed
             (b) compare, then settle: spend, leave or take back  committed
      (so whatever becomes of the act, a right code is spent and a wrong one counted; and every verdict costs the same)

Judges only the actor's own phone. Never keeps, logs or answers a code or a secret.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from pydantic import SecretStr

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.permissions import Permission
from jobcontract.plans import CodeStanding
from jobservice.rules import codes as rules
from jobservice.rules.codes import Counted, Verdict
from jobservice.rules.keys import Keys, Unopenable
from jobservice.store import codes as store
from jobservice.store import notices
from jobservice.store.codes import KeptCode
from jobservice.store.database import Transaction
from jobservice.usecases.actor import Actor
from jobservice.usecases.audit import CHANGED, REFUSED, record
from jobservice.usecases.service import Service

PURPOSE = "code"
"""What a secret in force is sealed for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What became of a code. `step` is that of a right one; the rest is how the person stands after it."""

    verdict: Verdict
    tries_left: int
    locked_until: datetime | None = None
    locked_for_good: bool = False
    rests_until: datetime | None = None
    step: int | None = None

    @property
    def right(self) -> bool:
        """Whether the act may go on."""
        return self.verdict is Verdict.RIGHT

    def not_before(self, instant: datetime) -> Judged:
        """EARLY in place of RIGHT where the code is of a step before the one that `instant` is in."""
        if self.step is None or self.step >= rules.step_of(instant):
            return self
        return replace(self, verdict=Verdict.EARLY, step=None)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class _Reserved:
    """A guess that stands as wrong until it is settled."""

    guess: int
    counted: Counted
    now: datetime
    rests_until: datetime | None
    secret: str
    enrolled_at: datetime | None

    @property
    def verdict(self) -> Verdict | None:
        """What is answered whether the code is right or not; None where that decides."""
        if self.counted.before.locked(self.now):
            return Verdict.LOCKED
        return Verdict.UNREADY if self.rests_until is not None else None


async def judge(service: Service, actor: Actor, code: SecretStr, *, about: str | None = None) -> Judged:
    """Judge and spend a code of the actor's own phone; what stands afterwards is committed.

    To be called before the act's transaction, for an act that the actor may do, once its idempotency key is known to be
    new. `about` names what the code was for, in the audit row.

    Refusal INVALID_REQUEST where it is not six digits (nothing is counted), CODE_UNREADABLE where the secret cannot be
    opened (nothing is counted).
    """
    digits = rules.read_code(code.get_secret_value())
    if digits is None:
        raise Refusal(ErrorCode.INVALID_REQUEST, "A code is six digits, 0 to 9; spaces between them do not matter.")
    reserved = await _reserve(service, actor)
    if reserved is None:
        return Judged(verdict=Verdict.UNREADY, tries_left=rules.TRIES)
    step = rules.matching_step(reserved.secret, digits, rules.step_of(reserved.now))
    async with service.database.transaction(actor.tenant) as transaction:
        return await _settle(transaction, actor, reserved, step, about)


async def standing(service: Service, actor: Actor) -> CodeStanding:
    """Whether the actor can give a code now. Refusal PERMISSION_MISSING without payout.release."""
    actor.require(Permission.PAYOUT_RELEASE)
    async with service.database.transaction(actor.tenant) as transaction:
        kept, counting = await store.standing(transaction, actor.person)
    guesses = rules.Guesses() if kept is None else kept.guesses
    return CodeStanding(
        enrolled=kept is not None and kept.secret is not None,
        tries_left=guesses.tries_left(counting.recent, counting.now),
        locked_until=_ahead(guesses.locked_until, counting.now),
        locked_for_good=guesses.locked_for_good,
        rests_until=None if kept is None else _ahead(kept.rests_until, counting.now),
    )


def refuse_code(judged: Judged) -> Refusal:
    """The refusal of an act whose code was not accepted, with `tries_left` and `locked_until` as members."""
    kind, sentence = _SAID[judged.verdict]
    if judged.verdict is Verdict.WRONG:
        sentence += " " + _tries(judged)
    elif judged.verdict is Verdict.LOCKED:
        sentence = _locked(judged)
    elif judged.rests_until is not None:
        sentence = f"Your phone was enrolled a short time ago: its codes count from {_at(judged.rests_until)} on."
    return Refusal(
        kind,
        sentence,
        tries_left=judged.tries_left,
        locked_until=judged.locked_until,
        locked_for_good=judged.locked_for_good,
    )


_SAID = {
    Verdict.WRONG: (ErrorCode.CODE_WRONG, "That code is not right."),
    Verdict.USED: (ErrorCode.CODE_USED, "That code was already used. Wait for the next one."),
    Verdict.EARLY: (ErrorCode.CODE_USED, "That code is older than what it should confirm. Wait for the next one."),
    Verdict.LOCKED: (ErrorCode.CODE_LOCKED, ""),
    Verdict.UNREADY: (
        ErrorCode.CODE_UNREADY,
        "No phone of yours is enrolled. Those who run the server can do that with you: jobservice totp enrol.",
    ),
}


def _tries(judged: Judged) -> str:
    if judged.locked_for_good or judged.locked_until is not None:
        return _locked(judged)
    return f"{judged.tries_left} {'try' if judged.tries_left == 1 else 'tries'} left."


def _locked(judged: Judged) -> str:
    if judged.locked_for_good:
        return (
            "Too many wrong codes: no code is taken until those who run the server unlock it (jobservice totp unlock)."
        )
    until = "later" if judged.locked_until is None else _at(judged.locked_until)
    return f"Too many wrong codes: no code is taken before {until}, a right one neither."


def _at(instant: datetime) -> str:
    return f"{instant:%Y-%m-%d %H:%M:%S} UTC"


def _ahead(instant: datetime | None, now: datetime) -> datetime | None:
    return instant if instant is not None and instant > now else None


async def _reserve(service: Service, actor: Actor) -> _Reserved | None:
    """Count the guess and read what it is compared with; None where the person has no phone (nothing is counted)."""
    async with service.database.transaction(actor.tenant) as transaction:
        kept = await store.lock(transaction, actor.person)
        if kept is None or kept.secret is None:
            return None
        secret = open_secret(service.keys, kept)
        counting = await store.add_guess(transaction, actor.person)
        counted = rules.count_guess(kept.guesses, counting.recent, counting.now)
        await store.keep_guesses(transaction, actor.person, counted.after)
    assert counting.guess is not None  # noqa: S101  # the statement that counts a guess says which
    return _Reserved(
        guess=counting.guess,
        counted=counted,
        now=counting.now,
        rests_until=_ahead(kept.rests_until, counting.now),
        secret=secret,
        enrolled_at=kept.enrolled_at,
    )


def open_secret(keys: Keys | None, kept: KeptCode) -> str:
    """The secret in force. Refusal CODE_UNREADABLE where no key opens it."""
    try:
        if keys is None or kept.secret is None:
            raise Unopenable("there is no key ring here")
        return keys.open(kept.person, PURPOSE, kept.secret).decode("ascii")
    except Unopenable:
        raise Refusal(
            ErrorCode.CODE_UNREADABLE,
            "The code cannot be checked: no key of the service opens what your phone was enrolled with. Nothing was "
            "counted. Tell those who run the server.",
        ) from None


async def _settle(
    transaction: Transaction, actor: Actor, reserved: _Reserved, step: int | None, about: str | None
) -> Judged:
    """Spend, take back or leave. The same statements run whatever the verdict, so that the time tells nothing."""
    kept = await store.lock(transaction, actor.person)
    assert kept is not None  # noqa: S101  # rows of codes are never removed
    if kept.enrolled_at != reserved.enrolled_at:  # it was the code of a phone that is no longer the person's
        step = None
    fresh = await store.consume(transaction, actor.person, step)
    found = Verdict.WRONG if step is None else Verdict.RIGHT if fresh else Verdict.USED
    wrong = found is Verdict.WRONG
    counting = await store.settle_guess(transaction, actor.person, reserved.guess, given_back=not wrong)
    given = rules.give_back(kept.guesses, reserved.counted, counting.recent, counting.now, right=found is Verdict.RIGHT)
    guesses = kept.guesses if wrong else given
    await store.keep_guesses(transaction, actor.person, guesses)
    verdict = reserved.verdict or found
    judged = Judged(
        verdict=verdict,
        tries_left=guesses.tries_left(counting.recent, counting.now),
        locked_until=_ahead(guesses.locked_until, counting.now),
        locked_for_good=guesses.locked_for_good,
        rests_until=reserved.rests_until,
        step=step if verdict is Verdict.RIGHT else None,
    )
    accepted = verdict is Verdict.RIGHT
    await record(
        transaction,
        actor,
        "code-accepted" if accepted else "code-refused",
        actor.person,
        {"verdict": verdict.value, "about": about},
        outcome=CHANGED if accepted else REFUSED,
    )
    if wrong and reserved.counted.raised:
        await _tell_of_lock(transaction, actor, judged)
    return judged


async def _tell_of_lock(transaction: Transaction, actor: Actor, judged: Judged) -> None:
    text = (
        f"{_locked(judged)} The codes were sent with a token of yours in {actor.tenant}. If that was not you, have your "
        "token revoked."
    )
    await notices.add(
        transaction,
        notices.NewNotice(person=actor.person, kind="code-locked", subject="Your codes are locked", text=text),
    )
