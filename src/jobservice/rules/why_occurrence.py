"""Owns the causes that an occurrence itself gives for not running now: its state, its time, its lock, its attempts. Pure; those
of its schedule, and the rank, are `rules/why.py`."""

from __future__ import annotations

from datetime import datetime

from jobcontract.occurrence_names import occurrence_name
from jobcontract.states import DeadCause
from jobservice.rules.standing import lasting
from jobservice.rules.why_facts import Evidence, Facts, Judged, attempt, clock, lease, lease_facts, said


def running(facts: Facts) -> Judged:
    """It does run."""
    one = facts.one
    if one is None or one.lease is None:
        return None
    return (
        f"It runs: {lease(one.lease, facts.now)}.",
        (*lease_facts(one.lease), Evidence(label="attempt", value=attempt(facts, one.attempts))),
        "Wait for its end; whoever may can cancel it.",
    )


def ended(facts: Facts) -> Judged:
    """It ended, whatever became of it; or retention removed it."""
    one = facts.one
    if one is None:
        return removed(facts)
    if one.ended_at is None:
        return None
    how, remedy = f"It was completed at {clock(one.ended_at, facts.now)}", "To run it again, replay it."
    evidence = [Evidence(label="ended", value=one.state.value, at=one.ended_at)]
    if one.cause is not None:
        how = f"It became a dead letter at {clock(one.ended_at, facts.now)} ({one.cause.value})"
        remedy = "Look at its error and its items; then replay it, or discard it."
        evidence.append(Evidence(label="cause", value=one.cause.value))
    if one.cause is DeadCause.CANCELLED and one.cancel is not None:
        how = f"It was cancelled at {clock(one.ended_at, facts.now)} as {one.cancel.by} asked: {one.cancel.reason}"
    if one.error:
        evidence.append(Evidence(label="error", value=one.error))
    if one.put_away:
        how, remedy = f"{how}, and was discarded", "To run it again, replay it."
    if facts.recovery:
        how = f"{how}; it waits for its turn in the recovery {facts.recovery}"
        evidence.append(Evidence(label="recovery", value=facts.recovery))
        remedy = f"Look at the recovery {facts.recovery}: it may be paused."
    return f"{how}.", evidence, remedy


def removed(facts: Facts) -> Judged:
    """What the instant had is gone by retention."""
    floor, at = facts.floor_at, facts.instant
    if at is None or floor is None or at > floor or facts.skipped is not None:
        return None
    return (
        f"It is gone: retention has removed what was scheduled up to {clock(floor, facts.now)}.",
        [Evidence(label="kept from", value="retention", at=floor)],
        "The audit trail still tells what was done by people; nothing else of it is kept.",
    )


def cancelled(facts: Facts) -> Judged:
    """A person asked for it to be cancelled, and it has not ended yet."""
    one = facts.one
    if one is None or one.cancel is None or one.ended_at is not None:
        return None
    cancel = one.cancel
    what = "it is not started" if facts.waits else "what runs is being stopped"
    return (
        f"{cancel.by} asked for it to be cancelled: {what}. Reason: {said(cancel.reason)}",
        [Evidence(label="asked by", value=cancel.by, at=cancel.at), Evidence(label="reason", value=cancel.reason)],
        "A Worker ends it within a moment. To run it after all, replay it once it has ended.",
    )


def missed(facts: Facts) -> Judged:
    """Not started in time."""
    one = facts.one
    if one is None or not facts.waits or one.miss_at is None or one.miss_at > facts.now:
        return None
    return (
        f"It was missed at {clock(one.miss_at, facts.now)}: it had not started by then, and the planner decides by the "
        "misfire policy.",
        [Evidence(label="missed", value="", at=one.miss_at), Evidence(label="due", value="", at=one.due_at)],
        "The planner decides within a second where a Worker lives.",
    )


