"""Owns the beginning: a Worker takes a job up, begins an attempt at a step, or hands the job back as it stops.

An attempt is counted as it begins, so that one whose Worker is killed counts (case RETRY-01); stops and the money switch
are read after a lock that whoever throws them waits for.
"""

from __future__ import annotations

from jobcontract.job_states import Carrier, JobEventKind, JobStatus, StepStatus
from jobcontract.states import Moves
from jobservice.rules import jobs as rules
from jobservice.rules.job_states import CancelAsked, Ended, Held, Lost, Passed, StepState, Wait
from jobservice.rules.stops import sentence as stop_sentence
from jobservice.store import jobs as store
from jobservice.store.database import Transaction
from jobservice.store.job_events import NewEvent
from jobservice.store.job_steps import StepChange
from jobservice.store.jobs import HeldBy, LockedJob
from jobservice.usecases.job_runs import LOST, Begun, Run, TakenUp, fail_step, late, lost_to, outward_key, write_step
from jobservice.usecases.job_settling import JobMoved


async def take_up(
    transaction: Transaction, *, family: str, job: str, holder: str, handle: str
) -> TakenUp | Ended | Lost:
    """Make the job this Worker's under a raised fence; a job that ran before says in its history that it was taken up.

    `handle`: the engine's name of the workflow; one that is not the job's own is `Lost`. A pending job stays pending
    until its first step begins. Taken up twice by the same holder raises the fence twice.
    """
    locked = await store.lock_holding_work(transaction, family, job)
    if locked is None:
        return Lost(sentence="The job is not there (any more).")
    found, _ = locked
    if found.handle != handle or found.state.carrier is not Carrier.ENGINE:
        return Lost(sentence="The job was handed over under another name.")
    if found.state.status.final:
        return late(found, "take-up")
    again = found.holder is not None or found.state.status is JobStatus.RUNNING
    events = []
    if again:
        sentence = (
            "Another Worker goes on with it." if found.holder not in (None, holder) else "A Worker goes on with it."
        )
        events.append(NewEvent(kind=JobEventKind.TAKEN_UP, sentence=sentence, status=found.state.status.value))
    change = store.RootChange(status=found.state.status, new_holder=holder, taken=True)
    row = await store.write(transaction, found, change, events)
    if row is None:
        raise JobMoved(f"job {found.id} is not as it was locked")
    return TakenUp(
        run=Run(family=family, job=job, tenant=found.tenant, holder=holder, fence=row["fence"]),
        kind=found.kind,
        version=found.kind_version,
        moves=found.state.moves,
        steps=found.state.steps,
        cancel_asked=found.state.cancel_asked,
        lineage=found.lineage,
        plan=found.plan,
        recovery=found.recovery,
    )


async def begin_step(
    transaction: Transaction, run: Run, position: int, *, attempts_most: int
) -> Begun | Passed | Wait | Held | CancelAsked | Ended | Lost:
    """Begin an attempt at the step: counted here, so that one whose Worker is killed counts (case RETRY-01).

    Where `attempts_most` were begun already, the last one's Worker was lost: step and job end as failed (`Ended`, here).
    Reads the tenant's stop, the stop of its kind, and for a step that moves money the money switch: `Held`, and the step
    says by whom and why, once. Whoever sets one waits until this transaction ended. A step that was sent without an outcome begins past all that, to ask.
    """
    locked = await store.lock_holding_work(transaction, run.family, run.job)
    if (lost := lost_to(run, None if locked is None else locked[0])) is not None or locked is None:
        return lost or Lost(sentence=LOST)
    job, by = locked
    decided = rules.decide_begin(
        job.state, position, attempts_most=attempts_most, held=held_by(by, job.state.at(position).moves)
    )
    if isinstance(decided, rules.Fail):
        return await fail_step(transaction, run, job, decided, reference=None)
    if isinstance(decided, Ended):
        return late(job, "begin-step")
    if isinstance(decided, Held):
        return await hold_still(transaction, run, job, job.state.at(position), decided)
    if not isinstance(decided, rules.Begin):
        return decided
    step = decided.step
    events = []
    if job.state.status is JobStatus.PENDING:
        events.append(NewEvent(kind=JobEventKind.STARTED, sentence="It started.", status=JobStatus.RUNNING.value))
    sentence = f"{step.label}: attempt {decided.attempt} began."
    if decided.lost:
        sentence += f" The Worker of attempt {step.attempts} was lost."
    if step.unanswered:
        sentence += " It was sent: what became of it is asked, and nothing is sent again."
    events.append(
        NewEvent(
            kind=JobEventKind.STEP_STARTED,
            sentence=sentence,
            step=step.step,
            status=StepStatus.RUNNING.value,
            detail={"attempt": decided.attempt},
        )
    )
    goes_on = rules.goes_on_sentence(step)
    change = StepChange(position=position, status=StepStatus.RUNNING, attempts=1, sentence=goes_on)
    await write_step(transaction, run, job, step, change, events)
    return _begun(job, step, decided.attempt)


