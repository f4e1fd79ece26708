"""Owns the closed sets of words for queues, items, claims, acts and roles. The word on the screen is the value here."""

from __future__ import annotations

from enum import StrEnum


class ClaimMode(StrEnum):
    """What a queue's record says of claims (requirement state-the-claim-mode)."""

    DISABLED = "disabled"
    """No claims: acts race, the first wins by version."""
    OPTIONAL = "optional"
    """Free items may be acted on; one held by another person is refused, naming the holder."""
    REQUIRED = "required"
    """Only the holder acts."""


class ItemState(StrEnum):
    """Where a work item stands. `set-aside` is an open item whose time has not come yet."""

    OPEN = "open"
    SET_ASIDE = "set-aside"
    EVIDENCE_ASKED = "evidence-asked"
    REJECTED = "rejected"
    RESOLVED = "resolved"
    RELEASED = "released"
    """Paid under a confirmed plan; the Worker alone writes it (MONEY.md 19)."""

    @property
    def closed(self) -> bool:
        """Whether no act may change an item in this state any more."""
        return self in CLOSED_STATES


CLOSED_STATES = frozenset({ItemState.REJECTED, ItemState.RESOLVED, ItemState.RELEASED})


class ItemView(StrEnum):
    """Which items of a queue a listing shows."""

    WAITING = "waiting"
    """Open or evidence asked, and not set aside: what can be worked now."""
    SET_ASIDE = "set-aside"
    CLOSED = "closed"


class ClaimEnding(StrEnum):
    """How a claim ended, in an item's history."""

    RELEASED = "released"
    """Given back by its holder."""
    LAPSED = "lapsed"
    """Its lease passed without a key of its holder."""
    BROKEN = "broken"
    """Taken by a colleague with *queue.claim.break* and a reason."""
    HANDED_OVER = "handed-over"
    ACTED = "acted"
    """An act closed the item or set it aside."""


class OutcomeKind(StrEnum):
    """How one act or one item of bulk work ended (MONEY.md 4): one enumeration everywhere."""

    DONE = "done"
    REFUSED = "refused"
    RETRY = "retry"
    FAILED = "failed"
    UNCERTAIN = "uncertain"


class Moves(StrEnum):
    """What a use case moves; its record must say so (MONEY.md 1)."""

    MONEY = "money"
    NOTHING = "nothing"


class Role(StrEnum):
    """What a person is in one tenant (MONEY.md 24)."""

    FINANCE = "finance"
    OPERATOR = "operator"
    SUPPORT = "support"
    AUDITOR = "auditor"
    PUSHER = "pusher"
    ADMINISTRATOR = "administrator"


class InputType(StrEnum):
    """Types of the inputs that a use case or a queue declares."""

    TEXT = "text"
    INSTANT = "instant"
    """An RFC 3339 instant with an offset."""
    PERSON = "person"
    """The id of a person of the same tenant."""
    BOOLEAN = "boolean"
    INTEGER = "integer"


class RuleInputType(StrEnum):
    """Types of the inputs that a calculation rule declares."""

    MONEY = "money"
    """The item's amount, with its currency."""
    AGE = "age"
    """The item's own date, counted from until now: it changes with time alone."""
    TEXT = "text"
    INTEGER = "integer"
    BOOLEAN = "boolean"


class PlanState(StrEnum):
    """Where a plan stands (MONEY.md 6, 18 to 21)."""

    OPEN = "open"
    """Frozen and shown; its owner may confirm, change or drop it until it expires."""
    ARMED = "armed"
    """Confirmed, and waiting its stated time before it starts."""
    APPLYING = "applying"
    PAUSED = "paused"
    """Confirmed, and stopped by a person or by what happened to one; resuming takes a code."""
    DONE = "done"
    """Every item had its turn."""
    ABORTED = "aborted"
    LAPSED = "lapsed"
    """Its apply window ended before every item had its turn."""
    DROPPED = "dropped"
    VOIDED = "voided"
    """What happened to its owner ended it unconfirmed (MONEY.md 16, 21)."""
    EXPIRED = "expired"

    @property
    def live(self) -> bool:
        """Whether something may still come of it."""
        return self in LIVE_PLANS

    @property
    def confirmed(self) -> bool:
        """Whether it was confirmed and has not ended: its hold stands on every item that had no turn."""
        return self in HOLDING_PLANS


