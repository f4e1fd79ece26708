"""Owns whether a schedule can work: what its job record and those of use cases, queues, rules and settings say of one
another.

Reads no file. What cannot work is a finding at the line that says so.
"""

from __future__ import annotations

from jobcontract.states import Moves, ScheduleType
from jobservice.records.bulk_commands import BulkRecord
from jobservice.records.durations import shown
from jobservice.records.index import Index
from jobservice.records.job_windows import catch_up_seconds
from jobservice.records.jobs import JobRecord
from jobservice.records.kind import Reference, Written
from jobservice.records.queues import QueueRecord
from jobservice.records.rules import RuleRecord
from jobservice.records.values import SettingValues
from jobservice.rules.job_kinds import StepUseCase
from jobservice.rules.queues import UseCase
from jobservice.rules.schedules import RESCORE, Confirmed, Itself, JobUseCase, Schedule, ScoresDue
from jobservice.rules.scores import Rule

_UNFIT = "reference-unfit"


def schedules(index: Index, values: SettingValues) -> dict[str, Schedule]:
    """Every schedule that can work, by id."""
    own = index.written("use-case", RESCORE)
    if own is not None:
        index.found(own, None, "id-taken", f"{RESCORE} is the service's own use case; give yours another id.")
    found: dict[str, Schedule] = {}
    cursors: dict[str, str] = {}
    for record, content in index.of("job", JobRecord):
        if content.cursor is not None and cursors.setdefault(content.cursor.id, record.id) != record.id:
            sentence = f"`cursor`: {cursors[content.cursor.id]} goes on behind {content.cursor.id}; name another."
            index.found(record, content.cursor.line, "cursor-shared", sentence)
        schedule = _Fit(index, values, record, content).schedule()
        if schedule is not None:
            found[record.id] = schedule
    _unrefreshed(index)
    return found


def _unrefreshed(index: Index) -> None:
    """A queue whose scores change with time alone, and no schedule that scores them anew."""
    if not index.all_read("job"):
        return
    jobs = [content for _, content in index.of("job", JobRecord) if content.type is not ScheduleType.MANUAL]
    served = {content.selection.queue for content in jobs if isinstance(content.selection, ScoresDue)}
    for record, queue in index.of("queue", QueueRecord):
        rule = _rule(index, queue)
        if (
            record.id not in served
            and queue.score is not None
            and rule is not None
            and rule.refresh_seconds is not None
        ):
            sentence = (
                f"`score`: {queue.score.id} has a refresh, but no job scores the items of {record.id} anew: their age "
                f"would stand still. Add one with {{mode: scores-due, queue: {record.id}}} that runs {RESCORE}."
            )
            index.found(record, queue.score.line, "refresh-unscheduled", sentence)


def _rule(index: Index, queue: QueueRecord) -> Rule | None:
    """The rule of a queue; None where it has none, or none that could be read."""
    written = None if queue.score is None else index.written("rule", queue.score.id)
    content = None if written is None else written.content
    return content.rule if isinstance(content, RuleRecord) else None


