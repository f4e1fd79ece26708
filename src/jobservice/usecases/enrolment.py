"""Owns enrolling a person's phone, forgetting it and unlocking it (MONEY.md 16).

    begin    the new secret is kept beside the old one, which goes on working
    finish   two successive codes prove it: both are spent, it replaces the old one
    reset    the secret goes; nothing takes its place
      (after finish and reset: a rest, open plans void, applies paused, the person and the colleagues told)

Runs on the owner's connection, from the server's own command line; no route of the API reaches it. A secret leaves
`begin` once and is kept sealed alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from jobcontract.errors import ErrorCode, Refusal
from jobcontract.ids import SLUG_MAX
from jobcontract.permissions import GRANTS, Permission
from jobcontract.states import Role
from jobservice.rules import codes as rules
from jobservice.rules.keys import Keys, Sealed, Unopenable
from jobservice.store import codes, deployment, notices, people
from jobservice.store import enrolment as store
from jobservice.store.database import Database, Row, Transaction
from jobservice.usecases.audit import record_on_server
from jobservice.usecases.codes import PURPOSE
from jobservice.usecases.holding_back import HeldBack, hold_back

PENDING = "pending-code"
"""What a secret that is being enrolled is sealed for: moved into the other's place by hand, it opens nothing."""
ROLES = tuple(role for role, granted in GRANTS.items() if Permission.PAYOUT_RELEASE in granted)
"""Whose codes mean anything."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """A secret to be put into a phone: the one time that it is anywhere."""

    person: str
    name: str
    secret: str
    replaces: bool
    """Whether a phone is enrolled already."""

    def __repr__(self) -> str:
        return f"Pending(person={self.person!r}, replaces={self.replaces!r})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """What an enrolment or a reset did. `rests_until` None = no rest."""

    person: str
    rests_until: datetime | None
    held_back: HeldBack
    told: tuple[str, ...]
    """The colleagues who were told, besides the person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PhoneStanding:
    """How a person's phone stands. Says nothing of any code or secret."""

    enrolled_at: datetime | None
    pending_at: datetime | None
    rests_until: datetime | None
    tries_left: int
    wrong_recently: int
    locked_until: datetime | None
    locked_for_good: bool
    key_id: str | None


async def begin(owner: Database, keys: Keys, person: str, *, own: str | None = None) -> Pending:
    """Keep a secret for the person's next phone: a new random one, or `own` as typed.

    Refusal NOT_FOUND, INVALID_REQUEST where the person's codes mean nothing or `own` is no secret.
    """
    secret = rules.new_secret() if own is None else _own(own)
    async with owner.transaction(None) as transaction:
        name, _ = await _finance(transaction, person)
        kept = await codes.lock(transaction, person)
        await store.begin(transaction, person, keys.seal(person, PENDING, secret.encode("ascii")))
    return Pending(person=person, name=name, secret=secret, replaces=kept is not None and kept.secret is not None)


async def cancel(owner: Database, person: str) -> None:
    """Forget what `begin` kept; the phone that was enrolled before goes on working."""
    async with owner.transaction(None) as transaction:
        await store.drop_pending(transaction, person)


async def finish(owner: Database, keys: Keys, person: str, first: str, second: str, *, rest_seconds: float) -> Changed:
    """Put the secret of `begin` in force, proved by two successive codes as they were typed; both are spent.

    Refusal INVALID_REQUEST where one is not six digits or nothing was begun, CODE_WRONG, CODE_USED, CODE_UNREADABLE.
    """
    one, two = rules.read_code(first), rules.read_code(second)
    if one is None or two is None:
        raise Refusal(ErrorCode.INVALID_REQUEST, "A code is six digits, 0 to 9; spaces between them do not matter.")
    async with owner.transaction(None) as transaction:
        _, tenants = await _finance(transaction, person)
        kept = await codes.lock(transaction, person)
        if kept is None or kept.pending is None:
            raise Refusal(ErrorCode.INVALID_REQUEST, f"No phone of {person} is being enrolled. Begin again.")
        secret = _opened(keys, person, kept.pending)
        now = await deployment.now(transaction)
        step = rules.successive_steps(secret, one, two, rules.step_of(now))
        if step is None:
            raise Refusal(
                ErrorCode.CODE_WRONG,
                "These are not two codes of the new phone, one right after the other. Wait for a new code, type it, "
                "then type the next one.",
            )
        if step - 1 <= kept.last_step:
            raise Refusal(
                ErrorCode.CODE_USED, "One of these codes was already used. Wait for a new one and begin there."
            )
        sealed = keys.seal(person, PURPOSE, secret.encode("ascii"))
        until = await store.put_in_force(transaction, person, sealed, step=step, rest_seconds=rest_seconds)
        what = "A phone was enrolled" if kept.secret is None else "Another phone was enrolled"
        return await _follow(transaction, person, tenants, what, _ahead(until, now), "code-enrolled")