HOLDING_PLANS = frozenset({PlanState.ARMED, PlanState.APPLYING, PlanState.PAUSED})
LIVE_PLANS = HOLDING_PLANS | {PlanState.OPEN}


class Turn(StrEnum):
    """How far one item of a plan is: with these seven the account of a plan adds up (MONEY.md 4)."""

    NOT_STARTED = "not-started"
    RUNNING = "running"
    WAITING = "waiting"
    """To be tried again at its time."""
    DONE = "done"
    REFUSED = "refused"
    FAILED = "failed"
    UNCERTAIN = "uncertain"

    @property
    def ended(self) -> bool:
        """Whether the plan does nothing more about the item."""
        return self in (Turn.DONE, Turn.REFUSED, Turn.FAILED, Turn.UNCERTAIN)


class PlanSort(StrEnum):
    """The order of a plan's rows; `sort` of the query."""

    NUMBER = "number"
    """Byte order of the ids: that of the digest."""
    AMOUNT = "amount"
    """By currency code, the largest that goes out first."""
    PAYEE = "payee"
    """By the payee's name, then number."""
    WARNINGS = "warnings"
    """Most warnings first."""
    TURN = "turn"
    """As `Turn` lists them: what did not start yet first."""


class Exclusion(StrEnum):
    """Why an item of the set is not in the plan."""

    UNKNOWN = "unknown"
    """No item of the queue has that id, for this person."""
    CLOSED = "closed"
    STATE_UNFIT = "state-unfit"
    """In no state in which the use case may be run, set aside included."""
    HELD = "held"
    """Claimed by another person."""
    IN_PLAN = "in-plan"
    """In another plan, or waiting for a person to say whether it was paid."""
    PUSHED_BY_OWNER = "pushed-by-owner"
    CHANGED_BY_OWNER = "changed-by-owner"
    """Its amount, payee or account was last changed by the plan's owner (MONEY.md 12)."""
    CURRENCY_WITHOUT_LIMITS = "currency-without-limits"
    TAKEN_OUT = "taken-out"
    """By the owner, while looking at it."""


class Warned(StrEnum):
    """What is odd about an item of a plan (MONEY.md 11)."""

    FIRST_PAYMENT = "first-payment"
    """The first payment to this account."""
    ACCOUNT_CHANGED = "account-changed"
    """The payee's account changed within the stated days."""
    PAYEE_TWO_ACCOUNTS = "payee-two-accounts"
    ACCOUNT_TWO_PAYEES = "account-two-payees"
    AMOUNT_UNUSUAL = "amount-unusual"
    """Far outside what the payee was paid before."""
    NEGATIVE = "negative"
    SAME_HERE = "same-here"
    """The same amount to the same account is in this plan more than once."""
    PAID_BEFORE = "paid-before"
    """The same amount went to the same account within the stated days."""
    LOOK_ALIKE = "look-alike"
    """Another payee of the plan looks the same: cut at the width shown, or by confusable letters (UTS 39)."""


class ConfirmMethod(StrEnum):
    """How the code that confirms a bulk money command is made (MONEY.md 14)."""

    TOTP = "totp"
    """RFC 6238: six digits of 30 seconds from the person's phone."""


class ScheduleType(StrEnum):
    """What starts a job, and what it works through."""

    SCHEDULED = "scheduled"
    SAGA_DRIVING = "saga-driving"
    """Scheduled, and goes on where its cursor stands."""
    MANUAL = "manual"
    """Started by a person, under its guard."""


