"""Owns whether a bulk command can work: what its record and those of its queue, use case and settings say of one another.

Reads no file. What it cannot do is a finding at the line that says so.
"""

from __future__ import annotations

from collections.abc import Iterator

from jobcontract.states import ClaimMode, Moves
from jobservice.records.bulk_commands import BulkRecord
from jobservice.records.index import Index
from jobservice.records.kind import Written
from jobservice.records.queues import Carries, QueueRecord
from jobservice.records.values import SettingValues
from jobservice.rules.bulk import Amounts, BulkCommand, Limits
from jobservice.rules.job_kinds import StepUseCase
from jobservice.rules.queues import UseCase
from jobservice.rules.schedules import JobUseCase

_UNFIT = "bulk-unfit"
_LIMITS = ("limits.item", "limits.plan", "limits.person", "limits.account")


def bulk_commands(index: Index, values: SettingValues) -> dict[str, BulkCommand]:
    """Every bulk command that can work, by id."""
    commands: dict[str, BulkCommand] = {}
    taken: dict[tuple[str, str], str] = {}
    for record, content in index.of("bulk-command", BulkRecord):
        pair = (content.queue.id, content.use_case.id)
        if taken.setdefault(pair, record.id) != record.id:
            sentence = f"{taken[pair]} runs {pair[1]} on {pair[0]} already; one bulk command for both is enough."
            index.found(record, None, _UNFIT, sentence)
        command = _Fit(index, values, record, content).command()
        if command is not None:
            commands[record.id] = command
    _unconfirmed(index, set(taken))
    return commands


def _unconfirmed(index: Index, commands: set[tuple[str, str]]) -> None:
    """A queue that names a use case which moves money, and no bulk command that could ever run it."""
    if not index.all_read("bulk-command"):
        return
    for record, queue in index.of("queue", QueueRecord):
        for reference in queue.use_cases:
            written = index.written("use-case", reference.id)
            use_case = None if written is None else written.content
            moves = isinstance(use_case, UseCase) and use_case.moves is Moves.MONEY
            if moves and queue.carries is Carries.MONEY and (record.id, reference.id) not in commands:
                sentence = (
                    f"{reference.id} moves money, but no bulk-command record confirms it for {record.id}: it could "
                    "never run. Add one, or take it off the list."
                )
                index.found(record, reference.line, "money-unconfirmed", sentence)