def lock_held(facts: Facts) -> Judged:
    """Another one of its lock runs, or waits before it."""
    if not facts.due:
        return None
    if facts.holder is not None:
        holder = facts.holder
        return (
            f"Waiting: {lease(holder, facts.now)}.",
            (
                Evidence(label="lock", value=facts.lock),
                Evidence(label="held by", value=occurrence_name(holder.schedule, holder.scheduled_at)),
                *lease_facts(holder),
                Evidence(label="waiting before it", value=f"{facts.before:,}"),
            ),
            "Wait for the end of what runs, or have it cancelled.",
        )
    if not facts.before:
        return None
    return (
        f"Waiting: {facts.before:,} {'waits' if facts.before == 1 else 'wait'} before it under the lock {facts.lock}, "
        f"{facts.before_name} first.",
        [
            Evidence(label="lock", value=facts.lock),
            Evidence(label="first of the lock", value=facts.before_name),
            Evidence(label="waiting before it", value=f"{facts.before:,}"),
        ],
        f"Ask why {facts.before_name} is not running.",
    )


def backing_off(facts: Facts) -> Judged:
    """It waits for its next attempt."""
    one = facts.one
    if one is None or not facts.waits or facts.due or not one.attempts:
        return None
    evidence = [
        Evidence(label="next attempt", value=attempt(facts, one.attempts + 1), at=one.due_at),
        Evidence(label="attempts so far", value=f"{one.attempts:,}"),
    ]
    if one.error:
        evidence.append(Evidence(label="error of the last", value=one.error))
    return (
        f"Waiting for attempt {attempt(facts, one.attempts + 1)} at {clock(one.due_at, facts.now)}, in "
        f"{lasting(one.due_at - facts.now)}: the one before failed.",
        evidence,
        "Look at its error; it is tried again by itself.",
    )


def full(facts: Facts) -> Judged:
    """Nobody has a free slot."""
    seen = facts.processes
    if not facts.due or not seen.live or seen.taken < seen.slots:
        return None
    return (
        f"Waiting for a free slot: {seen.taken:,} occurrences run, and the {seen.live:,} live "
        f"{'Worker has' if seen.live == 1 else 'Workers have'} room for {seen.slots:,}.",
        [Evidence(label="running", value=f"{seen.taken:,}"), Evidence(label="slots", value=f"{seen.slots:,}")],
        "Wait, or start a further Worker.",
    )


def not_due(facts: Facts) -> Judged:
    """Its time has not come, or its rhythm has no such time."""
    one, at = facts.one, facts.instant
    if one is not None:
        if not facts.waits or facts.due or one.attempts:
            return None
        return (
            _coming(facts, one.due_at),
            [Evidence(label="due", value="", at=one.due_at)],
            None,
        )
    if at is not None and (facts.skipped is not None or removed(facts) is not None):
        return None
    if at is not None and not facts.manual and not facts.of_rhythm:
        before, after = facts.neighbours
        told = " and ".join(f"{each:%Y-%m-%dT%H:%M:%SZ}" for each in (before, after) if each is not None)
        return (
            f"Its rhythm has no such instant{f'; its neighbours are {told}' if told else ''}.",
            [
                Evidence(label=label, value="", at=each)
                for label, each in (("asked for", at), ("instant before", before), ("instant after", after))
                if each is not None
            ],
            "Ask for an instant that its rhythm has.",
        )
    coming = facts.next_at if at is None else at
    if coming is None or coming <= facts.now or facts.manual:
        return None
    return (
        _coming(facts, coming),
        [Evidence(label="due", value="", at=coming)],
        None,
    )


def _coming(facts: Facts, at: datetime) -> str:
    """When it runs; of what is disabled or stopped only that nothing is due, and when it would run then."""
    held = []
    if facts.stop is not None:
        held.append("the stop is lifted")
    if facts.off is not None and facts.off.holds(facts.now):
        held.append("it is enabled")
    when = f"{clock(at, facts.now)}, in {lasting(at - facts.now)}"
    if not held:
        return f"It is not due yet: it runs at {when}."
    which = "it runs next at" if facts.one is None and facts.instant is None else "its time is"
    return f"Nothing is due; once {' and '.join(held)}, {which} {when}."
