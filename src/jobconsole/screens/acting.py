"""Owns how claims and acts on one item are carried out from a screen, and how their end is said. The list of a queue
and the screen of an item share it.

What is on the screen goes along: the fence of the claim, the item's version. A lost answer is "unknown, checking" and
is then looked up; nothing is sent twice under two keys while its first outcome is not known (HTTP-03).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from jobconsole.client import queues as client
from jobconsole.client import session as session_client
from jobconsole.client.errors import ClientError, OutcomeUnknown, ServiceAway, ServiceRefused
from jobconsole.commands.queues import VERB_COMMANDS, verb_unavailable
from jobconsole.commands.situation import SelectedItem, Situation
from jobconsole.present.items import Seen, held_by, left, name_of, verb_of, what_is_done
from jobconsole.present.refusals import refusal_sentence
from jobconsole.present.times import countdown
from jobconsole.screens.act_form import ActForm, Sending
from jobconsole.screens.choose import Choice, ChooseScreen
from jobconsole.screens.explain import Explained, explain
from jobconsole.screens.place import PlaceScreen
from jobconsole.screens.shell import Handler
from jobconsole.screens.what_if import suppose
from jobconsole.widgets.form import Value
from jobcontract.ids import REASON_MAX
from jobcontract.items import Acted, ActOrder, Claimed
from jobcontract.permissions import GRANTS, Permission
from jobcontract.states import ClaimMode, InputType, Moves

if TYPE_CHECKING:
    from jobconsole.client.clock import ServerClock
    from jobcontract.items import Item, ItemDetail
    from jobcontract.queues import Queue, UseCase

R = TypeVar("R")
CLOCK_DOUBT = timedelta(seconds=1)
"""How far the service's time as it is known here may be from its own."""
BEFORE = datetime(1970, 1, 1, tzinfo=UTC)
"""The time before the service told one; there are no items then."""
CHECK_SECONDS = (0.5, 1.0, 2.0, 4.0, 8.0, 15.0)
"""Pauses between looking up an act whose answer got lost, while the service cannot be reached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a command is about: an item of a queue, as it is on the screen."""

    queue: Queue
    item: Item


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reason:
    """The one input of breaking a claim."""

    name: str = "reason"
    type: InputType = InputType.TEXT
    title: str = "Reason, which you both see"
    required: bool = True
    most: int | None = REASON_MAX


class _Keys:
    """One key for each order: the same order again has the same key, so that it happens once."""

    def __init__(self) -> None:
        self._order: object = None
        self._key = ""

    def of(self, item: Item, values: Mapping[str, Value]) -> str:
        """The key of acting with `values` on the item as it stands there."""
        order = (item.money_version, item.fence, dict(values))
        if order != self._order:
            self._order, self._key = order, client.new_key()
        return self._key


