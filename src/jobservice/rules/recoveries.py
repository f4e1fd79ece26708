"""Owns decisions about recoveries: who may have what in one, how many, when one may be changed, and everything that is
said of them: what was asked for in words, why something is left out, what changed. Pure: plain values in, a decision out.

What moves money is what runs a schedule of money again; to discard or to disable it moves nothing (MONEY.md 1).
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from jobcontract.errors import ErrorCode
from jobcontract.operating import LeftOut, RecoveryAct, RecoveryState
from jobcontract.permissions import GRANTS, Permission, roles_with
from jobcontract.plans import PlanChange
from jobcontract.recoveries import RecoveryOrder
from jobcontract.recovery_digest import RecoveryDigestHead, RecoveryDigestMoney, RecoveryDigestRow
from jobcontract.states import Moves, Role
from jobservice.rules import recovery_jobs
from jobservice.rules.claims import Allowed, Decision, Denied
from jobservice.rules.limits import amount
from jobservice.rules.schedules import Schedule

LEFT_KEPT = 1_000
"""Most left-out things that are kept by name; all of them are counted."""
CHANGED_TOLD = 50
"""Most rows whose changes a refused confirmation tells."""
_SENTENCE_TOLD = 3
_NAMES_TOLD = 3
RUNS_AGAIN = frozenset({RecoveryAct.REPLAY, RecoveryAct.REQUEUE})
"""Acts after which something runs."""
CONFIRMED = frozenset(
    {RecoveryState.APPLYING, RecoveryState.PAUSED, RecoveryState.DONE, RecoveryState.ABORTED},
)
_PERMISSIONS: Mapping[RecoveryAct, Permission] = {
    RecoveryAct.REPLAY: Permission.OCCURRENCE_REPLAY,
    RecoveryAct.REQUEUE: Permission.OCCURRENCE_REPLAY,
    RecoveryAct.DISCARD: Permission.OCCURRENCE_DISCARD,
    RecoveryAct.DISABLE: Permission.SCHEDULE_DISABLE,
    **recovery_jobs.JOB_PERMISSIONS,
}
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def permission_for(act: RecoveryAct, moves: Moves) -> Permission:
    """What whoever has such a row in a recovery needs."""
    return Permission.PAYOUT_RELEASE if moves is Moves.MONEY else _PERMISSIONS[act]


def may_retry_or_cancel(role: Role, act: RecoveryAct) -> bool:
    """Whether a person of that role may do the act on jobs to any job: a retry of what moves money is another's."""
    wanted = {permission_for(act, Moves.NOTHING)}
    if act is RecoveryAct.RETRY:
        wanted.add(permission_for(act, Moves.MONEY))
    return not wanted.isdisjoint(GRANTS[role])


def moves_of(act: RecoveryAct, schedule: Schedule | None) -> Moves:
    """What a row of that schedule moves under `act`; None = a schedule that the records do not have."""
    money = act in RUNS_AGAIN and schedule is not None and schedule.moves_money
    return Moves.MONEY if money else Moves.NOTHING


def decide_count(names: Sequence[str], most: int) -> Decision:
    """Whether a person with these open recoveries may make one more."""
    if len(names) < most:
        return Allowed()
    return Denied(
        kind=ErrorCode.PLANS_MAX,
        sentence=f"You have {len(names)} open recoveries ({', '.join(names)}) and may have {most}. Confirm or drop one "
        "first.",
    )


def decide_size(count: int, most: int) -> Decision:
    """Whether so many rows may be in one recovery; a count over `most` may be any larger one."""
    if count <= most:
        return Allowed()
    return Denied(
        kind=ErrorCode.PLAN_TOO_LARGE,
        sentence=f"More than {most:,} things are in the set; a recovery has {most:,} at most (setting "
        "recovery.max-items). Take a shorter stretch, fewer schedules or a narrower filter of jobs, or make several "
        "recoveries.",
    )