async def hold_still(transaction: Transaction, run: Run, job: LockedJob, step: StepState, held: Held) -> Held:
    """Have the step say what holds it still, where it does not yet; its status, and the job's, stay."""
    said = rules.held_sentence(held.sentence)
    if step.sentence == said:
        return held
    event = NewEvent(kind=JobEventKind.PROGRESS, sentence=said, step=step.step, status=step.status.value)
    change = StepChange(position=step.position, status=step.status, sentence=said)
    root = store.RootChange(
        status=job.state.status,
        holder=run.holder,
        fence=run.fence,
        new_holder=run.holder,
        progress=job.state.progress,
    )
    if await store.write(transaction, job, root, [event], [change]) is None:
        raise JobMoved(f"job {job.id} is not as it was locked")
    return Held(sentence=held.sentence, told=True)


def held_by(by: HeldBy, moves: Moves) -> str | None:
    """Why no step that moves this may begin, in a sentence; None where it may."""
    if by.stop is not None:
        return stop_sentence(by.stop)
    if by.money is not None and moves is Moves.MONEY:
        return f"Money is stopped: {by.money}"
    return None


def _begun(job: LockedJob, step: StepState, attempt: int) -> Begun:
    return Begun(
        step=step,
        attempt=attempt,
        kind=job.kind,
        version=job.kind_version,
        inputs=job.inputs,
        results=job.results,
        requester=job.requester,
        subject=job.subject,
        customer=job.customer,
        workspace=job.workspace,
        plan=job.plan,
        recovery=job.recovery,
        depth=job.depth,
        lineage=job.lineage,
        scope=f"{job.lineage}/{step.step}",
        outward_key=outward_key(job.lineage, step.step),
        sent=step.sent,
    )


async def hand_back(transaction: Transaction, run: Run, sentence: str) -> bool:
    """Give the job back as its Worker stops: a running step is to be tried again at once and its attempt counts against no
    limit; the holder is taken off. False where the job is not this run's or is settled."""
    job = await store.lock(transaction, run.family, run.job)
    if lost_to(run, job) is not None or job is None or job.state.status.final:
        return False
    said = rules.safe(sentence)
    changes, events = [], []
    for step in job.state.steps:
        if step.status is StepStatus.RUNNING:
            change = StepChange(
                position=step.position, status=StepStatus.RETRYING, handed_back=1, wait_seconds=0.0, sentence=said
            )
            changes.append(change)
            detail = {"attempt": step.attempts, "handed_back": True}
            event = NewEvent(
                kind=JobEventKind.STEP_RETRYING,
                sentence=said,
                step=step.step,
                status=StepStatus.RETRYING.value,
                detail=detail,
            )
            events.append(event)
    last = {each.step: StepStatus.RETRYING for each in job.state.steps if each.status is StepStatus.RUNNING}
    change_of_root = store.RootChange(
        status=job.state.status,
        holder=run.holder,
        fence=run.fence,
        last_step=next(iter(last), None),
        last_step_status=next(iter(last.values()), None),
    )
    row = await store.write(transaction, job, change_of_root, events, changes)
    if row is None:
        raise JobMoved(f"job {job.id} is not as it was locked")
    return True
