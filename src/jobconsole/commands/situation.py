"""Owns the facts by which a command is available or not. Plain values: reads no service, no screen, no clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from jobcontract.job_states import JobStatus
from jobcontract.operating import RecoveryState
from jobcontract.permissions import Permission
from jobcontract.states import ClaimMode, ItemState, OccurrenceState, PlanState


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedItem:
    """The work item under the cursor, as far as a command's availability depends on it."""

    state: ItemState
    claim: ClaimMode
    """Claim mode of its queue."""
    holder: str | None = None
    """Name of who holds it now; None while it is free (a lapsed claim is free)."""
    mine: bool = False
    """Whether the signed-in person is that holder."""
    verbs: frozenset[str] = frozenset()
    """Verbs of the use cases that its queue declares (`payments.set-aside`: `set-aside`)."""
    fitting: frozenset[str] = frozenset()
    """Those of `verbs` that may be run in `state`."""
    moving_money: frozenset[str] = frozenset()
    """Those of `verbs` that move money: they need a confirmed plan (MONEY.md 1)."""
    plan: str | None = None
    """Name of the plan that has it."""
    plan_held: bool = False
    """Whether that plan was confirmed: until its turn nobody can do anything with the item."""
    about: bool = False
    """Whether it asks what became of a payout that nobody knows the outcome of."""
    own_payout: bool = False
    """Whether that payout was in a plan of the person: another one says that it was not paid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedPlan:
    """The plan that is shown, as far as a command's availability depends on it."""

    state: PlanState
    """By the service's time: an open plan whose time is over has expired."""
    mine: bool
    owner: str
    count: int
    checked: int = 0
    """How many rows went through the digest."""
    unfit: str = ""
    """Why its rows cannot be trusted."""
    to_answer: int = 0
    """Warnings that wait for an answer."""
    shown: bool = False
    """Whether a row of it was ever on the screen."""
    row: bool = False
    """Whether one of its items is selected."""
    job: bool = False
    """Whether its end submitted a job that is known."""
    warning: bool | None = None
    """Of what is selected: whether a warning has no answer yet; None where there is no warning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedOccurrence:
    """The occurrence that is selected or shown, as far as a command's availability depends on it."""

    state: OccurrenceState
    cancelling: bool = False
    """Whether a person asked for it to be cancelled already."""
    discarded: bool = False
    """Whether a person put the dead letter away."""
    money: bool = False
    """Whether its schedule is known to move money: only a confirmed recovery replays that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedSchedule:
    """The schedule that is selected, as far as a command's availability depends on it."""

    manual: bool
    """Whether nothing but a person starts it."""
    disabled: bool
    money: bool = False
    """Whether it moves money."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedWorker:
    """The Worker that is selected, as far as a command's availability depends on it."""

    stopped: bool
    drain_asked: bool
    """Whether a person asked it to take nothing new."""
    ending: bool = False
    """Whether it takes nothing new because it is being stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedRecovery:
    """The recovery that is selected or shown, as far as a command's availability depends on it."""

    state: RecoveryState
    """By the service's time: an open one whose time is over has expired."""
    mine: bool
    owner: str
    count: int
    checked: int = 0
    """How many rows went through the digest."""
    unfit: str = ""
    """Why its rows cannot be trusted."""
    shown: bool = False
    """Whether a row of it was ever on the screen."""
    row: bool = False
    """Whether one of its rows is selected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedAlarm:
    """The alarm that is selected."""

    over: bool
    """Whether what it tells of is over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedStop:
    """The stop that is selected."""

    by_code: bool
    """Whether lifting it takes the code of another person."""
    mine: bool
    """Whether the person stopped it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectedJob:
    """The background job that is selected or shown, as far as a command's availability depends on it."""

    status: JobStatus
    elsewhere: str = ""
    """The other engine's source that it is of; empty: it is one of the service's own."""
    money: bool = False
    """Whether it moves money: its retry is a recovery, with a code, by finance."""
    cancelling: bool = False
    """Whether a person asked for it to be cancelled already."""
    resolved: bool = False
    """Whether its failure asks for nothing any more."""
    reference: bool = False
    """Whether there is a reference for an engineer."""
    plan: bool = False
    """Whether it belongs to a plan."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Act to why the service refuses it to the person, where that was asked: `cancel`, `retry`, `resolve`, `reveal`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """Everything that decides whether a command can be run now. A screen makes one when it is asked."""

    place: str
    """Id of the place that is shown, e.g. `queues`."""
    tenant: str = ""
    permissions: frozenset[Permission] = frozenset()
    """What the signed-in person may do in `tenant`."""
    signed_in: bool = True
    connected: bool = True
    """Whether what is shown is live; acts are refused on stale rows."""
    read_only: bool = False
    """Whether the profile only looks."""
    tenants: int = 1
    """How many tenants the person may act in."""
    queue: str | None = None
    """Id of the queue on screen."""
    claim: ClaimMode | None = None
    """Claim mode of that queue."""
    rule: str | None = None
    """Id of the rule that orders it; None: its oldest item is first."""
    item: SelectedItem | None = None
    """What is selected; None where the list is empty or the place has none."""
    marked: int = 0
    """How many rows are marked."""
    filtered: bool = False
    """Whether a filter is in force in that queue."""
    filter_before: bool = False
    """Whether another one was in force there before."""
    bulk: bool = False
    """Whether the queue has a bulk command."""
    all_marked: bool = False
    """Whether all that match are marked, loaded or not."""
    plan: SelectedPlan | None = None
    """The plan that is shown."""
    stopped: bool | None = None
    """Whether all money of the tenant is stopped; None where that is not known."""
    stopped_by_me: bool = False
    live_plans: int = 0
    """How many plans of the person something may still come of."""
    uncertain: int = 0
    """How many payouts that the place knows of nobody knows the outcome of."""
    schedule: str | None = None
    """Id of the schedule that is selected, or whose occurrences are shown."""
    schedule_now: SelectedSchedule | None = None
    """How that schedule stands, where the place knows it."""
    procedure_refused: str | None = None
    """Why the person may not perform the procedure of a runbook that is selected."""
    worker: SelectedWorker | None = None
    """The Worker that is selected."""
    urgent: bool = False
    """Whether one of the schedules that are shown needs a look."""
    occurrence: SelectedOccurrence | None = None
    """The occurrence that is selected or shown."""
    recovery: SelectedRecovery | None = None
    """The recovery that is selected or shown."""
    alarm: SelectedAlarm | None = None
    """The alarm that is selected."""
    stop: SelectedStop | None = None
    """The stop that is selected."""
    job: SelectedJob | None = None
    """The background job that is selected or shown."""
    opens: str | None = None
    """Why what is selected leads nowhere; None: it leads somewhere."""
    line: bool = False
    """Whether a line of the overview is selected."""
    entry: bool = False
    """Whether an entry of the audit trail is selected."""
