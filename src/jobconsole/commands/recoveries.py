"""Owns the commands of recoveries: making one from where schedules and occurrences are listed, the list of them (place
`recoveries`), and one of them (place `recovery`), from its preview to its end."""

from __future__ import annotations

from jobconsole.commands.command import Command, Danger
from jobconsole.commands.situation import SelectedRecovery, Situation
from jobcontract.operating import RecoveryState
from jobcontract.permissions import Permission

SCHEDULES = ("schedules",)
OCCURRENCES = ("occurrences",)
JOBS = ("jobs",)
RECOVERIES = ("recoveries",)
ONE = ("recovery",)
BOARDS = ("schedules", "overview", "recoveries")
"""Places from which a stretch of time is replayed; `y` on occurrences is that of one."""
RUNNING = frozenset({RecoveryState.APPLYING, RecoveryState.PAUSED})


def _none(situation: Situation) -> str | None:
    return None if situation.recovery is not None else "no recovery is selected"


def _schedule(situation: Situation) -> str | None:
    return None if situation.marked or situation.schedule is not None else "no schedule is selected"


def _occurrence(situation: Situation) -> str | None:
    return None if situation.occurrence is not None else "no occurrence is selected"


def _marked(situation: Situation) -> str | None:
    return None if situation.marked else "nothing is marked"


def _has_marks(situation: Situation) -> bool:
    return situation.marked > 0


def _own_open(found: SelectedRecovery) -> str | None:
    if found.state is not RecoveryState.OPEN:
        return f"the recovery is {found.state}"
    return None if found.mine else f"it is {found.owner}'s: only its owner does that"


def _open(situation: Situation) -> str | None:
    return _none(situation) if situation.recovery is None else _own_open(situation.recovery)


def _removable(situation: Situation) -> str | None:
    found = situation.recovery
    if found is None or (reason := _own_open(found)) is not None:
        return _none(situation) if found is None else reason
    return None if found.row else "no row is selected"


def _confirmable(situation: Situation) -> str | None:
    found = situation.recovery
    if found is None or (reason := _own_open(found)) is not None:
        return _none(situation) if found is None else reason
    if found.unfit:
        return found.unfit
    if found.checked < found.count:
        return f"checked {found.checked:,} of {found.count:,}"
    return None if found.shown else "not while no row of it was ever shown"


def _renewable(situation: Situation) -> str | None:
    found = situation.recovery
    if found is None:
        return _none(situation)
    if found.state in RUNNING:
        return f"the recovery is {found.state}"
    return None if found.mine else f"it is {found.owner}'s"


def _listed(situation: Situation) -> str | None:
    found = situation.recovery
    if found is None or found.state not in (*RUNNING, RecoveryState.DONE, RecoveryState.ABORTED):
        return _none(situation)
    return "it was confirmed: jobconsole recoveries show --left-out lists what it left out"


def _row(situation: Situation) -> str | None:
    return None if situation.recovery is not None and situation.recovery.row else "no row is selected"


def _pausable(situation: Situation) -> str | None:
    found = situation.recovery
    if found is None or found.state is RecoveryState.APPLYING:
        return _none(situation)
    return "it is paused already" if found.state is RecoveryState.PAUSED else f"the recovery is {found.state}"


def _resumable(situation: Situation) -> str | None:
    found = situation.recovery
    if found is None or found.state is RecoveryState.PAUSED:
        return _none(situation)
    return "it is not paused" if found.state is RecoveryState.APPLYING else f"the recovery is {found.state}"


def _abortable(situation: Situation) -> str | None:
    found = situation.recovery
    if found is None or found.state in RUNNING:
        return _none(situation)
    return f"the recovery is {found.state}"


def _is_open(situation: Situation) -> bool:
    return situation.recovery is not None and situation.recovery.state is RecoveryState.OPEN


def _applies(situation: Situation) -> bool:
    return situation.recovery is not None and situation.recovery.state is RecoveryState.APPLYING


def _is_paused(situation: Situation) -> bool:
    return situation.recovery is not None and situation.recovery.state is RecoveryState.PAUSED