class ActingScreen(PlaceScreen):
    """A place with an item that can be claimed and acted on."""

    _me: str = ""
    _clock: ServerClock | None = None
    """Of the last sign-in: rows stay on the screen after it ended."""

    def subject(self) -> Subject | None:
        """The item that is selected; None where there is none."""
        raise NotImplementedError

    def took(self, item: Item, as_of: datetime) -> None:
        """An answer told how an item stands now."""
        raise NotImplementedError

    def there(self) -> bool:
        """Whether the parts of the screen are there: not before it is composed, nor once it is taken down."""
        return self.is_mounted and self.is_attached

    def seen_in(self, claim: ClaimMode) -> Seen:
        """From where items are looked at, now, under a claim mode."""
        session = self.shell.session
        if session is not None:
            self._me, self._clock = session.person.id, self.shell.service.clock
        now = self._clock.server_now() if self._clock is not None else None
        return Seen(me=self._me, now=now or BEFORE, zone=self.shell.frame.zone, claim=claim)

    def handlers(self) -> Mapping[str, Handler]:
        """Commands of claims and acts."""
        verbs = {command: self._verb_handler(verb) for verb, command in VERB_COMMANDS.items()}
        return {
            "item.claim": self.claim,
            "claim.release": self.release_claim,
            "claim.renew": self.renew_claim,
            "claim.break": self.break_claim,
            "item.act": self.choose_act,
            "item.copy-id": self.copy_id,
            "item.explain": self.explain_item,
            "item.what-if": self.suppose_item,
            **verbs,
        }

    def situation(self) -> Situation:
        """With the selected item."""
        subject = self.subject() if self.there() else None
        facts = super().situation()
        if subject is None:
            return facts
        seen = self.seen_in(subject.queue.claim)
        queue, item = subject.queue, _selected(subject, seen)
        return replace(facts, queue=queue.id, claim=queue.claim, rule=queue.score, item=item)

    def explain_item(self) -> None:
        """Shows why the item stands where it stands."""
        if (subject := self.subject()) is not None:
            seen = partial(self.seen_in, subject.queue.claim)
            explain(self, Explained(queue=subject.queue, item=subject.item, seen=seen))

    def suppose_item(self) -> None:
        """Asks what the item's place would be with other inputs."""
        if (subject := self.subject()) is not None:
            suppose(self, subject.item, partial(self.seen_in, subject.queue.claim))

    # Claims

    async def claim(self) -> None:
        """Claims the selected item."""
        await self._claiming("Claim", lambda item, key: client.claim(self.shell.service, item.id, key), _claimed_words)

    async def renew_claim(self) -> None:
        """Keeps the claim for another lease."""
        await self._claiming(
            "Renew claim",
            lambda item, key: client.renew_claim(self.shell.service, item.id, item.fence, key),
            lambda item, seen: f"Renewed: {countdown(left(item, seen.now) or 0)} left.",
        )

    async def release_claim(self) -> None:
        """Gives the claim back."""
        await self._claiming(
            "Release claim",
            lambda item, key: client.release_claim(self.shell.service, item.id, item.fence, key),
            lambda _item, _seen: "Your claim is released; the item is free.",
        )

    async def run_claim_next(self, queue: Queue, filter_text: str = "") -> Item | None:
        """Claims the first free item of `queue` that matches; None where there is none or it was refused, after it was said."""
        key = client.new_key()
        answer = await self._sure(
            "Claim next", lambda: client.claim_next(self.shell.service, queue.id, key, filter=filter_text)
        )
        if answer is None:
            return None
        if answer.item is None:
            what = "Nothing that matches the filter" if filter_text else "Nothing"
            self.say(f"{what} is free in {queue.title}.")
            return None
        self.took(answer.item, answer.as_of)
        self.say(_claimed_words(answer.item, self.seen_in(queue.claim)))
        return answer.item

    async def break_claim(self) -> None:
        """Asks for a reason, then takes the claim of a colleague."""
        subject = self.subject()
        if subject is None or subject.item.holder is None:
            return
        who = subject.item.holder
        keys = _Keys()

        async def send(item: Item, values: Mapping[str, Value]) -> Claimed:
            reason = str(values["reason"])
            return await client.break_claim(self.shell.service, item.id, item.fence, reason, keys.of(item, values))

        async def settle(_lost: OutcomeUnknown) -> Claimed | None:
            found = await self._until_reached(lambda: client.item(self.shell.service, subject.item.id))
            mine = self._holds(found) and found.item.fence > subject.item.fence
            return _as_claimed(found) if mine else None

        form: ActForm[Claimed] = ActForm(
            title=f"Break the claim of {who.name} ({who.id})",
            act="Break their claim",
            item=subject.item,
            declared=[_Reason()],
            sending=Sending(send=send, look=lambda: self._look(subject.item.id), settle=settle),
            seen=lambda: self.seen_in(subject.queue.claim),
        )
        answer = await self._ask(form)
        if answer is not None and answer.item is not None:
            self.took(answer.item, answer.as_of)
            self.say(f"You took the claim of {who.id}; they see your reason.")
        elif answer is None:
            await self._look_after(subject.item.id)

    # Acts

    async def choose_act(self) -> None:
        """Lists what can be done to the item, with the reason where it cannot."""
        subject = self.subject()
        if subject is None:
            return
        selected = _selected(subject, self.seen_in(subject.queue.claim))
        choices = [self._choice(case, selected) for case in subject.queue.use_cases]
        chosen = await self.app.push_screen_wait(ChooseScreen(f"Act on {name_of(subject.item)}", choices))
        case = next((known for known in subject.queue.use_cases if known.id == chosen), None)
        if case is not None:
            await self.run_use_case(subject, case)

    async def run_use_case(self, subject: Subject, case: UseCase) -> None:
        """Asks for the inputs of the use case and runs it on the item."""
        act, keys = what_is_done(case.title, subject.queue.id), _Keys()
        sent = self.seen_in(subject.queue.claim).now - CLOCK_DOUBT

        async def send(item: Item, values: Mapping[str, Value]) -> Acted:
            seen = self.seen_in(subject.queue.claim)
            fence = item.fence if held_by(item, seen.me, seen.now) else None
            order = ActOrder(money_version=item.money_version, fence=fence, inputs=dict(values))
            return await client.act(self.shell.service, item.id, case.id, order, keys.of(item, values))

        async def settle(_lost: OutcomeUnknown) -> Acted | None:
            return await self._find_act(subject, case, sent)

        form: ActForm[Acted] = ActForm(
            title=act,
            act=act,
            item=subject.item,
            declared=case.inputs,
            sending=Sending(send=send, look=lambda: self._look(subject.item.id), settle=settle),
            seen=lambda: self.seen_in(subject.queue.claim),
            people=await self._people(case),
        )
        answer = await self._ask(form)
        if answer is None:
            await self._look_after(subject.item.id)
            return
        self.took(answer.item, answer.as_of)
        self.say(f"{act}: {answer.sentence}", error=answer.outcome != "done")

    def copy_id(self) -> None:
        """Gives the item's id to the terminal's clipboard; whether the terminal took it cannot be known."""
        subject = self.subject()
        if subject is not None:
            self.app.copy_to_clipboard(subject.item.id)
            self.say(f"Sent to your terminal's clipboard: {subject.item.id}")

    # Shared steps

    async def _claiming(
        self,
        title: str,
        call: Callable[[Item, str], Awaitable[Claimed]],
        words: Callable[[Item, Seen], str],
    ) -> None:
        subject = self.subject()
        if subject is None:
            return
        item, key = subject.item, client.new_key()
        answer = await self._sure(title, lambda: call(item, key))
        if answer is None:
            await self._look_after(item.id)
        elif answer.item is not None:
            self.took(answer.item, answer.as_of)
            self.say(words(answer.item, self.seen_in(subject.queue.claim)))

    async def _sure(self, title: str, call: Callable[[], Awaitable[Claimed]]) -> Claimed | None:
        """The answer of `call`, which carries one key; None where it was refused, after that was said.

        Where the answer got lost the same order is sent again under its key: it is done once, and this is its answer.
        """
        self.shell.service.on_checking = lambda _key: self.say(f"{title}: unknown, checking …")
        try:
            try:
                return await call()
            except OutcomeUnknown:
                return await self._until_reached(call)
        except ServiceRefused as refused:
            self.say(f"{title}: {refusal_sentence(refused.sentence)}", error=True)
            return None

    def tick_form(self) -> None:
        """A second passed: counts down in the dialog that is in front, if one is."""
        if isinstance(self.app.screen, ActForm) and self.app.screen.is_mounted:
            self.app.screen.tick()

    async def _ask(self, form: ActForm[R]) -> R | None:
        """Shows the dialog until it is answered; a lost answer is said in it."""
        self.shell.service.on_checking = lambda _key: form.checking()
        return await self.app.push_screen_wait(form)

    async def _find_act(self, subject: Subject, case: UseCase, since: datetime) -> Acted | None:
        """Looks an act up whose answer got lost: one of this person with this use case since it was sent."""
        found = await self._until_reached(lambda: client.item(self.shell.service, subject.item.id))
        me = self.seen_in(subject.queue.claim).me
        for act in found.acts:
            if act.person.id == me and act.use_case == case.id and act.at >= since:
                return Acted(outcome=act.outcome, sentence=act.sentence, item=found.item, as_of=found.as_of)
        return None

    async def _until_reached(self, call: Callable[[], Awaitable[R]]) -> R:
        """Repeats `call` until the service answers it, with growing pauses; a refusal is an answer."""
        for pause in CHECK_SECONDS:
            try:
                return await call()
            except (ServiceAway, OutcomeUnknown):
                await asyncio.sleep(pause)
        return await call()

    async def _look(self, item_id: str) -> Item:
        detail = await client.item(self.shell.service, item_id)
        self.took(detail.item, detail.as_of)
        return detail.item

    async def _look_after(self, item_id: str) -> None:
        """Shows how the item stands after a refusal; a failure to do so is no news."""
        try:
            await self._look(item_id)
        except ClientError:
            return

    async def _people(self, case: UseCase) -> list[tuple[str, str]]:
        """Id and words of the colleagues that may claim in a queue, where the use case asks for a person."""
        if not any(declared.type is InputType.PERSON for declared in case.inputs):
            return []
        found = await session_client.colleagues(self.shell.service)
        session = self.shell.session
        me = session.person.id if session is not None else ""
        fit = [one for one in found.colleagues if Permission.QUEUE_CLAIM in GRANTS[one.role] and one.id != me]
        return [(one.id, f"{one.name} ({one.id}, {one.role})") for one in fit]

    def _verb_handler(self, verb: str) -> Handler:
        async def run() -> None:
            subject = self.subject()
            case = _case(subject, verb) if subject is not None else None
            if subject is not None and case is not None:
                await self.run_use_case(subject, case)

        return run

    def _choice(self, case: UseCase, selected: SelectedItem) -> Choice:
        verb = verb_of(case.id)
        keys = self.shell.keymap.get(VERB_COMMANDS.get(verb, ""), ())
        return Choice(
            id=case.id, title=case.title, aside=keys[0] if keys else "", reason=verb_unavailable(selected, verb)
        )

    def _holds(self, detail: ItemDetail) -> bool:
        seen = self.seen_in(ClaimMode.REQUIRED)
        return held_by(detail.item, seen.me, detail.as_of)


def _case(subject: Subject, verb: str) -> UseCase | None:
    return next((case for case in subject.queue.use_cases if verb_of(case.id) == verb), None)


def _selected(subject: Subject, seen: Seen) -> SelectedItem:
    item, cases = subject.item, subject.queue.use_cases
    holder = item.holder if left(item, seen.now) is not None else None
    return SelectedItem(
        state=item.state,
        claim=subject.queue.claim,
        holder=holder.id if holder is not None else None,
        mine=holder is not None and holder.id == seen.me,
        verbs=frozenset(verb_of(case.id) for case in cases),
        fitting=frozenset(verb_of(case.id) for case in cases if item.state in case.states),
        moving_money=frozenset(verb_of(case.id) for case in cases if case.moves is Moves.MONEY),
        plan=item.plan.name if item.plan is not None else None,
        plan_held=item.plan is not None and item.plan.held,
    )


def _claimed_words(item: Item, seen: Seen) -> str:
    seconds = left(item, seen.now)
    return f"You hold {name_of(item)} for {countdown(seconds)}." if seconds else f"You hold {name_of(item)}."


def _as_claimed(found: ItemDetail) -> Claimed:
    return Claimed(item=found.item, capped_at=found.capped_at, as_of=found.as_of)
