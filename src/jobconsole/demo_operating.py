"""Owns the act of the headless walk about the operator's half: why, simulator, runbooks, disable and enable, a replay as a
plan, a stop, a Worker that may not be drained, the timeline. Each outcome is compared with what it must be; uses the
functions of `client/` that screens and twins use.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta

from jobconsole.client import (
    acts,
    occurrences,
    overview,
    recoveries,
    runbooks,
    simulation,
    stops,
    timeline,
    why,
    workers,
)
from jobconsole.client import queues as queue_client
from jobconsole.client.queues import new_key
from jobconsole.client.service import Service
from jobconsole.demo_desk import FIRST, OPERATOR, Desk, must, refused
from jobcontract.errors import ErrorCode
from jobcontract.operating import Fate, Procedure, RecoveryAct, RecoveryState, StopScope, TimelineKind, WhyKind
from jobcontract.recoveries import Recovery, RecoveryOrder
from jobcontract.simulation import Down, Edit
from jobcontract.states import MisfirePolicy, OccurrenceState, Turn, WorkerStanding

RESCORE, NIGHTLY, HOURLY = "payouts.rescore", "statements.nightly", "releases.hourly"
DISPUTES = "payments.disputes"
PATIENCE = 60.0
"""Seconds in which a confirmed replay must be done."""
NIGHTS = (datetime(2026, 10, 23, 12, tzinfo=UTC), datetime(2026, 10, 26, 12, tzinfo=UTC))
"""Three nights, in one of which the clocks of London go back."""
DOWN = Down(since=datetime(2026, 10, 23, 20, tzinfo=UTC), until=datetime(2026, 10, 25, 8, tzinfo=UTC))
"""When nothing ran: over two of them."""
REASON = "The walk tries it."


def _operator(desk: Desk) -> Service:
    return desk.people[OPERATOR]


async def why_not(desk: Desk) -> str:
    """Why the nightly schedule does not run now: one sentence, and every cause was checked."""
    told = await why.schedule_why(_operator(desk), NIGHTLY)
    must({cause.kind for cause in told.causes} == set(WhyKind), "not every cause was checked")
    first = told.causes[0]
    must(first.applies, "no cause applies, and it does not run")
    return f"{told.sentence}\n{sum(not cause.applies for cause in told.causes)} other causes were checked"


async def simulate(desk: Desk) -> str:
    """A missed night is made up for by the record, and would be skipped by an edit that nobody saved."""
    edit = Edit(misfire=MisfirePolicy.SKIP)
    told = await simulation.simulate(_operator(desk), NIGHTLY, *NIGHTS, (DOWN,), edit)
    current = {row.fate: row.count for row in told.current.counts}
    must(told.edited is not None, "the edit was not simulated")
    assert told.edited is not None  # noqa: S101  # said above
    edited = {row.fate: row.count for row in told.edited.counts}
    must(current.get(Fate.MADE_UP) == 2 and Fate.SKIPPED not in current, f"by the record: {current}")
    must(edited.get(Fate.SKIPPED) == 2 and Fate.MADE_UP not in edited, f"by the edit: {edited}")
    return told.words


async def read_runbooks(desk: Desk) -> str:
    """How it is inspected, replayed and disabled, by which interface, and by whom."""
    told = await runbooks.runbooks(desk.people[FIRST], NIGHTLY)
    must({row.procedure for row in told.runbooks} == set(Procedure), "a procedure is missing")
    barred = [row.procedure for row in told.runbooks if row.refused is not None]
    must(Procedure.DISABLE in barred and Procedure.INSPECT not in barred, f"finance may not {', '.join(barred)}")
    return "\n".join(
        (f"{len(told.runbooks)} procedures", *(f"{row.procedure}: {row.command}" for row in told.runbooks))
    )


async def disable(desk: Desk) -> str:
    """The operator disables a schedule until an hour from now; finance may not, and sees who did and why."""
    now = (await overview.overview(_operator(desk))).now
    until = (now + timedelta(hours=1)).replace(microsecond=0)
    await refused(acts.disable_schedule(desk.people[FIRST], HOURLY, REASON, new_key()), ErrorCode.PERMISSION_MISSING)
    changed = await acts.disable_schedule(_operator(desk), HOURLY, REASON, new_key(), until)
    off = changed.schedule.disabled
    must(
        off is not None and off.until == until and off.reason == REASON, "it does not say that it is disabled, and why"
    )
    desk.done.append((desk.name(OPERATOR), "disable-schedule", HOURLY, "done"))
    seen = await why.schedule_why(desk.people[FIRST], HOURLY)
    must(any(cause.kind is WhyKind.DISABLED and cause.applies for cause in seen.causes), "finance does not see why")
    return seen.sentence


async def enable(desk: Desk) -> str:
    """What it makes up for is said before; then it runs again."""
    told = await acts.enabling(_operator(desk), HOURLY)
    must(told.disabled, "it is not disabled")
    changed = await acts.enable_schedule(_operator(desk), HOURLY, REASON, new_key())
    must(changed.schedule.disabled is None, "it is still disabled")
    desk.done.append((desk.name(OPERATOR), "enable-schedule", HOURLY, "done"))
    return told.words


async def replay(desk: Desk) -> str:
    """What ran last runs again, named, as a plan: frozen, read whole, confirmed, watched to its end."""
    service = _operator(desk)
    ran = (await occurrences.occurrences(service, RESCORE, (OccurrenceState.COMPLETED,))).occurrences[0]
    order = RecoveryOrder(
        act=RecoveryAct.REPLAY,
        reason=REASON,
        occurrences=(ran.name,),
    )
    made = await recoveries.make(service, order, new_key())
    must(made.count == 1 and made.state is RecoveryState.OPEN, f"{made.count} rows, {made.state}")
    digest = await recoveries.digest_of(service, made)
    wrong = "0" * len(digest)
    await refused(recoveries.confirm(service, made.id, wrong, None, new_key()), ErrorCode.PLAN_DIGEST)
    await recoveries.confirm(service, made.id, digest, None, new_key())
    done = await _ended(service, made)
    account = {row.turn: row.count for row in done.account}
    must(done.state is RecoveryState.DONE and account == {Turn.DONE: 1}, f"{done.state}: {account}")
    again = await occurrences.occurrence(service, ran.name)
    must(
        again.occurrence.id == ran.id and again.occurrence.scheduled_at == ran.scheduled_at, "it is another occurrence"
    )
    must(again.occurrence.replays == 1 and again.replays[0].reason == REASON, "the replay is not in its history")
    fences = [attempt.fence for attempt in again.attempts]
    must(len(fences) >= 2 and fences == sorted(set(fences), reverse=True), f"its fences did not rise: {fences}")
    return f"{made.name}: {ran.name} ran again, fence {fences[1]} then {fences[0]}"


async def _ended(service: Service, made: Recovery) -> Recovery:
    loop = asyncio.get_running_loop()
    end = loop.time() + PATIENCE
    while not (found := (await recoveries.recovery(service, made.id)).recovery).state.ended:
        must(loop.time() < end, f"{made.name} is {found.state} {PATIENCE:g} s later")
        await asyncio.sleep(0.2)
    return found


async def stop(desk: Desk) -> str:
    """A queue is held still: nobody claims, and hears who stopped it and why; lifted, it goes on."""
    await stops.stop(_operator(desk), StopScope.QUEUE, DISPUTES, REASON, new_key())
    call = queue_client.claim_next(desk.people[FIRST], DISPUTES, new_key())
    sentence = await refused(call, ErrorCode.WORK_STOPPED, naming=desk.sessions[OPERATOR])
    left = await stops.lift(_operator(desk), StopScope.QUEUE, DISPUTES, REASON, new_key())
    must(all(row.name != DISPUTES for row in left.stops), "it is still stopped")
    return sentence


async def last_worker(desk: Desk) -> str:
    """The only Worker may not be drained: it works for others too."""
    live = [row for row in (await workers.workers(_operator(desk))).workers if row.standing is WorkerStanding.LIVE]
    must(len(live) == 1, f"{len(live)} Workers live")
    call = acts.drain_worker(_operator(desk), live[0].incarnation, REASON, new_key())
    return await refused(call, ErrorCode.WORKER_LAST)


async def read_timeline(desk: Desk) -> str:
    """What happened, over all nouns, in order: to hand over with."""
    service = _operator(desk)
    now = (await overview.overview(service)).now
    entries = [row async for row in timeline.every_entry(service, now - timedelta(hours=1), now + timedelta(minutes=1))]
    must([row.at for row in entries] == sorted(row.at for row in entries), "it is not in order")
    kinds = {row.kind for row in entries}
    wanted = {TimelineKind.ACT, TimelineKind.SCHEDULE, TimelineKind.STOP, TimelineKind.RECOVERY, TimelineKind.WORKER}
    must(wanted <= kinds, f"it tells nothing of {', '.join(sorted(wanted - kinds))}")
    return f"{len(entries)} entries: {', '.join(sorted(kinds))}"


STEPS: Sequence[tuple[str, Callable[[Desk], Awaitable[str]]]] = (
    ("why a schedule does not run", why_not),
    ("simulate two missed nights", simulate),
    ("read its runbooks", read_runbooks),
    ("disable a schedule with a note", disable),
    ("enable it, and what is made up", enable),
    ("replay a run as a plan", replay),
    ("stop a queue, and let it go on", stop),
    ("the last Worker may not be drained", last_worker),
    ("the timeline of the last hour", read_timeline),
)
"""This act, in order."""