def _runs(situation: Situation) -> bool:
    return situation.recovery is not None and situation.recovery.state in RUNNING


_REPLAY = (
    "Asks for a stretch of time and a reason, and freezes what ended in it as a recovery to look at: all of its items that "
    "are not done run again once you confirm. Nothing runs before."
)

_MAKING = (
    Command(
        id="recovery.replay",
        title="Replay a stretch of time …",
        help=_REPLAY,
        keys=("y", "Y"),
        places=BOARDS,
        danger=Danger.ACTS,
        permission=Permission.RECOVERY_MAKE,
        twin="recoveries replay --schedule SCHEDULE --from FROM --to TO --reason REASON",
        hint="replay…",
        rank=15,
    ),
    Command(
        id="recovery.replay-listed",
        title="Replay marked ones, or a stretch …",
        help=f"Takes the marked occurrences, or else a stretch of time of this schedule. {_REPLAY}",
        keys=("Y",),
        places=OCCURRENCES,
        danger=Danger.ACTS,
        permission=Permission.RECOVERY_MAKE,
        twin="recoveries replay --schedule SCHEDULE --from FROM --to TO --reason REASON",
        hint="replay many…",
        rank=16,
        concerns=_has_marks,
    ),
    Command(
        id="recovery.requeue",
        title="Requeue dead letters …",
        help="Freezes dead letters as a recovery that runs them again: the marked ones, or those of the schedule. Nothing "
        "runs before you confirm.",
        keys=("Q",),
        places=(*SCHEDULES, *OCCURRENCES, "overview", *RECOVERIES),
        danger=Danger.ACTS,
        permission=Permission.RECOVERY_MAKE,
        twin="recoveries requeue --schedule SCHEDULE --reason REASON",
        hint="requeue…",
        rank=22,
        concerns=_has_marks,
    ),
    Command(
        id="recovery.discard",
        title="Discard dead letters …",
        help="Freezes dead letters as a recovery that puts them away: the marked ones, or those of the schedule. They stay to "
        "be read, and ask for nothing any more. Nothing happens before you confirm.",
        keys=("Z",),
        places=(*SCHEDULES, *OCCURRENCES, "overview", *RECOVERIES),
        danger=Danger.ACTS,
        permission=Permission.RECOVERY_MAKE,
        twin="recoveries discard --schedule SCHEDULE --reason REASON",
        hint="discard…",
        rank=23,
        concerns=_has_marks,
    ),
    Command(
        id="recovery.disable",
        title="Disable many schedules …",
        help="Freezes the marked schedules, or the one under the cursor, as a recovery that switches them off, with a reason "
        "and if you like a time at which they are enabled again. Nothing happens before you confirm.",
        keys=("O",),
        places=SCHEDULES,
        danger=Danger.ACTS,
        permission=Permission.RECOVERY_MAKE,
        twin="recoveries disable --schedule SCHEDULE --reason REASON",
        hint="disable many…",
        rank=24,
        concerns=_has_marks,
        judge=_schedule,
    ),
    Command(
        id="recovery.mark",
        title="Mark for a recovery",
        help="Marks the row under the cursor, or takes its mark away: a recovery then takes the marked ones.",
        keys=("space",),
        places=(*SCHEDULES, *OCCURRENCES, *JOBS),
        rank=25,
    ),
    Command(
        id="recovery.clear-marks",
        title="Take the marks away",
        help="Takes the marks of every row away.",
        keys=("U",),
        places=(*SCHEDULES, *OCCURRENCES, *JOBS),
        rank=26,
        judge=_marked,
    ),
)

_LIST = (
    Command(
        id="recovery.open",
        title="Open the recovery",
        help="Shows everything that it does before it is confirmed, or how far it is and what came of it.",
        keys=("enter", "i"),
        places=RECOVERIES,
        permission=Permission.RECOVERY_READ,
        twin="recoveries show RECOVERY",
        hint="open",
        rank=10,
        judge=_none,
    ),
)

