"""Owns what a person does about a plan that was confirmed: pause, resume, abort, export, go to an item or to the queue of
what is uncertain. Each order goes through a dialog; none is a single key.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jobconsole.client import plans as client
from jobconsole.client import queues as queues_client
from jobconsole.exports import ExportError, write_new
from jobconsole.present.columns import Line, Piece, Tone
from jobconsole.present.plan_progress import account_lines, under_way
from jobconsole.present.plans import counted
from jobconsole.screens.item import ItemScreen
from jobconsole.screens.order_form import Given, Order, asked
from jobconsole.screens.plan_progress_fetching import PlanWatchingScreen
from jobconsole.screens.queues_opening import open_uncertain
from jobconsole.screens.shell import Handler
from jobconsole.screens.stops_acting import stop_work
from jobcontract.operating import StopScope
from jobcontract.states import PlanState, Turn

if TYPE_CHECKING:
    from jobcontract.plans import Plan

ABOUT_WIDTH = 60
"""Cells of a line in a dialog."""


class PlanSteeringScreen(PlanWatchingScreen):
    """A place with a plan that is applied."""

    def selected_item(self) -> str | None:
        """Id of the item under the cursor."""
        raise NotImplementedError

    def handlers(self) -> Mapping[str, Handler]:
        """Commands that steer the plan, and those that lead on from it."""
        return {
            "plan.pause": self.pause,
            "plan.resume": self.resume,
            "plan.abort": self.abort,
            "plan.export": self.export,
            "plan.review": self.review,
            "plan.open-item": self.open_item,
            "stop.work": self.stop_command,
        }

    async def stop_command(self) -> None:
        """Asks for a reason, then holds every plan of the same command still."""
        if (plan := self.plan) is not None:
            await stop_work(self, StopScope.BULK_COMMAND, plan.command, f"every plan of {plan.title}")

    async def pause(self) -> None:
        """Asks for a reason, then lets no further item begin."""
        if (plan := self.plan) is None:
            return
        order = Order(
            title=f"Pause plan {plan.name}?",
            act=f"Pause plan {plan.name}",
            about=lambda: self._about("No further item begins until it is resumed, which takes a code."),
            reason="Why; everybody who sees the plan reads it",
            send=lambda given, key: client.pause(self.shell.service, plan.id, given.reason, key),
        )
        answer = await asked(self, order)
        self._told(answer, "Paused: nothing further begins.")

    async def resume(self) -> None:
        """Asks for a fresh code, then goes on."""
        if (plan := self.plan) is None:
            return
        order = Order(
            title=f"Resume plan {plan.name}?",
            act=f"Resume plan {plan.name}",
            about=self._resuming,
            send=self._resume,
            code=True,
        )
        answer = await asked(self, order)
        self._told(answer, "Resumed: it goes on.")

    async def abort(self) -> None:
        """Asks for a reason, then ends the plan."""
        if (plan := self.plan) is None:
            return
        order = Order(
            title=f"Abort plan {plan.name}?",
            act=f"Abort plan {plan.name}",
            about=self._aborting,
            reason="Why; everybody who sees the plan reads it",
            send=lambda given, key: client.abort(self.shell.service, plan.id, given.reason, key),
        )
        answer = await asked(self, order)
        self._told(answer, "Aborted: what had no turn is free again.")

    async def export(self) -> None:
        """Writes every row and how its turn ended to a new file."""
        if (plan := self.plan) is None:
            return
        content = await client.export(self.shell.service, plan.id)
        try:
            path = await asyncio.to_thread(write_new, Path.cwd(), f"plan-{plan.name}", "csv", content)
        except ExportError as error:
            self.say(str(error), error=True)
            return
        self.say(f"Written: {path}")

    async def open_item(self) -> None:
        """Shows everything of the item under the cursor."""
        item, plan, service = self.selected_item(), self.plan, self.shell.service
        if item is None or plan is None:
            return
        detail = await queues_client.item(service, item)
        queues = (await queues_client.queues(service)).queues
        queue = next((each for each in queues if each.id == detail.item.queue), None)
        if queue is None:
            self.say(f"Its queue {detail.item.queue} is not one that you see.", error=True)
        else:
            self.app.push_screen(ItemScreen(queue, detail.item, detail))

    async def review(self) -> None:
        """Goes to the queue of what is uncertain."""
        await open_uncertain(self, self.plan.command if self.plan is not None else None)

    def look_again(self) -> None:
        """Other rows came into sight whose turn may have ended since they were told."""
        self._told_of = -1
        self.refresh_soon()

    async def _resume(self, given: Given, key: str) -> Plan:
        return await client.resume(self.shell.service, self.plan_id, given.required, key)

    def _told(self, plan: Plan | None, sentence: str) -> None:
        if plan is not None:
            self.took(plan)
            self.say(sentence)
        self.refresh_soon()

    def _about(self, what: str) -> Sequence[Line]:
        plan = self.plan
        if plan is None:
            return []
        running = under_way(plan)
        going = f"{counted(running, 'item')} under way {'goes' if running == 1 else 'go'} on to the end."
        return [
            (Piece(what),),
            *([(Piece(going, Tone.QUIET),)] if running else []),
            *account_lines(plan, ABOUT_WIDTH, brief=True),
        ]

    def _resuming(self) -> Sequence[Line]:
        plan = self.plan
        if plan is None:
            return []
        left = sum(each.count for each in plan.account if not each.turn.ended)
        why = f"It was paused: {plan.reason}" if plan.reason else "It was paused."
        goes = Piece(f"{counted(left, 'item')} of {plan.count:,} {'goes' if left == 1 else 'go'} on.", Tone.STRONG)
        return [(Piece(why, Tone.QUIET),), (goes,), *account_lines(plan, ABOUT_WIDTH, brief=True)]

    def _aborting(self) -> Sequence[Line]:
        plan = self.plan
        if plan is None:
            return []
        back = sum(each.count for each in plan.account if each.turn in (Turn.NOT_STARTED, Turn.WAITING))
        given = f"{counted(back, 'item')} without a turn {'is' if back == 1 else 'are'} given back."
        armed = plan.state is PlanState.ARMED
        kept = "Nothing was released yet." if armed else "What was released stays released."
        return self._about(f"{given} {kept} It cannot be resumed.")
