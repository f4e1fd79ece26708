"""Owns what a person does about the plan on the screen: answer a warning, take an item out, drop it, make it anew, export
it, confirm it. What was shown goes along; a lost answer is asked for again under the same key (HTTP-03).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from jobconsole.client import plans as client
from jobconsole.client.errors import ClientError, OutcomeUnknown, ServiceRefused
from jobconsole.client.plans import Confirming
from jobconsole.client.queues import new_key
from jobconsole.exports import ExportError, write_new
from jobconsole.present.amounts import account_text, amount_text
from jobconsole.present.plans import counted, state_now
from jobconsole.present.refusals import refusal_sentence
from jobconsole.screens.code_early import CodeEarlyScreen
from jobconsole.screens.confirm import ConfirmDialog
from jobconsole.screens.dialog import Ask
from jobconsole.screens.plan_fetching import PlanFetchingScreen
from jobconsole.screens.plan_keep import KeepDialog
from jobconsole.screens.sending import surely
from jobconsole.screens.shell import Handler
from jobconsole.screens.stops_acting import stop_work
from jobcontract.operating import StopScope
from jobcontract.states import Exclusion, PlanState

if TYPE_CHECKING:
    from jobcontract.items import Amount, Payee
    from jobcontract.plans import Plan, PlanWarning

R = TypeVar("R")


class PlanActingScreen(CodeEarlyScreen, PlanFetchingScreen):
    """A place with a plan that can be changed and confirmed."""

    CONFIRM = "plan.confirm"

    def __init__(self, plan: Plan, on_confirmed: Callable[[frozenset[str]], None] = lambda _items: None) -> None:
        """`on_confirmed` hears the ids of the items that were confirmed."""
        super().__init__(plan)
        self._on_confirmed = on_confirmed
        self._acting = False

    def selected_warning(self) -> PlanWarning | None:
        """The warning under the cursor, or the one of the row under it that waits for an answer."""
        raise NotImplementedError

    def selected_item(self) -> tuple[str, Amount, Payee] | None:
        """Id, amount and payee of the item under the cursor."""
        raise NotImplementedError

    def after_confirming(self, plan: Plan) -> None:
        """The plan was confirmed."""
        raise NotImplementedError

    def handlers(self) -> Mapping[str, Handler]:
        """Commands that change the plan."""
        return {
            "plan.keep": self.keep,
            "plan.take-out": self.take_out,
            "plan.export": self.export,
            "plan.confirm": self.confirm,
            "plan.drop": self.drop,
            "plan.make-anew": self.ask_anew,
            "stop.work": self.stop_command,
        }

    async def stop_command(self) -> None:
        """Asks for a reason, then holds every plan of the same command still."""
        await stop_work(self, StopScope.BULK_COMMAND, self.plan.command, f"every plan of {self.plan.title}")

    async def keep(self) -> None:
        """Asks for a reason, then answers the warning with it."""
        warning = self.selected_warning()
        if warning is None:
            return
        keys: dict[str, str] = {}

        async def send(reason: str) -> Plan:
            key = keys.setdefault(reason, new_key())
            return await surely(
                lambda: client.keep_in(self.shell.service, self.plan.id, warning.id, reason, key), dialog.checking
            )

        dialog = KeepDialog(warning, send, self.seen)
        answered = await self.app.push_screen_wait(dialog)
        if answered is not None:
            self.took(answered)
            await self._load_warnings()
            waits = f"{counted(self.plan.to_answer, 'warning')} to answer." if self.plan.to_answer else "None waits."
            self.say(f"Kept in, with your reason. {waits}")

    async def take_out(self) -> None:
        """Takes the item under the cursor out of the plan."""
        item = self.selected_item()
        if item is None or self._acting:
            return
        key, (identifier, amount, payee) = new_key(), item
        service = self.shell.service
        plan = await self._once("Take out", lambda: client.take_out(service, self.plan.id, [identifier], key))
        if plan is not None:
            self.took(plan)
            named = f"{amount_text(amount)} {account_text(payee)} {payee.name}"
            self.say(f"Taken out: {named}. The plan is frozen anew, with {counted(plan.count, 'item')}.")
            await self._load_warnings()
            await self._load_exclusions()

    async def drop(self) -> None:
        """Asks, then gives the plan up."""
        lines = (f"{counted(self.plan.count, 'item')} are free again for everybody. Nothing was released.",)
        ask = Ask(title=f"Give up plan {self.plan.name}?", act="Drop the plan", lines=lines)
        if await self.app.push_screen_wait(ask):
            await self._drop()

    async def ask_anew(self) -> None:
        """Makes the plan anew; asks first where that gives up one that could still be confirmed."""
        if self.state() is PlanState.OPEN:
            lines = (
                f"It gives up {self.plan.name} and freezes the same set as it is now.",
                "Answers that you gave to warnings are given anew.",
                "Nothing is released.",
            )
            ask = Ask(title=f"Make a new plan in place of {self.plan.name}?", act="Make a new plan", lines=lines)
            if not await self.app.push_screen_wait(ask):
                return
        await self.make_anew()

    async def make_anew(self) -> None:
        """Freezes the same set as a new plan, and shows it here; an open one is dropped first."""
        queue, command, filter_text = self.plan.queue, self.plan.command, self.plan.filter
        items = None if filter_text is not None else await self._set()
        if items is not None and not items:
            self.say("Which items were in it is not known yet: wait until its rows were read.", error=True)
            return
        if self.state() is PlanState.OPEN and not await self._drop():
            return
        key, service = new_key(), self.shell.service
        plan = await self._once(
            "New plan", lambda: client.make(service, queue, command, key, items=items, filter=filter_text)
        )
        if plan is not None:
            self.begin(plan)
            self.say(f"This is plan {plan.name}, with {counted(plan.count, 'item')} as they are now.")

    async def export(self) -> None:
        """Writes the rows of the plan to a new file."""
        content = await client.export(self.shell.service, self.plan.id)
        try:
            path = await asyncio.to_thread(write_new, Path.cwd(), f"plan-{self.plan.name}", "csv", content)
        except ExportError as error:
            self.say(str(error), error=True)
            return
        self.say(f"Written: {path}")

    async def confirm(self) -> None:
        """Asks for the code and confirms exactly what is on the screen."""
        digest, plan = self.digest, self.plan
        if digest is None:
            return
        service = self.shell.service
        dialog = ConfirmDialog(Confirming(plan, digest), service, self.seen)
        service.on_checking = lambda _key: dialog.checking()
        ended = await self.app.push_screen_wait(dialog)
        if ended is None:
            if self.state() is PlanState.OPEN and not dialog.unsure:
                self.say("Not confirmed: nothing was released. The plan stays open.")
            self.reload_soon()
        elif ended.confirmed is None:
            await self.make_anew()
        else:
            items = frozenset(row.item for row in self.items.rows)
            self.took(ended.confirmed)
            self._on_confirmed(items)
            waits = ended.confirmed.state is PlanState.ARMED
            self.say(f"Confirmed: plan {plan.name} {'waits' if waits else 'goes on'}.")
            self.after_confirming(ended.confirmed)

    def begin(self, plan: Plan) -> None:
        """Shows another plan here."""
        self.plan, self.reading, self.unfit, self._expiry_asked = plan, None, "", False
        self.items.begin(plan.count)
        self.warned.show(())
        self.kept_out.show(())
        self.show_all()
        self.reload_soon()

    async def _drop(self) -> bool:
        key, service = new_key(), self.shell.service
        try:
            self.took(await surely(lambda: client.drop(service, self.plan.id, key)))
        except ServiceRefused as refused:
            self.took(await client.plan(service, self.plan.id))
            if self.plan.state.live:
                self.say(f"Drop plan: {refusal_sentence(refused.sentence)}", error=True)
                return False
        return state_now(self.plan, self.seen().now) is not PlanState.OPEN

    async def _once(self, doing: str, call: Callable[[], Awaitable[R]]) -> R | None:
        """The answer of `call`, which carries one key; None where it was refused, after that was said."""
        if self._acting:
            return None
        self._acting = True
        self.shell.service.on_checking = lambda _key: self.say(f"{doing}: unknown, checking …")
        try:
            return await surely(call, lambda: self.say(f"{doing}: unknown, checking …"))
        except (ServiceRefused, OutcomeUnknown) as error:
            self.say(f"{doing}: {refusal_sentence(error.sentence, error.reference)}", error=True)
        except ClientError:
            self.reload_soon()
            raise
        finally:
            self._acting = False
        self.reload_soon()
        return None

    async def _set(self) -> list[str]:
        """Ids of the set that the plan was made from: its items, and those kept out by anything but its owner."""
        if len(self.items.rows) < self.plan.count:
            return []
        kept_out = [row async for row in client.every_exclusion(self.shell.service, self.plan.id)]
        out = [row.item for row in kept_out if row.reason not in (Exclusion.TAKEN_OUT, Exclusion.UNKNOWN)]
        return [*(row.item for row in self.items.rows), *out]