def decide_change(name: str, owner: str, owner_name: str, standing: RecoveryState, *, actor: str) -> Decision:
    """Whether `actor` may take rows out of a recovery, drop it or confirm it."""
    if owner != actor:
        return Denied(
            kind=ErrorCode.PERMISSION_MISSING,
            sentence=f"Recovery {name} is {owner_name}'s; only its owner changes, drops or confirms it.",
        )
    if standing is RecoveryState.OPEN:
        return Allowed()
    return Denied(kind=ErrorCode.PLAN_STATE, sentence=state_sentence(name, standing))


_STANDS: Mapping[RecoveryState, str] = {
    RecoveryState.OPEN: "is open: it has to be confirmed first",
    RecoveryState.APPLYING: "is confirmed already, and is being applied",
    RecoveryState.PAUSED: "is confirmed already, and is paused",
    RecoveryState.DONE: "is confirmed already: every row has had its turn",
    RecoveryState.ABORTED: "was aborted",
    RecoveryState.DROPPED: "was dropped",
    RecoveryState.EXPIRED: "has expired: nobody confirmed it in time. Make a new one",
}


def state_sentence(name: str, state: RecoveryState) -> str:
    """Where the recovery of that name stands, as the reason why something else is not possible."""
    return f"Recovery {name} {_STANDS[state]}."


_LEFT_WORDS: Mapping[LeftOut, str] = {
    LeftOut.UNKNOWN: "unknown",
    LeftOut.NOT_ENDED: "not ended",
    LeftOut.NOT_DEAD: "no dead letter",
    LeftOut.DISCARDED: "discarded",
    LeftOut.REMOVED: "removed by retention",
    LeftOut.ALL_DONE: "with every item done",
    LeftOut.UNRUNNABLE: "of a schedule that does not run here",
    LeftOut.DISABLED: "of a disabled schedule",
    LeftOut.SKIPPED: "skipped",
    LeftOut.MONEY: f"for {' or '.join(roles_with(Permission.PAYOUT_RELEASE))}, as money moves",
    LeftOut.PERMISSION: "for others, as no money moves",
    LeftOut.IN_RECOVERY: "in another recovery",
    LeftOut.TAKEN_OUT: "taken out",
}


def nothing_left(left: Mapping[LeftOut, int], act: RecoveryAct) -> str:
    """What is said of a set of which everything is left out, with the count of each reason."""
    if not any(left.values()):
        return f"Nothing is there to {act}. Nothing can go into a recovery."
    reasons = ", ".join(f"{left[reason]:,} {_disabled(reason, act)}" for reason in LeftOut if left.get(reason))
    return f"Nothing can go into the recovery: {reasons}."