_PREVIEW = (
    Command(
        id="recovery.confirm",
        title="Confirm the recovery …",
        help="Does exactly what the recovery shows. Every row must have been checked. One that moves money takes the six "
        "digits from your phone.",
        keys=("C",),
        places=ONE,
        danger=Danger.ACTS,
        permission=Permission.RECOVERY_MAKE,
        twin="recoveries confirm RECOVERY",
        hint="confirm",
        rank=10,
        concerns=_is_open,
        judge=_confirmable,
    ),
    Command(
        id="recovery.take-out",
        title="Take the row out",
        help="Takes the row under the cursor out of the recovery, which is frozen anew under its name.",
        keys=("t",),
        places=ONE,
        danger=Danger.CLAIMS,
        permission=Permission.RECOVERY_MAKE,
        twin="recoveries take-out RECOVERY ROW",
        hint="take out",
        rank=11,
        concerns=_is_open,
        judge=_removable,
    ),
    Command(
        id="recovery.drop",
        title="Drop the recovery …",
        help="Gives the recovery up, with a reason. Nothing of it was done.",
        keys=("X",),
        places=ONE,
        danger=Danger.ACTS,
        permission=Permission.RECOVERY_MAKE,
        twin="recoveries drop RECOVERY --reason REASON",
        hint="drop",
        rank=12,
        concerns=_is_open,
        judge=_open,
    ),
    Command(
        id="recovery.list",
        title="Rows or what is left out",
        help="Goes from the rows of the recovery to what is left out and why, and back.",
        keys=("tab",),
        places=ONE,
        permission=Permission.RECOVERY_READ,
        twin="recoveries show RECOVERY --left-out",
        hint="left out",
        rank=16,
        concerns=_is_open,
        judge=_listed,
    ),
    Command(
        id="recovery.make-anew",
        title="New recovery of the same set",
        help="Freezes what was asked for as it is now, as a new recovery; an open one is dropped first.",
        keys=("n",),
        places=ONE,
        danger=Danger.ACTS,
        permission=Permission.RECOVERY_MAKE,
        rank=17,
        judge=_renewable,
    ),
    Command(
        id="recovery.open-row",
        title="Open what the row is about",
        help="Shows the occurrence of the row under the cursor, with its attempts and items; of a recovery of jobs the job.",
        keys=("enter", "i"),
        places=ONE,
        permission=Permission.RECOVERY_READ,
        twin="occurrences show OCCURRENCE",
        hint="open",
        rank=15,
        judge=_row,
    ),
)

_STEERING = (
    Command(
        id="recovery.pause",
        title="Pause the recovery …",
        help="Lets no further row begin, with a reason that everybody sees. What has begun goes on to its end.",
        keys=("p",),
        places=ONE,
        danger=Danger.ACTS,
        permission=Permission.RECOVERY_MAKE,
        twin="recoveries pause RECOVERY --reason REASON",
        hint="pause",
        rank=10,
        concerns=_applies,
        judge=_pausable,
    ),
    Command(
        id="recovery.resume",
        title="Resume the recovery …",
        help="Goes on with a paused recovery, with a reason; one that moves money takes a fresh code.",
        keys=("r",),
        places=ONE,
        danger=Danger.ACTS,
        permission=Permission.RECOVERY_MAKE,
        twin="recoveries resume RECOVERY --reason REASON",
        hint="resume",
        rank=11,
        concerns=_is_paused,
        judge=_resumable,
    ),
    Command(
        id="recovery.abort",
        title="Abort the recovery …",
        help="Ends the recovery, with a reason. What has begun goes on to its end; nothing else of it is begun.",
        keys=("A",),
        places=ONE,
        danger=Danger.ACTS,
        permission=Permission.RECOVERY_MAKE,
        twin="recoveries abort RECOVERY --reason REASON",
        hint="abort",
        rank=12,
        concerns=_runs,
        judge=_abortable,
    ),
)

RECOVERY_COMMANDS: tuple[Command, ...] = (*_MAKING, *_LIST, *_PREVIEW, *_STEERING)
"""Every command of recoveries, as a reader would look for them: making, the list, the preview, steering."""
