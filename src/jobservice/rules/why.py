"""Owns why something does not run now: every cause is checked, those that apply stand first, by their rank. Pure: facts and
the present instant are handed in. Looks nothing up, and changes nothing.

The rank is the order of `WhyKind`: what stands before the rest in it is what a person has to deal with first. What an
occurrence itself gives for a cause is `rules/why_occurrence.py`; here is what its schedule and the service give.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from jobcontract.occurrence_names import occurrence_name
from jobcontract.operating import WhyKind
from jobcontract.states import SkipPolicy
from jobservice.rules import why_occurrence as occurrence
from jobservice.rules.standing import lasting
from jobservice.rules.why_facts import Evidence, Facts, Judged, clock, said


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One cause: it applies, or was checked and does not."""

    kind: WhyKind
    applies: bool
    sentence: str
    evidence: tuple[Evidence, ...] = ()
    remedy: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One sentence, and every cause that was checked: those that apply first, by rank."""

    sentence: str
    causes: tuple[Cause, ...]


def why(facts: Facts) -> Answer:
    """The answer: the sentence of the first cause that applies, and all causes."""
    causes = [_cause(kind, facts) for kind in WhyKind]
    ranked = sorted(causes, key=lambda cause: not cause.applies)  # stable: by rank among each other
    first = ranked[0]
    return Answer(sentence=first.sentence if first.applies else _nothing(facts), causes=tuple(ranked))


def _cause(kind: WhyKind, facts: Facts) -> Cause:
    judged = _JUDGES[kind](facts)
    if judged is None:
        return Cause(kind=kind, applies=False, sentence=f"Checked: {_CHECKED[kind]}.")
    sentence, evidence, remedy = judged
    return Cause(kind=kind, applies=True, sentence=sentence, evidence=tuple(evidence), remedy=remedy)


def _nothing(facts: Facts) -> str:
    """What is to be said where nothing holds it back."""
    one = facts.one
    if one is None:
        return "Nothing holds it back: the planner is about to plan its next instant."
    return (
        f"Nothing holds it back: it is due since {lasting(facts.now - one.due_at)}, a Worker has room, and starts it within a "
        "moment."
    )


def _stopped(facts: Facts) -> Judged:
    stop = facts.stop
    if stop is None or not facts.open:
        return None
    return (
        f"All work of the tenant is stopped by {stop.by} since {clock(stop.at, facts.now)}: {said(stop.reason)}",
        [Evidence(label="stopped by", value=stop.by, at=stop.at), Evidence(label="reason", value=stop.reason)],
        f"Ask {stop.by}, or lift the stop (work.stop); money that was stopped with it takes a code of its own.",
    )


def _disabled(facts: Facts) -> Judged:
    off = facts.off
    if off is None or not off.holds(facts.now) or not facts.open:
        return None
    until = "until somebody enables it" if off.until is None else f"until {clock(off.until, facts.now)}"
    evidence = [Evidence(label="disabled by", value=off.by, at=off.at), Evidence(label="reason", value=off.reason)]
    if off.until is not None:
        evidence.append(Evidence(label="enables by itself", value="", at=off.until))
    return (
        f"The schedule is disabled by {off.by} {until}: {said(off.reason)}",
        evidence,
        "Enable it; what its misfire policy then makes up for is said before.",
    )


def _retired(facts: Facts) -> Judged:
    if not facts.open or (facts.known and facts.retired_at is None):
        return None
    since = "" if facts.retired_at is None else f", since {clock(facts.retired_at, facts.now)}"
    evidence = [Evidence(label="not in the records", value=facts.schedule, at=facts.retired_at)]
    return (
        f"The records do not have {facts.schedule} any more{since}: no Worker of this version can run it.",
        evidence,
        "Bring its record back, or cancel what waits.",
    )


def _elsewhere(facts: Facts) -> Judged:
    if not facts.open or not facts.elsewhere:
        return None
    return (
        f"Its record says that it runs {facts.elsewhere}, and not here.",
        [Evidence(label="runs", value=facts.elsewhere)],
        "Ask there, or change `runsWhere` or `tenants` of its record.",
    )


def _parked(facts: Facts) -> Judged:
    parked = facts.parked
    if parked is None or not facts.open:
        return None
    return (
        f"Its schedule is parked, since its instants cannot be computed: {said(parked.reason)}",
        [Evidence(label="parked", value=parked.reason, at=parked.at)],
        "Mend its record; the planner tries again with each new version of the records.",
    )


def _unplanned(facts: Facts) -> Judged:
    if facts.one is not None or not facts.known or facts.elsewhere:
        return None
    if not facts.planned:
        return (
            "No Worker has read its record yet, so nothing of it is planned.",
            [Evidence(label="live Workers", value=f"{facts.processes.live:,}", at=facts.processes.beat_at)],
            "See whether a Worker runs that has these records.",
        )
    at, until = facts.instant, facts.planned_until
    if (
        at is None
        or until is None
        or facts.skipped
        or not facts.of_rhythm
        or facts.manual
        or occurrence.removed(facts) is not None
    ):
        return None
    if at > until and at <= facts.now:
        return (
            f"It is not planned yet: the planner has come to {clock(until, facts.now)}.",
            [Evidence(label="planned until", value="", at=until)],
            "See whether a Worker lives: one of them plans.",
        )
    if at <= until:
        return (
            "It was never planned: the schedule was new then, or ran at other times.",
            [Evidence(label="planned until", value="", at=until)],
            "A person may simulate what the schedule does; what was never planned is not made up for.",
        )
    return None


def _skipped(facts: Facts) -> Judged:
    skipped = facts.skipped
    if skipped is None or facts.one is not None:
        return None
    evidence = [
        Evidence(label="policy", value=skipped.policy.value, at=skipped.decided_at),
        Evidence(label="skipped from", value="", at=skipped.first_at),
        Evidence(label="skipped to", value=f"{skipped.count:,} in a row", at=skipped.last_at),
    ]
    how = "It was skipped"
    if skipped.policy in (SkipPolicy.SKIPPED_HOUR, SkipPolicy.REPEATED_HOUR):
        how = "It does not run by the clock"
    if skipped.merged_into is not None:
        merged = occurrence_name(facts.schedule, skipped.merged_into)
        how = f"It was merged into {merged}, which runs in its place"
        evidence.append(Evidence(label="merged into", value=merged, at=skipped.merged_into))
    return (
        f"{how}: {said(skipped.cause)}",
        evidence,
        "A recovery may take in what was skipped by a misfire policy; what a clock left out never runs.",
    )


def _no_worker(facts: Facts) -> Judged:
    seen = facts.processes
    if seen.live or not facts.open or (facts.one is None and (facts.manual or facts.instant is not None)):
        return None
    told = [f"{number:,} {word}" for number, word in ((seen.draining, "draining"), (seen.silent, "silent")) if number]
    last = "" if seen.beat_at is None else f", last heard of {lasting(facts.now - seen.beat_at)} ago"
    return (
        f"No Worker takes work: none is live ({' and '.join(told) or 'none is known'}{last}).",
        [
            Evidence(label="live", value=f"{seen.live:,}", at=seen.beat_at),
            Evidence(label="draining", value=f"{seen.draining:,}"),
            Evidence(label="silent", value=f"{seen.silent:,}"),
        ],
        "Start a Worker, or let one that drains take work again.",
    )


def _manual(facts: Facts) -> Judged:
    if not facts.manual or facts.one is not None:
        return None
    return (
        "Nothing but a person starts it.",
        [],
        f"Run it now, within its guard: jobconsole schedules run {facts.schedule}",
    )


_JUDGES: Mapping[WhyKind, Callable[[Facts], Judged]] = {
    WhyKind.RUNNING: occurrence.running,
    WhyKind.ENDED: occurrence.ended,
    WhyKind.CANCELLED: occurrence.cancelled,
    WhyKind.TENANT_STOPPED: _stopped,
    WhyKind.DISABLED: _disabled,
    WhyKind.RETIRED: _retired,
    WhyKind.ELSEWHERE: _elsewhere,
    WhyKind.PARKED: _parked,
    WhyKind.UNPLANNED: _unplanned,
    WhyKind.SKIPPED: _skipped,
    WhyKind.MISSED: occurrence.missed,
    WhyKind.NO_WORKER: _no_worker,
    WhyKind.LOCK_HELD: occurrence.lock_held,
    WhyKind.BACKING_OFF: occurrence.backing_off,
    WhyKind.WORKERS_FULL: occurrence.full,
    WhyKind.NOT_DUE: occurrence.not_due,
    WhyKind.MANUAL: _manual,
}
_CHECKED: Mapping[WhyKind, str] = {
    WhyKind.RUNNING: "no lease is held on it",
    WhyKind.ENDED: "it has not ended",
    WhyKind.CANCELLED: "nobody asked for it to be cancelled",
    WhyKind.TENANT_STOPPED: "no stop holds it back",
    WhyKind.DISABLED: "that the schedule is disabled does not hold it back",
    WhyKind.RETIRED: "the records have its schedule, or it needs them no more",
    WhyKind.ELSEWHERE: "it runs in this deployment and for this tenant",
    WhyKind.PARKED: "its instants can be computed",
    WhyKind.UNPLANNED: "nothing of it waits to be planned",
    WhyKind.SKIPPED: "no policy skipped it",
    WhyKind.MISSED: "it is not missed",
    WhyKind.NO_WORKER: "that it waits is not for want of a live Worker",
    WhyKind.LOCK_HELD: "nothing runs or waits before it under its lock",
    WhyKind.BACKING_OFF: "no failed attempt makes it wait",
    WhyKind.WORKERS_FULL: "it does not wait for a free slot",
    WhyKind.NOT_DUE: "its time does not hold it back",
    WhyKind.MANUAL: "that a person starts it does not hold it back",
}
"""What a cause that does not apply was checked for."""