def _disabled(reason: LeftOut, act: RecoveryAct) -> str:
    if reason is LeftOut.DISABLED and act is RecoveryAct.DISABLE:
        return "disabled already"
    return recovery_jobs.left_words(reason) or _LEFT_WORDS[reason]


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What is known of something that is left out, for its sentence."""

    name: str
    schedule: str
    reason: LeftOut
    scheduled_at: datetime | None = None
    state: str | None = None
    disabled_by: str | None = None
    """Name of who disabled its schedule."""
    disabled_reason: str | None = None
    recovery: str | None = None
    """Name of the other recovery."""


def left_sentence(left: Left, act: RecoveryAct) -> str:
    """Why it is not in the recovery, in a sentence."""
    if left.reason is LeftOut.DISABLED:
        who = left.disabled_by or "somebody"
        already = "already " if act is RecoveryAct.DISABLE else ""
        return f"{left.schedule} was {already}disabled by {who}: {(left.disabled_reason or 'no reason is known').rstrip('.')}."
    if left.reason is LeftOut.IN_RECOVERY:
        return f"It is in recovery {left.recovery}, which is not over yet."
    if left.reason in (LeftOut.MONEY, LeftOut.PERMISSION):
        return _whose(left, act)
    return _SENTENCES[left.reason].format(
        schedule=left.schedule or "its schedule", state=left.state or "not there", acted=f"{act.value.rstrip('e')}ed"
    )


def _whose(left: Left, act: RecoveryAct) -> str:
    moves = Moves.MONEY if left.reason is LeftOut.MONEY else Moves.NOTHING
    needed = permission_for(act, moves)
    roles = " or ".join(roles_with(needed))
    what = "moves money" if moves is Moves.MONEY else "moves no money"
    return f"{left.schedule} {what}: a person with {needed} ({roles}) {act}s it."


_SENTENCES: Mapping[LeftOut, str] = {
    LeftOut.UNKNOWN: "Nothing of this name is known in the tenant.",
    LeftOut.NOT_ENDED: "It has not ended: it is {state}.",
    LeftOut.NOT_DEAD: "It is {state}, and only a dead letter can be {acted}.",
    LeftOut.DISCARDED: "A person discarded it. Name it by itself to replay it all the same.",
    LeftOut.REMOVED: "It lies at or before what retention has removed of {schedule}.",
    LeftOut.ALL_DONE: "It was completed and every item of it is done. Name it by itself to replay it all the same.",
    LeftOut.UNRUNNABLE: "No record of this deployment runs {schedule} for the tenant.",
    LeftOut.SKIPPED: "Its misfire policy skipped it. Ask for skipped instants to take it in.",
    LeftOut.TAKEN_OUT: "Its owner took it out.",
}
RHYTHM_CHANGED = "The rhythm of {schedule} is another one since: which instants were skipped cannot be told any more."


def order_words(order: RecoveryOrder) -> str:
    """What was asked for, in words: `replay statements.nightly, 28 Nov 00:00 to 30 Nov 00:00 UTC`."""
    if order.act in recovery_jobs.JOB_ACTS:
        return recovery_jobs.order_words(order)
    if order.occurrences is not None:
        what = _named(order.occurrences)
    elif order.schedules is not None:
        what = _named(order.schedules)
    else:
        what = "every schedule"
    parts = [f"{order.act} {what}"]
    if order.since is not None or order.until is not None:
        parts.append(_stretch(order.since, order.until))
    if order.causes:
        parts.append("dead because of " + " or ".join(order.causes))
    if order.skipped:
        parts.append("with skipped instants")
    if order.disable_until is not None:
        parts.append(f"until {_short(order.disable_until, year=True)} UTC")
    return ", ".join(parts)


def _named(names: Sequence[str]) -> str:
    told = ", ".join(names[:_NAMES_TOLD])
    more = len(names) - _NAMES_TOLD
    return f"{told} and {more:,} more" if more > 0 else told


def _stretch(since: datetime | None, until: datetime | None) -> str:
    if since is None or until is None:
        return f"from {_short(since, year=True)} UTC" if since is not None else f"to {_short(until, year=True)} UTC"
    year = since.astimezone(UTC).year != until.astimezone(UTC).year
    return f"{_short(since, year=year)} to {_short(until, year=year)} UTC"


def _short(at: datetime | None, *, year: bool) -> str:
    if at is None:
        return ""
    there = at.astimezone(UTC)
    clock = f"{there:%H:%M:%S}" if there.second else f"{there:%H:%M}"
    return f"{there.day} {_MONTHS[there.month - 1]}{f' {there.year}' if year else ''} {clock}"


def order_command(order: RecoveryOrder) -> str:
    """The headless command that makes the same one."""
    if order.act in recovery_jobs.JOB_ACTS:
        return recovery_jobs.order_command(order)
    words = ["jobconsole", "recoveries", order.act.value]
    for option, names in (("--schedule", order.schedules), ("--occurrence", order.occurrences)):
        for name in names or ():
            words += [option, name]
    for option, at in (("--from", order.since), ("--to", order.until), ("--until", order.disable_until)):
        if at is not None:
            words += [option, _exact(at)]
    for cause in order.causes or ():
        words += ["--cause", cause.value]
    if order.skipped:
        words.append("--skipped")
    return shlex.join([*words, "--reason", order.reason])


def _exact(at: datetime) -> str:
    there = at.astimezone(UTC).replace(tzinfo=None)
    return there.isoformat(timespec="microseconds" if there.microsecond else "seconds") + "Z"


@dataclass(frozen=True, slots=True, kw_only=True)
class Frozen:
    """What a recovery's own row says of it, as far as the digest has it. `money` is as the row's JSON has it."""

    tenant: str
    recovery: str
    owner: str
    act: str
    reason: str
    frozen_at: datetime
    disable_until: datetime | None
    count: int
    money: Sequence[Mapping[str, Any]]


def digest_head(frozen: Frozen) -> RecoveryDigestHead:
    """What of a recovery's head goes through its digest."""
    return RecoveryDigestHead(
        tenant=frozen.tenant,
        recovery=frozen.recovery,
        person=frozen.owner,
        act=frozen.act,
        reason=frozen.reason,
        frozen_at=frozen.frozen_at,
        disable_until=frozen.disable_until,
        count=frozen.count,
        money=tuple(
            RecoveryDigestMoney(
                currency=str(each["currency"]),
                exponent=int(each["exponent"]),
                out_minor=int(each["out_minor"]),
                count=int(each["count"]),
            )
            for each in frozen.money
        ),
    )


