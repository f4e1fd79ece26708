"""Owns the words of the operator's half: procedures of runbooks, recoveries, stops, alarms, causes, fates of instants.

Plain enumerations: the console's first frame imports them, and they import no pydantic.
"""

from __future__ import annotations

from enum import StrEnum


class Procedure(StrEnum):
    """What a runbook tells how to do (requirement provide-operational-recovery-procedures)."""

    INSPECT = "inspect"
    REPLAY = "replay"
    DISABLE = "disable"


class RecoveryAct(StrEnum):
    """What a recovery does to each thing that it holds: a plan over more than one occurrence or schedule."""

    REPLAY = "replay"
    """Occurrences of a stretch of time that ended run again: all of their items that are not done."""
    REQUEUE = "requeue"
    """Dead letters run again."""
    DISCARD = "discard"
    """Dead letters are put away: they stay to be read, and ask for nothing any more."""
    DISABLE = "disable"
    """Schedules are switched off."""
    RETRY = "retry"
    """A new job is made from each settled one."""
    CANCEL = "cancel"
    """Jobs that are not settled are cancelled."""


class RecoveryState(StrEnum):
    """Where a recovery stands."""

    OPEN = "open"
    """Frozen, to be looked at; nothing was done."""
    APPLYING = "applying"
    PAUSED = "paused"
    DONE = "done"
    ABORTED = "aborted"
    """A person ended it: what has begun goes on to its end, nothing else is begun."""
    DROPPED = "dropped"
    """Its owner gave it up before it was confirmed."""
    EXPIRED = "expired"

    @property
    def ended(self) -> bool:
        """Whether nothing is begun any more."""
        return self in (RecoveryState.DONE, RecoveryState.ABORTED, RecoveryState.DROPPED, RecoveryState.EXPIRED)


class RecoveryTarget(StrEnum):
    """What one row of a recovery is."""

    OCCURRENCE = "occurrence"
    SKIPPED_INSTANT = "skipped-instant"
    """An instant that a misfire policy skipped; taken in only where that was asked for, never by itself."""
    SCHEDULE = "schedule"
    JOB = "job"


class LeftOut(StrEnum):
    """Why something of the set is not in a recovery."""

    UNKNOWN = "unknown"
    NOT_ENDED = "not-ended"
    """It waits or runs still."""
    NOT_DEAD = "not-dead"
    """Only dead letters are requeued or discarded."""
    DISCARDED = "discarded"
    REMOVED = "removed"
    """It lies at or before what retention removed."""
    ALL_DONE = "all-done"
    """It was completed and each of its items is done: nothing of it would run again."""
    UNRUNNABLE = "unrunnable"
    """The records do not have its schedule any more."""
    DISABLED = "disabled"
    """Its schedule is disabled; or, to be disabled, is so already."""
    SKIPPED = "skipped"
    """It was skipped and never became an occurrence; ask for skipped instants to take it in."""
    MONEY = "money"
    """It moves money: a person with payout.release replays it."""
    PERMISSION = "permission"
    """It moves no money: whoever has occurrence.replay does it."""
    NOT_SETTLED = "not-settled"
    """The job goes on still: only settled ones are retried."""
    SETTLED = "settled"
    """There is nothing to cancel any more."""
    SUCCEEDED = "succeeded"
    """It did what it was to do: retried singly, with a reason, or not at all."""
    NOT_RETRYABLE = "not-retryable"
    RETRIED = "retried"
    """A retry of it is under way, or succeeded."""
    RESOLVED = "resolved"
    """A person said that it asks for nothing any more: retried by name, not by a filter."""
    CANCEL_ASKED = "cancel-asked"
    """Somebody asked for it to be cancelled already."""
    CARRIED = "carried"
    """A plan carries it: the plan is paused or aborted."""
    ELSEWHERE = "elsewhere"
    """It is another engine's."""
    IN_RECOVERY = "in-recovery"
    TAKEN_OUT = "taken-out"


class StopScope(StrEnum):
    """What a stop holds still (DESIGN.md, Stops)."""

    QUEUE = "queue"
    """No claims, no acts, no plans; items still come in."""
    BULK_COMMAND = "bulk-command"
    """No plan of it is made, confirmed, or goes on."""
    JOB_KIND = "job-kind"
    """No step of a job of that kind is begun."""
    TENANT = "tenant"
    """No occurrence starts, no item is claimed or acted on, and money is stopped with it."""


class AlarmKind(StrEnum):
    """What somebody is told of, the most urgent first."""

    STOPPED = "stopped"
    """A stop is in force."""
    WORKER_MISSING = "worker-missing"
    PARKED = "parked"
    DEAD_LETTER = "dead-letter"
    LATE = "late"
    SPIKE = "spike"
    """Far more dead letters or retries of a schedule than it has as a rule."""
    MISSED = "missed"
    LEAVING = "leaving"
    """Dead letters that retention removes within a day."""


class AlarmTold(StrEnum):
    """What became of telling others of an alarm by webhook."""

    NOBODY = "nobody"
    """No webhook is set."""
    WAITING = "waiting"
    SENT = "sent"
    GIVEN_UP = "given-up"


class WhyKind(StrEnum):
    """Why something does not run now: each is checked, and applies or not. In the order in which they are ranked."""

    RUNNING = "running"
    """It does run: the lease is held."""
    ENDED = "ended"
    CANCELLED = "cancelled"
    """A person asked for it to be cancelled."""
    TENANT_STOPPED = "tenant-stopped"
    DISABLED = "disabled"
    RETIRED = "retired"
    """The records do not have it any more."""
    ELSEWHERE = "elsewhere"
    """It runs in another deployment, or not for this tenant."""
    PARKED = "parked"
    UNPLANNED = "unplanned"
    """No Worker has read its record yet."""
    SKIPPED = "skipped"
    """The misfire policy or a change of the clock left the instant out."""
    MISSED = "missed"
    """Not started in time: the planner is about to decide by the misfire policy."""
    NO_WORKER = "no-worker"
    """No Worker lives, or all are draining."""
    LOCK_HELD = "lock-held"
    """Another occurrence runs under the same lock, or waits before it."""
    BACKING_OFF = "backing-off"
    WORKERS_FULL = "workers-full"
    NOT_DUE = "not-due"
    MANUAL = "manual"
    """Nothing but a person starts it."""


class Fate(StrEnum):
    """What becomes of one instant of a rhythm in a simulated course."""

    FIRES = "fires"
    MADE_UP = "made-up"
    """Missed, and run afterwards."""
    SKIPPED = "skipped"
    """Missed, and left out by the misfire policy."""
    MERGED = "merged"
    """Missed, and done by the later one that is made up."""
    GAP = "gap"
    """The clock leaves its local time out, and the policy does not run it."""
    REPEAT_LEFT = "repeat-left"
    """The clock shows its local time twice, and the policy leaves this one out."""


class TimelineKind(StrEnum):
    """Which noun an entry of an incident's timeline is about."""

    ACT = "act"
    """What a person, or the server's own command, did or was refused."""
    OCCURRENCE = "occurrence"
    SKIP = "skip"
    LEASE = "lease"
    """A lease was lost, handed back, or a late write refused."""
    SCHEDULE = "schedule"
    WORKER = "worker"
    STOP = "stop"
    ALARM = "alarm"
    PLAN = "plan"
    RECOVERY = "recovery"
    JOB = "job"
    """A background job failed, or was cancelled."""
