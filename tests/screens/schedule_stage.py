"""Owns what tests of schedules put on the stage: a board of schedules, occurrences and Workers for each tenant, answered in
front of the fake service, so that every text and figure on the screen is the test's own. Everything is as of `NOW`.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
from pydantic import BaseModel
from textual.pilot import Pilot

from jobconsole.app import Console
from jobconsole.client.fake import FakeService
from jobconsole.screens.occurrence import OccurrenceScreen
from jobconsole.screens.occurrences import OccurrencesScreen
from jobconsole.screens.schedules import SchedulesScreen
from jobcontract import routes
from jobcontract.events import Topic
from jobcontract.occurrences import (
    CancelOrder,
    Occurrence,
    OccurrenceChanged,
    OccurrenceDetail,
    OccurrenceItem,
    OccurrenceItems,
    Occurrences,
)
from jobcontract.schedules import Schedule, ScheduleDetail
from jobcontract.session import Person
from jobcontract.states import ScheduleStanding
from jobcontract.workers import Worker, Workers
from tests.present.scheduled import NOW, UTC_RHYTHM, detail, page, recent, schedule, whole
from tests.screens.idle import idle, until
from tests.screens.stage import console, ready

PAGE = 50
OTHER = "york"


@dataclass
class Board:
    """What one tenant has. Change it and call `told` of the stage: the console is hinted."""

    schedules: list[Schedule] = field(default_factory=list)
    details: dict[str, ScheduleDetail] = field(default_factory=dict)
    occurrences: list[Occurrence] = field(default_factory=list)
    whole: OccurrenceDetail = field(default_factory=whole)
    items: list[OccurrenceItem] = field(default_factory=list)
    """Where there are more than those of `whole`."""
    workers: list[Worker] = field(default_factory=list)


class Stage:
    """The fake service with boards in front of it. `status`: answers that to every question about schedules."""

    def __init__(self) -> None:
        self.fake = FakeService(start=NOW)
        self.boards = {"leeds": Board(), OTHER: Board()}
        self.status: int | None = None
        self.asked: list[str] = []
        """Routes that were asked for, in their order."""
        self.reasons: list[str] = []
        """Of the orders to cancel."""

    @property
    def board(self) -> Board:
        """What the first tenant has."""
        return self.boards["leeds"]

    def transport(self) -> httpx.MockTransport:
        """What a console is to send through."""
        return httpx.MockTransport(self.handle)

    def told(self, schedule: str | None = None) -> None:
        """Hints that a schedule changed; None: that many did."""
        topic = Topic.SCHEDULE if schedule is not None else Topic.SCHEDULES
        name = schedule or "schedules"
        self.fake._publish_hint(topic, name, name, len(self.fake._events) + 1)

    async def handle(self, request: httpx.Request) -> httpx.Response:
        """Answers what is about schedules, and lets the fake service answer the rest."""
        tenant = request.headers.get(routes.TENANT_HEADER, "leeds")
        steps = request.url.path.strip("/").split("/")[1:]
        if steps[:1] and steps[0] in ("schedules", "occurrences", "workers"):
            self.asked.append("/".join(steps))
            if self.status is not None:
                return problem(self.status)
            return httpx.Response(200, json=self._answer(self.boards[tenant], steps, request))
        if tenant == OTHER:
            request.headers[routes.TENANT_HEADER] = "leeds"
        answer = await self.fake.handle(request)
        if request.url.path == routes.ME.path:
            session = json.loads(answer.content)
            session["tenants"].append({**session["tenants"][0], "tenant": OTHER, "name": "York"})
            return httpx.Response(200, json=session)
        return answer

    def _answer(self, board: Board, steps: Sequence[str], request: httpx.Request) -> Any:
        query = dict(request.url.params)
        match steps:
            case ["schedules"]:
                return dumped(page(*board.schedules, now=self.fake.time))
            case ["schedules", name]:
                shown = next(each for each in board.schedules if each.id == name)
                told = board.details.get(name) or detail(shown)
                return dumped(told.model_copy(update={"schedule": shown, "now": self.fake.time}))
            case ["occurrences"]:
                wanted = query["state"].split(",") if "state" in query else []
                rows = [each for each in board.occurrences if each.schedule == query["schedule"]]
                return self._page([each for each in rows if not wanted or each.state in wanted], query)
            case ["occurrences", _]:
                first, following = cut(board.items, query) if board.items else (board.whole.items, None)
                more = {"items": tuple(first), "items_next": following, "now": self.fake.time}
                return dumped(board.whole.model_copy(update=more))
            case ["occurrences", _, "items"]:
                first, following = cut(board.items, query)
                return dumped(OccurrenceItems(items=tuple(first), next=following, now=self.fake.time))
            case ["occurrences", _, "cancel"]:
                return self._cancelled(board, request)
            case _:
                return dumped(Workers(workers=tuple(board.workers), now=self.fake.time))

    def _page(self, rows: Sequence[Occurrence], query: dict[str, str]) -> Any:
        first, following = cut(rows, query)
        return dumped(Occurrences(occurrences=tuple(first), next=following, now=self.fake.time))

    def _cancelled(self, board: Board, request: httpx.Request) -> Any:
        reason = CancelOrder.model_validate_json(request.content).reason
        self.reasons.append(reason)
        person = Person(id="o.lind", name="Olle Lind")
        more = {"cancel_asked_at": self.fake.time, "cancelled_by": person, "cancel_reason": reason}
        occurrence = board.whole.occurrence.model_copy(update=more)
        board.whole = board.whole.model_copy(update={"occurrence": occurrence})
        return dumped(OccurrenceChanged(occurrence=occurrence, now=self.fake.time))


def cut(rows: Sequence[Any], query: dict[str, str]) -> tuple[Sequence[Any], str | None]:
    """The page that a cursor leads to, and the next one."""
    start, limit = int(query.get("cursor", "0")), int(query.get("limit", str(PAGE)))
    return rows[start : start + limit], str(start + limit) if len(rows) > start + limit else None


def dumped(answer: BaseModel) -> Any:
    """An answer as it is on the wire."""
    return answer.model_dump(mode="json")


def problem(status: int) -> httpx.Response:
    """How the service says that it cannot, or that one may not."""
    known = {
        503: ("database-away", "The database cannot be reached; nothing was done."),
        403: ("permission-missing", "That needs schedule.read (finance or operator or auditor)."),
    }
    code, sentence = known[status]
    body = {
        "type": "about:blank",
        "title": "No",
        "status": status,
        "code": code,
        "detail": sentence,
        "reference": "8C1E",
    }
    return httpx.Response(status, content=json.dumps(body), headers={"Content-Type": routes.PROBLEM_TYPE})


def believable() -> list[Schedule]:
    """Schedules of a small firm: one parked, one late, one that retries, the others as they should be."""
    minute = {"rhythm": UTC_RHYTHM, "retention": 86_400.0}
    return [
        schedule(
            "activations.hourly",
            title="Activate accounts",
            rhythm=UTC_RHYTHM.model_copy(update={"words": "every hour"}),
        ),
        schedule(
            "invoices.import",
            title="Import invoices",
            standing=ScheduleStanding.PARKED,
            standing_words="Cannot be computed: Europe/Lundon is no time zone.",
            next_at=None,
            recent=recent("✓✓✓"),
        ),
        schedule(
            "payouts.rescore",
            title="Score payouts anew",
            standing=ScheduleStanding.LATE,
            standing_words="Late by 4 min: what was due at 2026-10-24 21:56 UTC has not started, and 3 more wait.",
            waiting=4,
            dead=1,
            recent=recent("✓✓✓✓✓✓△✓✓✓✗✓···"),
            **minute,
        ),
        schedule(
            "settlement.close",
            title="Close the settlement",
            standing=ScheduleStanding.RETRYING,
            standing_words="Waits for attempt 2 of 3 at 2026-10-24 21:30 UTC, in 30 s.",
            recent=recent("✓✓✓✓✓✓✓◌"),
        ),
        schedule(recent=recent("✓" * 24 + "✗△✓✓✓✓")),
    ]


@asynccontextmanager
async def on_schedules(
    stage: Stage, *, size: tuple[int, int] = (80, 24), person: str = "o.lind", key: str = "5"
) -> AsyncIterator[tuple[Console, SchedulesScreen, Pilot[None]]]:
    """The console at a place of schedules, everything read."""
    app = console(stage.fake, transport=stage.transport(), person=person)
    async with app.run_test(size=size) as pilot:
        await ready(app)
        await pilot.press(key)
        await until(app, lambda: app.place_screen.PLACE in ("schedules", "workers"), "the place")
        await idle(app)
        yield app, app.place_screen, pilot  # type: ignore[misc]  # of key 5, which most tests press


async def listed(app: Console) -> OccurrencesScreen:
    """The occurrences of a schedule, once they are in front and read."""
    await until(app, lambda: isinstance(app.screen, OccurrencesScreen) and app.screen.told_at, "the occurrences")
    assert isinstance(app.screen, OccurrencesScreen)
    return app.screen


async def opened(app: Console) -> OccurrenceScreen:
    """One occurrence, once it is in front and read."""
    await until(app, lambda: isinstance(app.screen, OccurrenceScreen) and app.screen.detail, "the occurrence")
    assert isinstance(app.screen, OccurrenceScreen)
    await idle(app)
    return app.screen