def digest_row(row: Mapping[str, Any]) -> RecoveryDigestRow:
    """A stored row as it goes into the digest."""
    return RecoveryDigestRow(
        number=row["number"],
        key=row["key"],
        target=row["target"],
        name=row["name"],
        moves=row["moves"],
        row_version=row["row_version"],
        state=row["state"] or "",
        not_done=row["not_done"],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedRow:
    """A row that is no longer as it was frozen. `state_now` is None where there is no such thing any more."""

    number: int
    key: str
    name: str
    state_before: str
    state_now: str | None
    version_before: int
    version_now: int | None
    disabled_by: str | None


def told(row: ChangedRow) -> PlanChange:
    """The one change of a row that says most, before and after."""
    field, before, after = "version", str(row.version_before), str(row.version_now)
    if row.state_now is None:
        field, before, after = "state", row.state_before, "removed"
    elif row.state_now != row.state_before:
        field, before, after = "state", row.state_before, row.state_now
    elif row.version_before == row.version_now and row.disabled_by is not None:
        field, before, after = "schedule", "enabled", f"disabled by {row.disabled_by}"
    return PlanChange(number=row.number, item=row.key, title=row.name, field=field, before=before, after=after)


def changed_sentence(all_told: Sequence[PlanChange], count: int) -> str:
    """What changed, in one sentence: the first of the rows, and how many there are."""
    named = "; ".join(
        f"{each.number} {each.title}, {each.field}: {each.before} → {each.after}" for each in all_told[:_SENTENCE_TOLD]
    )
    rows = "1 row is" if count == 1 else f"{count:,} rows are"
    more = " and more" if count > _SENTENCE_TOLD else ""
    return f"{rows} not as the recovery shows: {named}{more}. Make a new one."


def money_changes(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> list[PlanChange]:
    """What confirmed plans hold waiting, by currency, where it is not what the recovery shows."""
    was, now_held = ({each["currency"]: _held(each) for each in held} for held in (before, after))
    nothing = "nothing"
    return [
        PlanChange(
            number=0,
            item=currency,
            title=f"what waits in {currency}",
            field="money",
            before=was.get(currency, nothing),
            after=now_held.get(currency, nothing),
        )
        for currency in sorted(was.keys() | now_held.keys())
        if was.get(currency) != now_held.get(currency)
    ]


def _held(money: Mapping[str, Any]) -> str:
    return f"{amount(money['out_minor'], money['currency'])} in {money['count']:,}"