class _Fit:
    """One bulk command beside what it names."""

    def __init__(self, index: Index, values: SettingValues, record: Written, content: BulkRecord) -> None:
        self._index = index
        self._values = values
        self._record = record
        self._content = content

    def command(self) -> BulkCommand | None:
        """The command; None after a finding."""
        before = len(self._index.findings)
        queue, uncertain = self._queue("queue"), self._queue("uncertain")
        use_case = self._use_case()
        limits = self._limits()
        armed, answers, free = (self._optional(role) for role in ("armed.above", "answers.above", "singles.gross"))
        wait, free_count = self._whole("armed.wait"), self._whole("singles.count")
        if queue is not None and use_case is not None:
            self._fits(queue, use_case)
            if uncertain is not None:
                self._uncertain_fits(queue, uncertain)
        if limits is None or len(self._index.findings) > before:
            return None
        return BulkCommand(
            id=self._record.id,
            title=self._content.title,
            queue=self._content.queue.id,
            use_case=self._content.use_case.id,
            confirm_by=self._content.confirm_by,
            limits=limits,
            uncertain=self._content.uncertain.id,
            armed_above=armed,
            armed_seconds=float(wait),
            answer_above=answers,
            free_count=free_count,
            free_gross=free,
            submits=None if self._content.submits is None else self._content.submits.id,
        )

    def _queue(self, field: str) -> QueueRecord | None:
        reference = self._content.queue if field == "queue" else self._content.uncertain
        written = self._index.look_up(self._record, "queue", reference, field)
        content = None if written is None else written.content
        return content if isinstance(content, QueueRecord) else None

    def _use_case(self) -> UseCase | None:
        written = self._index.look_up(self._record, "use-case", self._content.use_case, "useCase")
        content = None if written is None else written.content
        if isinstance(content, JobUseCase | StepUseCase):
            sentence = f"`useCase`: {content.id} is run by jobs; a bulk command runs what people run on items."
            self._index.found(self._record, self._content.use_case.line, "reference-unfit", sentence)
        return content if isinstance(content, UseCase) else None

    def _unfit(self, line: int, sentence: str) -> None:
        self._index.found(self._record, line, _UNFIT, sentence)

    def _fits(self, queue: QueueRecord, use_case: UseCase) -> None:
        content = self._content
        if use_case.moves is Moves.MONEY:
            self._guarded()
        if queue.carries is Carries.NOTHING:
            self._unfit(content.queue.line, f"The items of {content.queue.id} carry nothing: there is none to move.")
            return
        if queue.claim is ClaimMode.DISABLED:
            sentence = f"A plan claims its items, and {content.queue.id} has no claims; say `claim: required` there."
            self._unfit(content.queue.line, sentence)
        if content.use_case.id not in {reference.id for reference in queue.use_cases}:
            sentence = f"{content.use_case.id} is not on the list of {content.queue.id}; put it into its `useCases`."
            self._unfit(content.use_case.line, sentence)
        if use_case.inputs:
            names = ", ".join(each.name for each in use_case.inputs)
            sentence = f"{use_case.id} takes inputs ({names}), and a plan gives none; name a use case without."
            self._unfit(content.use_case.line, sentence)
        if use_case.moves is Moves.NOTHING:
            sentence = f"{use_case.id} moves nothing; a bulk command runs what moves money, and nothing else yet."
            self._unfit(content.use_case.line, sentence)

    def _guarded(self) -> None:
        content = self._content
        if not content.preview:
            sentence = (
                f"{content.use_case.id} moves money: nobody may run it on many items unseen. Say `preview: true`."
            )
            self._index.found(self._record, content.preview_line, "preview-missing", sentence)
        if content.confirm_by is None:
            sentence = f"{content.use_case.id} moves money: say how it is confirmed, `confirmBy: {{method: totp}}`."
            self._index.found(self._record, None, "confirm-missing", sentence)

    def _uncertain_fits(self, queue: QueueRecord, uncertain: QueueRecord) -> None:
        """Review items have the amount, payee and inputs of their payout, and people claim and resolve them."""
        name, line = self._content.uncertain.id, self._content.uncertain.line
        for fault in self._uncertain_faults(queue, uncertain):
            self._unfit(line, f"`uncertain`: {name} {fault}.")

    def _uncertain_faults(self, queue: QueueRecord, uncertain: QueueRecord) -> Iterator[str]:
        if self._content.uncertain.id == self._content.queue.id:
            yield "is the command's own queue; what nobody knows of waits apart from what is to be paid"
            return
        if uncertain.claim is not ClaimMode.REQUIRED:
            yield "does not say `claim: required`, and two people must not end one payout"
        if uncertain.carries is Carries.NOTHING:
            yield "carries nothing, and its items show what may have been paid"
        given = {(each.name, each.type) for each in queue.inputs}
        missing = [each.name for each in uncertain.inputs if each.required and (each.name, each.type) not in given]
        if missing:
            yield f"requires {', '.join(missing)}, which the items of {self._content.queue.id} do not give"
        written = [self._index.written("use-case", reference.id) for reference in uncertain.use_cases]
        contents = [each.content for each in written if each is not None]
        money = [each.id for each in contents if isinstance(each, UseCase) and each.moves is Moves.MONEY]
        if money:
            yield f"lists {', '.join(money)}, and nothing is paid out of it"

    def _limits(self) -> Limits | None:
        """The limits, all for the same currencies; None after a finding or where a setting is not in order."""
        stated = self._stated()
        settings = self._content.settings
        person_count, account_count = (
            self._values.whole(self._record, role, settings[role])
            for role in ("limits.personCount", "limits.accountCount")
        )
        if len(stated) < len(_LIMITS) or not self._alike(stated) or person_count is None or account_count is None:
            return None
        item, plan, person, account = (stated[role] for role in _LIMITS)
        return Limits(
            item=item,
            plan=plan,
            person=person,
            account=account,
            person_count=person_count,
            account_count=account_count,
        )

    def _stated(self) -> dict[str, Amounts]:
        """The amounts of each limit that is in order."""
        read = {role: self._amounts(role) for role in _LIMITS}
        return {role: amounts for role, amounts in read.items() if amounts is not None}

    def _alike(self, amounts: dict[str, Amounts]) -> bool:
        every = frozenset[str]().union(*amounts.values())
        odd = {role: every - set(of) for role, of in amounts.items() if every - set(of)}
        for role, missing in odd.items():
            reference = self._content.settings[role]
            sentence = (
                f"`{role}`: {reference.id} has no limit for {', '.join(sorted(missing))}, and another limit has one; "
                "every limit names the same currencies."
            )
            self._index.found(self._record, reference.line, "limits-incomplete", sentence)
        return not odd

    def _optional(self, role: str) -> Amounts:
        """Amounts that may be left out; those of a currency without limits are a finding."""
        amounts, stated = self._amounts(role) or {}, self._stated()
        more = sorted(set(amounts).difference(*stated.values()))
        if more and stated:
            reference = self._content.settings[role]
            sentence = f"`{role}`: {reference.id} names {', '.join(more)}, which has no limits; nothing goes out in it."
            self._index.found(self._record, reference.line, "limits-incomplete", sentence)
        return amounts

    def _amounts(self, role: str) -> Amounts | None:
        reference = self._content.settings.get(role)
        return None if reference is None else self._values.amounts(self._record, role, reference)

    def _whole(self, role: str) -> int:
        """0 where it is left out."""
        reference = self._content.settings.get(role)
        return 0 if reference is None else self._values.whole(self._record, role, reference) or 0