class Skipped(StrEnum):
    """What a local time does that the clock leaves out (requirement define-business-local-clock-behavior)."""

    SKIP = "skip"
    RUN_AT_GAP_END = "run-at-gap-end"
    """At the first instant after the gap."""
    SHIFT = "shift"
    """By the wall clock plus the length of the gap."""


class Repeated(StrEnum):
    """What a local time does that the clock shows twice."""

    FIRST = "first"
    SECOND = "second"
    BOTH = "both"


class ClockChange(StrEnum):
    """What a change of the clock made of one instant."""

    GAP_END = "gap-end"
    SHIFTED = "shifted"
    FIRST = "first"
    SECOND = "second"


class MisfirePolicy(StrEnum):
    """What becomes of instants that were missed (requirement define-misfire-recovery)."""

    SKIP = "skip"
    ONCE = "once"
    """The latest missed instant runs; the earlier ones are merged into it."""
    EACH_INTERVAL = "each-interval"
    """The newest missed instants run, as many as the record says."""


class SkipPolicy(StrEnum):
    """Why an instant has no occurrence."""

    MISFIRE_SKIP = "misfire-skip"
    MISFIRE_ONCE = "misfire-once"
    MISFIRE_EACH_INTERVAL = "misfire-each-interval"
    SKIPPED_HOUR = "skipped-hour"
    REPEATED_HOUR = "repeated-hour"
    RETENTION = "retention"
    """It lies before what the store still knows of."""


class OccurrenceState(StrEnum):
    """Where an occurrence stands: exactly four states (requirement persist-occurrence-state)."""

    SCHEDULED = "scheduled"
    """Also while it waits for its next attempt."""
    PROCESSING = "processing"
    COMPLETED = "completed"
    DEAD_LETTER = "dead-letter"
    """No machine tries it again."""

    @property
    def ended(self) -> bool:
        """Whether nothing more happens by itself."""
        return self in (OccurrenceState.COMPLETED, OccurrenceState.DEAD_LETTER)


class OccurrenceOrigin(StrEnum):
    """How an occurrence came about."""

    PLANNED = "planned"
    MADE_UP = "made-up"
    """It was missed, and the misfire policy runs it now."""
    MANUAL = "manual"


class DeadCause(StrEnum):
    """Why an occurrence is a dead letter."""

    FAILED = "failed"
    """Its attempts are used up."""
    OVER_BOUND = "over-bound"
    """It took longer than its duration bound, at its last attempt too."""
    WORKER_LOST = "worker-lost"
    """The Worker that had it was lost, at its last attempt too."""
    CANCELLED = "cancelled"
    UNRUNNABLE = "unrunnable"
    """The records do not have its schedule, or what it runs, any more."""


class AttemptEnding(StrEnum):
    """How one attempt at an occurrence ended."""

    COMPLETED = "completed"
    RETRY = "retry"
    """Something of it is to be tried again."""
    FAILED = "failed"
    OVER_BOUND = "over-bound"
    CANCELLED = "cancelled"
    LOST = "lost"
    """Its lease passed: the Worker died, was frozen, or could not reach the database."""
    HANDED_BACK = "handed-back"
    """The Worker stopped, or the database was away; it does not count as an attempt."""


class ScheduleStanding(StrEnum):
    """How a schedule is doing, the most urgent first."""

    PARKED = "parked"
    """It cannot be computed; the reason is shown."""
    LATE = "late"
    """An occurrence that is due has not started."""
    DISABLED = "disabled"
    """A person switched it off; what it misses counts as downtime."""
    RETRYING = "retrying"
    """An occurrence waits for its next attempt."""
    RUNNING = "running"
    ON_TIME = "on-time"
    UNPLANNED = "unplanned"
    """No Worker has seen its record yet."""
    MANUAL = "manual"


class WorkerStanding(StrEnum):
    """How a Worker process is doing."""

    LIVE = "live"
    DRAINING = "draining"
    """It takes nothing new, and ends what it has."""
    SILENT = "silent"
    """It should have been heard of, and was not."""
    STOPPED = "stopped"
