"""Owns filtering the list of background jobs: typing a filter, judging it while it is typed, offering what could follow,
putting it in force once the service takes it. The list and its counts are the screen's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from textual import on
from textual.getters import query_one

from jobconsole.client import jobs as client
from jobconsole.client.errors import ServiceRefused
from jobconsole.commands.situation import Situation
from jobconsole.present.completions import offers_of
from jobconsole.present.filters import Fault, Offer, fault_in
from jobconsole.present.job_filters import asked_filter, fault_of, vocabulary
from jobconsole.present.jobs import UNRESOLVED, VIEWS, match_words
from jobconsole.screens.shell import Handler
from jobconsole.screens.watching import WatchingScreen
from jobconsole.widgets.filter_line import FilterLine
from jobcontract.errors import ErrorCode

if TYPE_CHECKING:
    from jobcontract.jobs import JobCounts, JobKind, Jobs, JobSource, JobSummary

Wanted = tuple[int, str]
"""Index of the view, and the filter."""


class JobsFilteringScreen(WatchingScreen):
    """A list of jobs that can be filtered."""

    filter_line = query_one(FilterLine)

    def __init__(self, filter_text: str = "", shown: int = UNRESOLVED) -> None:
        super().__init__()
        self.filter_text = filter_text
        """The filter in force."""
        self.filter_before = ""
        self.shown = shown
        """Index of the view in `VIEWS`."""
        self.counts: JobCounts | None = None
        self.counted: Wanted | None = None
        """Of which view and filter the counts are."""
        self.sources: tuple[JobSource, ...] = ()
        self.kinds: tuple[JobKind, ...] | None = None
        """The registered kinds, once they were asked for."""
        self._wish = 0
        """Rises with every filter that is asked for, and when the line is left."""

    def make_filter_line(self) -> FilterLine:
        """The line, for the subclass to place."""
        return FilterLine(judge=self._judge, offers=self._offers, id="filter")

    def show_anew(self) -> None:
        """Another list is asked for: what is shown is not of it."""
        raise NotImplementedError

    def listed(self) -> Sequence[JobSummary]:
        """The rows that were read."""
        raise NotImplementedError

    def handlers(self) -> Mapping[str, Handler]:
        """Commands of the filter."""
        return {
            **super().handlers(),
            "job.filter": self.edit_filter,
            "job.filter-clear": lambda: self.put_in_force(""),
            "job.filter-again": lambda: self.put_in_force(self.filter_before),
        }

    def situation(self) -> Situation:
        """With what is known of filters here."""
        facts = super().situation()
        return replace(facts, filtered=bool(self.filter_text), filter_before=bool(self.filter_before))

    @property
    def several(self) -> bool:
        """Whether jobs of other engines stand among those of this service."""
        return sum(source.reached for source in self.sources) > 1

    @property
    def wanted(self) -> Wanted:
        """What is listed."""
        return self.shown, self.filter_text

    def asked_for(self) -> str:
        """The filter as it is sent."""
        return asked_filter(self.shown, self.filter_text)

    def edit_filter(self) -> None:
        """Opens the line with the filter in force."""
        self.filter_line.open(self.filter_text)
        if self.kinds is None:
            self.work(self.learn_kinds(), doing="Reading what a filter may name", group="kinds", exclusive=True)

    async def learn_kinds(self) -> tuple[JobKind, ...]:
        """The registered kinds; asked for once."""
        if self.kinds is None:
            self.kinds = (await client.job_kinds(self.shell.service)).kinds
            self.filter_line.judge_again()
        return self.kinds

    def put_in_force(self, text: str) -> None:
        """Filters by `text` once the service takes it; empty lists the whole view."""
        self._wish += 1
        self.work(self._put_in_force(text.strip(), self._wish), doing="Filter", group="filter")

    async def _put_in_force(self, text: str, wish: int) -> None:
        if text == self.filter_text:
            self.filter_line.close()
            return
        fault = self._judge(text)
        if fault is None and text:
            fault = await self._refusal(text)
        if wish != self._wish:
            return
        if fault is not None:
            self._refuse(text, fault)
            return
        self.filter_before, self.filter_text = self.filter_text, text
        if self.filter_line.typed.strip() == text or not self.filter_line.typing:
            self.filter_line.close()
        self.show_anew()

    async def _refusal(self, text: str) -> Fault | None:
        """Why the service does not take the filter; None where it does. Any other failure is the list's to tell."""
        self.filter_line.asking()
        try:
            await self.page(asked_filter(self.shown, text), limit=1)
        except ServiceRefused as refused:
            if refused.kind is not ErrorCode.FILTER_INVALID:
                raise
            return fault_in(refused.sentence, refused.extra, text)
        finally:
            self.filter_line.answered()
        return None

    async def page(self, filter_text: str, cursor: str | None = None, limit: int = client.PAGE) -> Jobs:
        """One page of the view by that filter."""
        view = VIEWS[self.shown].view
        return await client.jobs(self.shell.service, filter_text, view=view, cursor=cursor, limit=limit)

    def _refuse(self, text: str, fault: Fault) -> None:
        """The old filter stays in force; the line says why, with what was typed."""
        if not self.filter_line.typing:
            self.filter_line.open(text)
        typed = self.filter_line.typed
        if typed.strip() == text:
            self.filter_line.refuse(replace(fault, at=fault.at + len(typed) - len(typed.lstrip())))
        else:
            self.say(f"{text}: {fault.sentence}", error=True)

    def show_filter_line(self) -> None:
        """Shows the filter in force with its count."""
        counts = self.counts if self.counted == self.wanted else None
        words = match_words(counts, self.at().now) if self.filter_text else ""
        self.filter_line.show(self.filter_text, words)

    def _judge(self, text: str) -> Fault | None:
        names = {source.name for source in self.sources} or None
        return fault_of(text, tenant=self.shell.tenant, kinds=self._known_kinds(), sources=names)

    def _known_kinds(self) -> set[str] | None:
        """What `kind:` may name; of other engines' jobs only those that were seen are known, so none is judged then."""
        if self.kinds is None or len(self.sources) > 1:
            return None
        return {kind.id for kind in self.kinds} | {row.kind for row in self.listed()}

    def _offers(self, text: str, at: int) -> Sequence[Offer]:
        known = vocabulary(self.kinds or (), self.sources, self.listed(), tenant=self.shell.tenant, now=self.at().now)
        return offers_of(text, at, known)

    @on(FilterLine.Given)
    def _line_given(self, event: FilterLine.Given) -> None:
        self.put_in_force(event.text)

    @on(FilterLine.Closed)
    def _line_closed(self) -> None:
        self._wish += 1  # what the service is still being asked is no longer wanted
        self.show_filter_line()