class _Fit:
    """One job beside what it names."""

    def __init__(self, index: Index, values: SettingValues, record: Written, content: JobRecord) -> None:
        self._index = index
        self._values = values
        self._record = record
        self._content = content

    def schedule(self) -> Schedule | None:
        """The schedule; None after a finding."""
        before = len(self._index.findings)
        self._selection_fits()
        selection = self._content.selection
        batch = self._confirmed_fits(selection) if isinstance(selection, Confirmed) else self._batch_allowed()
        if self._content.batch_path and batch is not None:
            self._batch_fits(batch)
        retention = self._retention()
        if retention is None or batch is None or len(self._index.findings) > before:
            return None
        return self._built(retention)

    def _built(self, retention: int) -> Schedule:
        content, stated = self._content, self._content.stated
        return Schedule(
            id=self._record.id,
            title=content.title,
            type=content.type,
            rhythm=None if stated is None else stated.rhythm,
            reason=None if stated is None else stated.reason,
            misfire=content.misfire,
            selection=content.selection,
            batch_size=content.batch_size,
            runs=content.runs.id,
            batch_path=content.batch_path,
            cursor=None if content.cursor is None else content.cursor.id,
            lock=content.lock,
            bound_seconds=float(content.bound_seconds),
            attempts=content.attempts,
            backoff=content.backoff,
            tenants=content.tenants,
            retention=content.retention.id,
            retention_seconds=float(retention),
            guard=content.guard,
            runs_where=content.runs_where,
        )

    def _found(self, line: int, code: str, sentence: str) -> None:
        self._index.found(self._record, line, code, sentence)

    def _selection_fits(self) -> None:
        content, selection, line = self._content, self._content.selection, self._content.selection_line
        if isinstance(selection, ScoresDue):
            self._queue_fits(Reference(id=selection.queue, line=line))
            if content.runs.id != RESCORE:
                sentence = f"`runs`: {content.runs.id} is not what scores an item anew; with scores-due say {RESCORE}."
                self._found(content.runs.line, _UNFIT, sentence)
        elif content.runs.id == RESCORE:
            sentence = f"`runs`: {RESCORE} scores items anew; it needs {{mode: scores-due, queue: QUEUE}}."
            self._found(content.runs.line, _UNFIT, sentence)
        if content.type is ScheduleType.SAGA_DRIVING and isinstance(selection, Itself | ScoresDue | Confirmed):
            sentence = "`selection`: a saga-driving job goes on behind the key of an item; name a registered selection."
            self._found(line, "field-invalid", sentence)

    def _queue_fits(self, reference: Reference) -> None:
        written = self._index.look_up(self._record, "queue", reference, "selection.queue")
        queue = None if written is None else written.content
        if not isinstance(queue, QueueRecord):
            return
        rule = _rule(self._index, queue)
        if queue.score is None:
            why = "has no rule that scores its items"
        elif rule is None or rule.refresh_seconds is not None:
            return
        else:
            why = f"is scored by {queue.score.id}, whose record states no refresh"
        sentence = f"`selection.queue`: {reference.id} {why}: none of its scores is ever due."
        self._found(reference.line, _UNFIT, sentence)

    def _confirmed_fits(self, selection: Confirmed) -> bool | None:
        """False, since payouts share no transaction; None after a finding, or where what it names has one.

        The one schedule that may run a use case which moves money: its plans were confirmed, item for item.
        """
        content, line = self._content, self._content.selection_line
        if content.type is ScheduleType.MANUAL:
            sentence = (
                "`selection`: a manual job starts at one person's word, and a payout takes a plan that is confirmed; give "
                "the job a schedule."
            )
            self._found(line, "money-unconfirmed", sentence)
        reference = Reference(id=selection.command, line=line)
        written = self._index.look_up(self._record, "bulk-command", reference, "selection.command")
        command = None if written is None else written.content
        moves = self._moves(content.runs)
        if not isinstance(command, BulkRecord):
            return None
        if moves is not None and content.runs.id != command.use_case.id:
            sentence = (
                f"`runs`: the plans of {selection.command} are confirmed for {command.use_case.id}, not for "
                f"{content.runs.id}; say that."
            )
            self._found(content.runs.line, "money-unconfirmed" if moves is Moves.MONEY else _UNFIT, sentence)
        elif moves is Moves.NOTHING:
            sentence = (
                f"`selection.command`: {selection.command} moves no money; its plans have nothing to bring forward."
            )
            self._found(line, _UNFIT, sentence)
        return False

    def _moves(self, runs: Reference) -> Moves | None:
        """What the use case that it names moves; None where its record cannot be read, after a finding where it has none."""
        if runs.id == RESCORE:
            return Moves.NOTHING
        written = self._index.look_up(self._record, "use-case", runs, "runs")
        use_case = None if written is None else written.content
        return use_case.moves if isinstance(use_case, UseCase | JobUseCase) else None

    def _batch_allowed(self) -> bool | None:
        """Whether what it runs may share a transaction; None after a finding, or where its record has one."""
        runs = self._content.runs
        if runs.id == RESCORE:
            return True
        written = self._index.look_up(self._record, "use-case", runs, "runs")
        use_case = None if written is None else written.content
        if isinstance(use_case, UseCase | StepUseCase):
            who = "a person on an item" if isinstance(use_case, UseCase) else "background jobs"
            sentence = f"`runs`: {runs.id} is run by {who}; a job runs one with `target: occurrence`."
            if use_case.moves is Moves.MONEY:
                sentence = (
                    f"`runs`: {runs.id} moves money, and nothing confirms what this job selects; with {{mode: confirmed, "
                    "command: ID} a job brings forward what plans of its bulk command hold."
                )
            self._found(runs.line, "money-unconfirmed" if use_case.moves is Moves.MONEY else _UNFIT, sentence)
        if not isinstance(use_case, JobUseCase):
            return None
        if use_case.moves is Moves.MONEY:
            sentence = (
                f"{runs.id} moves money, and a schedule runs it unseen: nothing confirms it. Money goes out through a "
                "plan that a person confirms; let the job prepare it."
            )
            self._found(runs.line, "money-unconfirmed", sentence)
        return use_case.batch

    def _batch_fits(self, allowed: bool) -> None:
        content = self._content
        if isinstance(content.selection, Confirmed):
            why = "each payout is brought forward by itself"
        elif not allowed:
            why = f"{content.runs.id} does not say `batch: true`, that many items may share one transaction"
        elif content.cursor is not None:
            why = "a cursor moves with each single item"
        else:
            return
        self._found(content.path_line, "batch-unfit", f"`path`: {why}; say single.")

    def _retention(self) -> int | None:
        """Seconds that its occurrences are kept; None after a finding, or where the setting is not in order."""
        content = self._content
        seconds = self._values.retention(self._record, content.retention)
        if seconds is None or content.stated is None or content.misfire is None:
            return seconds
        needed = catch_up_seconds(content.stated.rhythm, content.misfire)
        if seconds < needed:
            sentence = (
                f"`retention`: {content.retention.id} keeps occurrences for {shown(seconds)}, but missed ones may be "
                f"made up for {shown(needed)}; keep them as long at least."
            )
            self._found(content.retention.line, "retention-short", sentence)
        return seconds