async def reset(owner: Database, person: str, *, rest_seconds: float) -> Changed:
    """Forget the person's phone, as when it was lost. Refusal NOT_FOUND, INVALID_REQUEST where there is none."""
    async with owner.transaction(None) as transaction:
        _, memberships = await _known(transaction, person)
        kept = await codes.lock(transaction, person)
        if kept is None or (kept.secret is None and kept.pending is None):
            raise Refusal(ErrorCode.INVALID_REQUEST, f"No phone of {person} is enrolled.")
        now = await deployment.now(transaction)
        until = await store.put_in_force(transaction, person, None, step=kept.last_step, rest_seconds=rest_seconds)
        rests = _ahead(until, now)
        return await _follow(transaction, person, _tenants(memberships), "The phone was taken off", rests, "code-reset")


async def unlock(owner: Database, person: str) -> None:
    """End every lock of the person's codes and forget what was counted. Refusal NOT_FOUND, INVALID_REQUEST."""
    async with owner.transaction(None) as transaction:
        _, memberships = await _known(transaction, person)
        tenants = _tenants(memberships)
        if not await store.unlock(transaction, person):
            raise Refusal(ErrorCode.INVALID_REQUEST, f"No phone of {person} was ever enrolled, so nothing is locked.")
        await record_on_server(transaction, "code-unlocked", person, tenants, {})
        text = "Those who run the server ended the lock on your codes. If you did not ask for that, tell them."
        await _tell(transaction, person, tenants, "code-unlocked", "Your codes are unlocked", text)


async def status(owner: Database, person: str) -> PhoneStanding:
    """How the person's phone stands. Refusal NOT_FOUND."""
    async with owner.transaction(None) as transaction:
        await _known(transaction, person)
        kept, counting = await codes.standing(transaction, person)
    guesses = rules.Guesses() if kept is None else kept.guesses
    return PhoneStanding(
        enrolled_at=None if kept is None else kept.enrolled_at,
        pending_at=None if kept is None else kept.pending_at,
        rests_until=None if kept is None else _ahead(kept.rests_until, counting.now),
        tries_left=guesses.tries_left(counting.recent, counting.now),
        wrong_recently=counting.recent,
        locked_until=_ahead(guesses.locked_until, counting.now),
        locked_for_good=guesses.locked_for_good,
        key_id=None if kept is None or kept.secret is None else kept.secret.key_id,
    )


async def enrol_demo(owner: Database, keys: Keys, secrets: Mapping[str, str]) -> tuple[str, ...]:
    """Put a secret in force for each of a demo's people, without proof or rest; who had another one before.

    What is in force already stays. Refusal INVALID_REQUEST for anybody who is no demo's, or a database that is none.
    """
    changed = []
    for person, secret in secrets.items():
        async with owner.transaction(None) as transaction:
            row = await people.lock_person(transaction, person)
            if row is None or not row["demo"] or not (await deployment.demo(transaction))["marked"]:
                raise Refusal(
                    ErrorCode.INVALID_REQUEST, f"{person} is nobody of a demo: enrol with jobservice totp enrol."
                )
            kept = await codes.lock(transaction, person)
            if kept is not None and kept.secret is not None and _is(keys, person, kept.secret, secret):
                continue
            await store.begin(transaction, person, keys.seal(person, PENDING, secret.encode("ascii")))
            sealed = keys.seal(person, PURPOSE, secret.encode("ascii"))
            await store.put_in_force(transaction, person, sealed, step=0, rest_seconds=0)
            tenants = _tenants(await people.memberships(transaction, person))
            if kept is not None and kept.secret is not None:
                await _follow(transaction, person, tenants, "Another phone was enrolled", None, "code-enrolled")
            else:
                await record_on_server(transaction, "code-enrolled", person, tenants, {"demo": True})
            changed.append(person)
    return tuple(changed)


