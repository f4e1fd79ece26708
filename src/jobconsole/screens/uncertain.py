"""Owns ending an uncertain payout from a screen: what is asked, under which key the bank was told, and the two answers of a
person, *was paid* and *was not paid*. No machine answers, and no single key does (MONEY.md 5).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from jobconsole.client import money as client
from jobconsole.client import queues as queues_client
from jobconsole.commands.catalogue import BY_ID, unavailable
from jobconsole.commands.situation import Situation
from jobconsole.present.columns import Line, Piece, Tone
from jobconsole.present.items import heading
from jobconsole.present.uncertain import asked_lines, asked_turn
from jobconsole.screens.acting import ActingScreen
from jobconsole.screens.order_form import Given, Order, asked
from jobconsole.screens.plan_seen import key_words
from jobconsole.screens.shell import Handler
from jobcontract.states import ClaimMode

if TYPE_CHECKING:
    from jobcontract.items import Item, ItemDetail
    from jobcontract.plans import Settled


class AskedScreen(ActingScreen):
    """A place in which uncertain payouts are ended."""

    def __init__(self) -> None:
        super().__init__()
        self.payout: ItemDetail | None = None
        """The payout that the last item read asks about."""

    def handlers(self) -> Mapping[str, Handler]:
        """The two answers, with everything else that is done to an item."""
        return {
            **super().handlers(),
            "payout.was-paid": self.was_paid,
            "payout.was-not-paid": self.was_not_paid,
        }

    def situation(self) -> Situation:
        """With whether the payout was the person's own."""
        facts = super().situation()
        subject = self.subject() if self.there() else None
        if facts.item is None or subject is None or subject.item.about is None:
            return facts
        turn = asked_turn(self._payout_of(subject.item))
        own = turn is not None and turn.owner.id == self.seen_in(ClaimMode.REQUIRED).me
        return replace(facts, item=replace(facts.item, about=True, own_payout=own))

    async def load_payout(self, item: Item) -> None:
        """Reads the payout that a review item asks about."""
        if item.about is not None:
            self.payout = await queues_client.item(self.shell.service, item.about)

    def asked_lines(self, item: Item) -> Sequence[Line]:
        """What is asked, with what is known of the payout; nothing for an item that asks about none."""
        if item.about is None:
            return ()
        keys = key_words(self, "payout.was-paid", "payout.was-not-paid", "item.claim")
        return asked_lines(item, self._payout_of(item), self.seen_in(ClaimMode.REQUIRED), keys)

    async def was_paid(self) -> None:
        """Asks what the bank calls it and why, then ends it as paid."""
        item = await self._asking()
        if item is None:
            return

        async def send(given: Given, key: str) -> Settled:
            return await client.was_paid(self.shell.service, item.id, item.fence, given.reference, given.reason, key)

        order = Order(
            title="The bank paid it",
            act="Say that it was paid",
            about=lambda: self._about(item, "It counts as released from then on, and can never be planned again."),
            reference="What the bank calls it (reference):",
            reason="How you know",
            send=send,
        )
        answer = await asked(self, order)
        await self._settled(item, answer)

    async def was_not_paid(self) -> None:
        """Asks for a reason and the code of a person other than the plan's owner, then ends it as not paid."""
        item = await self._asking()
        if item is None:
            return
        if (reason := unavailable(BY_ID["payout.was-not-paid"], self.situation())) is not None:
            self.say(f"It was not paid: {reason}", error=True)  # whose plan it was is known by now
            return

        async def send(given: Given, key: str) -> Settled:
            return await client.was_not_paid(self.shell.service, item.id, item.fence, given.reason, given.required, key)

        order = Order(
            title="The bank did not pay it",
            act="Say that it was not paid",
            about=lambda: self._about(item, "It is free again and can be planned anew, under the same outward key."),
            reason="How you know",
            send=send,
            code=True,
        )
        answer = await asked(self, order)
        await self._settled(item, answer)

    async def _asking(self) -> Item | None:
        """The selected item, once the payout that it asks about was read."""
        subject = self.subject()
        if subject is None:
            return None
        await self.load_payout(subject.item)
        return subject.item

    def _about(self, item: Item, what: str) -> Sequence[Line]:
        turn = asked_turn(self._payout_of(item))
        key = [(Piece(f"outward key {turn.outward_key}", Tone.QUIET),)] if turn and turn.outward_key else []
        return [heading(item), *key, (Piece(what),)]

    async def _settled(self, item: Item, answer: Settled | None) -> None:
        await self._look_after(item.id)
        if answer is not None:
            self.say(answer.sentence)

    def _payout_of(self, item: Item) -> ItemDetail | None:
        found = self.payout
        return found if found is not None and found.item.id == item.about else None
