"""Owns what a person does about a recovery: confirm it, take a row out, drop it, make it anew; pause, resume and abort it once
it is applied. Each order goes through a dialog, but for taking a row out of one's own; a lost answer is asked for again
under the same key (HTTP-03).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from jobconsole.client import recoveries as client
from jobconsole.client.errors import ServiceRefused
from jobconsole.client.queues import new_key
from jobconsole.client.recovery_confirming import ConfirmingRecovery
from jobconsole.present.columns import Line, Piece, Tone
from jobconsole.present.plans import counted
from jobconsole.present.recoveries import act_words, state_now
from jobconsole.present.recovery_command import order_of
from jobconsole.present.recovery_progress import account_line
from jobconsole.present.refusals import refusal_sentence
from jobconsole.screens.acts import acted, command_of
from jobconsole.screens.code_early import CodeEarlyScreen
from jobconsole.screens.named import opened
from jobconsole.screens.occurrence import OccurrenceScreen
from jobconsole.screens.order_form import Order
from jobconsole.screens.plan_seen import SeenScreen
from jobconsole.screens.recovery_confirm import RecoveryConfirm
from jobconsole.screens.recovery_making import open_recovery
from jobconsole.screens.sending import surely
from jobconsole.screens.shell import Handler
from jobcontract.operating import RecoveryState, RecoveryTarget
from jobcontract.states import Moves, Turn

if TYPE_CHECKING:
    from jobconsole.client.service import Service
    from jobcontract.recoveries import Recovery, RecoveryRow

    Steer = Callable[[Service, str, str, str], Awaitable[Recovery]]
    """A function of the client that takes the recovery's id, a reason and a key."""

JOB_SCREEN = "jobconsole.screens.job:JobScreen"
ABOUT_WIDTH = 60
"""Cells of a line in a dialog."""
REASON = "Why; everybody who sees the recovery reads it"


