"""Owns what a schedule and the use case of a job are, as values that records build and decisions read. Computes no
instant (`rules/rhythms.py`), decides no misfire (`rules/misfires.py`)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import time

from jobcontract.permissions import Permission
from jobcontract.states import MisfirePolicy, Moves, ScheduleType
from jobservice.rules.rhythms import Rhythm

MISFIRE_AFTER = 60.0
"""Seconds past its instant after which an unstarted occurrence was missed, where the record does not say."""
RESCORE = "service.rescore"
"""The one use case of the service's own: scores an item anew. It runs over `ScoresDue`, on the batch path."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Itself:
    """One item a run: the occurrence itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """What a function of the application selects, registered under this id."""

    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoresDue:
    """The open items of a queue whose scores are due by the refresh of its rule."""

    queue: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed:
    """Payouts of confirmed, applying plans of a bulk command that wait to be tried again: a run brings them forward, and
    moves no money itself. The one selection of a schedule that moves money (MONEY.md 1)."""

    command: str


Selection = Itself | Registered | ScoresDue | Confirmed


@dataclass(frozen=True, slots=True, kw_only=True)
class JobUseCase:
    """A use-case record that jobs run: one item of a selection in a unit of work of its own."""

    id: str
    title: str
    moves: Moves
    version: int = 1
    batch: bool = False
    """Whether it says of itself that many items may share one transaction."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfire:
    """What becomes of missed instants (requirement define-misfire-recovery). `newest` only with each-interval."""

    policy: MisfirePolicy
    after_seconds: float = MISFIRE_AFTER
    newest: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Backoff:
    """Seconds before the second attempt, doubled each time up to the most; jitter takes up to half of it away."""

    first_seconds: float
    most_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A stretch of the day in UTC in which a manual job may be run; `days` are ISO weekdays, 1 = Monday."""

    days: frozenset[int]
    start: time
    end: time
    """Not included; later than `start`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Guard:
    """Who may run a manual job, and when; a reason is required where it says so."""

    permission: Permission
    windows: tuple[Window, ...]
    """Empty: at any time."""
    reason_required: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A job record: when it runs, over what, which use case, and what bounds it. Durations are seconds."""

    id: str
    title: str
    type: ScheduleType
    rhythm: Rhythm | None
    """None of a manual one."""
    reason: str | None
    """The business-local need, where the rhythm's zone is not UTC."""
    misfire: Misfire | None
    """None of a manual one."""
    selection: Selection
    batch_size: int
    runs: str
    """Id of a `JobUseCase`, or `RESCORE`; with `Confirmed` that of the use case of its bulk command."""
    batch_path: bool
    """Whether a batch shares one transaction; only where the use case says that it may."""
    cursor: str | None
    """Name of the cursor of a saga-driving one."""
    lock: str
    """Two occurrences of one lock never run at once in a tenant; its own id where the record names none."""
    bound_seconds: float
    attempts: int
    backoff: Backoff
    tenants: frozenset[str] | None
    """None: every tenant."""
    retention: str
    """Id of the setting that bounds how long its occurrences are kept."""
    retention_seconds: float
    guard: Guard | None
    """Of a manual one."""
    runs_where: frozenset[str] | None
    """Names of deployments; None: everywhere."""

    @property
    def moves_money(self) -> bool:
        """Whether payouts go out sooner or later by its runs: then it is replayed by a confirmed recovery alone."""
        return isinstance(self.selection, Confirmed)

    @property
    def moves(self) -> Moves:
        """The same as the record of its use case says it."""
        return Moves.MONEY if self.moves_money else Moves.NOTHING

    def definition(self) -> str:
        """What decides its instants, as one text: an equal one is no change (case TIME-08)."""
        return "" if self.rhythm is None else self.rhythm.definition()

    def runs_in(self, tenant: str, deployment: str) -> bool:
        """Whether that deployment runs it for that tenant."""
        here = self.runs_where is None or deployment in self.runs_where
        return here and (self.tenants is None or tenant in self.tenants)