def _own(text: str) -> str:
    try:
        return rules.read_secret(text)
    except rules.SecretUnfit as unfit:
        raise Refusal(ErrorCode.INVALID_REQUEST, str(unfit)) from None


def _opened(keys: Keys, person: str, pending: Sealed) -> str:
    try:
        return keys.open(person, PENDING, pending).decode("ascii")
    except Unopenable:
        raise Refusal(
            ErrorCode.CODE_UNREADABLE, "No key of this ring opens what was begun. Begin again: jobservice totp enrol."
        ) from None


def _is(keys: Keys, person: str, sealed: Sealed, secret: str) -> bool:
    try:
        return keys.open(person, PURPOSE, sealed) == secret.encode("ascii")
    except Unopenable:
        return False


async def _known(transaction: Transaction, person: str) -> tuple[Row, Sequence[Row]]:
    """A person, locked, and what they are where. Refusal NOT_FOUND."""
    row = await people.lock_person(transaction, person)
    if row is None:
        raise Refusal(ErrorCode.NOT_FOUND, f"There is no person {person[:SLUG_MAX]}. See: jobservice person list.")
    return row, await people.memberships(transaction, person)


async def _finance(transaction: Transaction, person: str) -> tuple[str, Sequence[str]]:
    """Name and tenants of an active person, locked, whose codes mean something there. Refusal NOT_FOUND,
    INVALID_REQUEST."""
    row, memberships = await _known(transaction, person)
    if not row["active"]:
        raise Refusal(ErrorCode.INVALID_REQUEST, f"{person} is disabled.")
    tenants = [str(each["tenant"]) for each in memberships if Role(each["role"]) in ROLES]
    if not tenants:
        words = ", ".join(role.value for role in ROLES)
        raise Refusal(ErrorCode.INVALID_REQUEST, f"{person} confirms nothing anywhere: only {words} people give codes.")
    return str(row["name"]), tenants


def _tenants(memberships: Sequence[Row]) -> Sequence[str]:
    return [str(each["tenant"]) for each in memberships]


def _ahead(instant: datetime | None, now: datetime) -> datetime | None:
    return instant if instant is not None and instant > now else None


async def _follow(
    transaction: Transaction,
    person: str,
    tenants: Sequence[str],
    what: str,
    rests_until: datetime | None,
    action: str,
) -> Changed:
    """What every change of a phone brings: plans held back, people told, an audit row."""
    held = await hold_back(transaction, person, reason=f"{what} for {person}.")
    rest = "" if rests_until is None else f" Their codes confirm nothing before {rests_until:%Y-%m-%d %H:%M} UTC."
    plans = f" Plans voided: {len(held.voided)}; paused: {len(held.paused)}."
    text = f"{what} for {person} on the server.{rest}{plans} If nobody asked for that, tell those who run the server."
    await _tell(transaction, person, tenants, action, "Your phone for codes was changed", text)
    told = await store.colleagues(transaction, person, tenants, [role.value for role in ROLES])
    for tenant, colleague in told:
        await _tell(transaction, colleague, (tenant,), action, f"The phone for codes of {person} was changed", text)
    detail = {"rests_until": rests_until and rests_until.isoformat(), "voided": held.voided, "paused": held.paused}
    await record_on_server(transaction, action, person, tenants, detail)
    return Changed(
        person=person,
        rests_until=rests_until,
        held_back=held,
        told=tuple(dict.fromkeys(colleague for _, colleague in told)),
    )


async def _tell(
    transaction: Transaction, person: str, tenants: Sequence[str], kind: str, subject: str, text: str
) -> None:
    """One notice, in the first of the tenants that it concerns."""
    there = Transaction(transaction.connection, tenants[0] if tenants else None)
    await notices.add(there, notices.NewNotice(person=person, kind=kind, subject=subject, text=text, about=None))