class RecoveryActingScreen(CodeEarlyScreen, SeenScreen):
    """A place with one recovery."""

    PLACE = "recovery"
    CONFIRM = "recovery.confirm"

    def __init__(self, recovery: Recovery) -> None:
        super().__init__()
        self.recovery = recovery
        self.greeting = ""
        """What is said once it is shown."""
        self._acting = False

    @property
    def digest(self) -> str | None:
        """The digest of what is on the screen, once every row went through."""
        return None

    def undone(self) -> str:
        """How many items of all its rows run again, in words."""
        return ""

    def selected_row(self) -> RecoveryRow | None:
        """The row under the cursor."""
        raise NotImplementedError

    def took(self, recovery: Recovery) -> None:
        """An answer told how it stands."""
        raise NotImplementedError

    def handlers(self) -> Mapping[str, Handler]:
        """Commands that change or steer it."""
        return {
            "recovery.confirm": self.confirm,
            "recovery.take-out": self.take_out,
            "recovery.drop": self.drop,
            "recovery.make-anew": self.make_anew,
            "recovery.pause": self.pause,
            "recovery.resume": self.resume,
            "recovery.abort": self.abort,
            "recovery.open-row": self.open_row,
            "recovery.list": lambda: None,
        }

    # Before it is confirmed

    async def confirm(self) -> None:
        """Says what is done, asks for the code where there is one, and confirms exactly what is on the screen."""
        digest, recovery = self.digest, self.recovery
        if digest is None:
            return
        service = self.shell.service
        dialog = RecoveryConfirm(ConfirmingRecovery(recovery, digest), self.undone(), service, self.seen)
        service.on_checking = lambda _key: dialog.checking()
        ended = await self.app.push_screen_wait(dialog)
        if ended is None:
            if state_now(self.recovery, self.seen().now) is RecoveryState.OPEN and not dialog.unsure:
                self.say("Not confirmed: nothing was done. The recovery stays open.")
            self.refresh_all()
        elif ended.confirmed is None:
            await self._anew()
        else:
            self.recovery = ended.confirmed
            self.after_confirming(ended.confirmed)

    def after_confirming(self, recovery: Recovery) -> None:
        """Goes on to the screen that watches it."""
        open_recovery(self, recovery)

    async def take_out(self) -> None:
        """Takes the row under the cursor out."""
        row, service = self.selected_row(), self.shell.service
        if row is None or self._acting:
            return
        key, self._acting = new_key(), True
        try:
            taken = await surely(lambda: client.take_out(service, self.recovery.id, [row.key], key))
        except ServiceRefused as refused:
            self.say(f"Take out: {refusal_sentence(refused.sentence)}", error=True)
            self.refresh_all()
            return
        finally:
            self._acting = False
        self.took(taken)
        self.say(f"Taken out: {row.name}. The recovery is frozen anew, with {counted(taken.count, 'row')}.")
        self.refresh_all()

    async def drop(self) -> None:
        """Asks for a reason, then gives it up."""
        about = (Piece(f"{act_words(self.recovery)}: none of it is done. It cannot be taken up again."),)
        order = self._order("drop", "Drop", lambda: [about], client.drop)
        await self._ask(order, "Dropped: nothing of it was done.")

    async def make_anew(self) -> None:
        """Freezes what was asked for as it is now; asks first where that gives an open one up."""
        if state_now(self.recovery, self.seen().now) is RecoveryState.OPEN:
            await self.drop()
            if self.recovery.state is RecoveryState.OPEN:
                return
        await self._anew()

    async def _anew(self) -> None:
        """Makes it anew, dropping an open one without asking again: its rows changed."""
        order = order_of(self.recovery.command)
        if order is None:
            self.say(f"This console does not understand how it is made: {self.recovery.command}", error=True)
            return
        service, found = self.shell.service, self.recovery
        if state_now(found, self.seen().now) is RecoveryState.OPEN:
            once, why = new_key(), "A new one of the same set is made."
            await surely(lambda: client.drop(service, found.id, why, once))
        key = new_key()
        try:
            made = await surely(lambda: client.make(service, order, key))
        except ServiceRefused as refused:
            self.say(f"New recovery: {refusal_sentence(refused.sentence)}", error=True)
            self.refresh_all()
            return
        open_recovery(self, made, f"This is {made.name}, with {counted(made.count, 'row')} as they are now.")

    # While it is applied

    async def pause(self) -> None:
        """Asks for a reason, then lets no further row begin."""
        takes = "a reason and a code" if self.recovery.moves is Moves.MONEY else "a reason"
        what = f"No further row begins until it is resumed, which takes {takes}."
        order = self._order("pause", "Pause", lambda: self._about(what), client.pause)
        await self._ask(order, "Paused: nothing further begins.")

    async def resume(self) -> None:
        """Asks for a reason, and where it moves money for a code, then goes on."""
        service, found = self.shell.service, self.recovery
        order: Order[Recovery] = Order(
            title=f"Resume {found.name}?",
            act=f"Resume {found.name}",
            about=lambda: self._about(f"It was paused: {self.recovery.why or 'no reason was given'}"),
            reason=REASON,
            send=lambda given, key: client.resume(service, found.id, given.reason, given.code, key),
            code=found.moves is Moves.MONEY,
            command=command_of(self, ("recoveries", "resume", found.name)),
        )
        await self._ask(order, "Resumed: it goes on.")

    async def abort(self) -> None:
        """Asks for a reason, then ends it."""
        what = "Nothing else of it is begun, and it cannot be resumed."
        order = self._order("abort", "Abort", lambda: self._about(what), client.abort)
        await self._ask(order, "Aborted: what has begun goes on to its end.")

    def open_row(self) -> None:
        """Shows the occurrence, or the job, of the row under the cursor; of one that was retried the new one."""
        row = self.selected_row()
        if row is None:
            return
        if row.target is RecoveryTarget.OCCURRENCE:
            self.app.push_screen(OccurrenceScreen(row.key))
        elif row.target is RecoveryTarget.JOB:
            opened_job = opened(JOB_SCREEN, row.made or row.key)
            if opened_job is not None:
                self.app.push_screen(opened_job)
        else:
            what = "an instant that has no occurrence yet" if row.state is None and row.scheduled_at else "a schedule"
            self.say(f"{row.name} is {what}: 5 shows the schedules.")

    # Shared

    def _order(self, verb: str, word: str, about: Callable[[], Sequence[Line]], send: Steer) -> Order[Recovery]:
        """An order about it that takes a reason alone."""
        service, found = self.shell.service, self.recovery
        return Order(
            title=f"{word} {found.name}?",
            act=f"{word} {found.name}",
            about=about,
            reason=REASON,
            send=lambda given, key: send(service, found.id, given.reason, key),
            back="Leave it as it is",
            command=command_of(self, ("recoveries", verb, found.name)),
        )

    def _about(self, what: str) -> Sequence[Line]:
        found = self.recovery
        running = sum(each.count for each in found.account if each.turn is Turn.RUNNING)
        going = f"{counted(running, 'row')} under way {'goes' if running == 1 else 'go'} on to the end."
        return [
            (Piece(what),),
            *([(Piece(going, Tone.QUIET),)] if running else []),
            *account_line(found, ABOUT_WIDTH),
        ]

    async def _ask(self, order: Order[Recovery], sentence: str) -> None:
        """Sends it where it was not given up, and says so."""
        recovery = await acted(self, order, lambda _: sentence)
        if recovery is not None:
            self.took(recovery)
        self.refresh_all()
