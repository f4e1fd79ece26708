"""Owns acting once under a code from a phone: the frame of confirming, resuming, starting money, *was not paid*.

look    key known? first answer. Else: may this person do it now?        a transaction that ends
judge   the code is judged and spent, or counted                         committed on its own
act     key again, locks, all comparisons, the act, the code's verdict   one transaction
  (so a repeated request burns no code, and nobody's code is judged for what they may not do; MONEY.md 13, 32)
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from pydantic import SecretStr

from jobservice.store.database import Transaction
from jobservice.usecases import codes
from jobservice.usecases.actor import Actor
from jobservice.usecases.codes import Judged
from jobservice.usecases.idempotency import Answered, Deed, Once, first_answer, first_or_again, recorded
from jobservice.usecases.service import Service

STATEMENT_SECONDS = 25.0
"""Longest statement of an act: a plan of 50,000 items is moved by one."""


async def act_with_code(
    service: Service,
    actor: Actor,
    deed: Deed,
    once: Once,
    code: SecretStr | None,
    *,
    may: Callable[[Transaction], Awaitable[bool]],
    work: Callable[[Transaction, Judged | None], Awaitable[Answered]],
) -> Answered:
    """Run `work` at most once per key, with what became of `code`; None where none was judged.

    `may` refuses what the person may not do or what cannot be done now, and says whether a code is wanted at all.
    Refusal of either, of the key (`act_once`), and of `codes.judge`.
    """
    async with recorded(service, actor, deed):
        async with service.database.transaction(actor.tenant) as transaction:
            first = await first_answer(transaction, actor, once)
            if first is not None:
                return first
            wanted = await may(transaction)
        judged = None
        if wanted and code is not None:
            judged = await codes.judge(service, actor, code, about=deed.subject)

        async def doing(transaction: Transaction) -> Answered:
            return await work(transaction, judged)

        async with service.database.transaction(actor.tenant, statement_seconds=STATEMENT_SECONDS) as transaction:
            # Whoever has the right code waits for a twin with the same key, whose code is used by now: the code is
            # spent, and to be refused as still running would lose it.
            wait = judged is not None and judged.right
            return await first_or_again(service, actor, once, transaction, doing, wait=wait)
