"""Owns the calls about the switch that stops money, what was released, and payouts that nobody knows the outcome of.

Screens and headless twins run these. Keys as in `queues`. A code is a SecretStr from the field where it was typed to
the request's body: no repr, log line or exception has it.
"""

from __future__ import annotations

from pydantic import SecretStr

from jobconsole.client.service import Service
from jobcontract.plans import CodeStanding, Money, Settled, StartMoney, StopMoney, WasNotPaid, WasPaid
from jobcontract.routes import CODE_STANDING, MONEY, START_MONEY, STOP_MONEY, WAS_NOT_PAID, WAS_PAID


async def money(service: Service) -> Money:
    """Whether money moves in the tenant, what each person released, how many payouts are uncertain."""
    return await service.get(MONEY, Money)


async def stop_money(service: Service, reason: str, key: str) -> Money:
    """Stop all money of the tenant: no code, and no item begins any more."""
    return await service.post(STOP_MONEY, StopMoney(reason=reason), Money, key=key)


async def start_money(service: Service, reason: str, code: SecretStr, key: str) -> Money:
    """Let money move again; the code is that of another person than the one who stopped it."""
    return await service.post(START_MONEY, StartMoney(reason=reason, code=code), Money, key=key)


async def code_standing(service: Service) -> CodeStanding:
    """Whether the person who asks can give a code now: tries left, locks, the rest after an enrolment."""
    return await service.get(CODE_STANDING, CodeStanding)


async def was_paid(service: Service, review: str, fence: int, reference: str, reason: str, key: str) -> Settled:
    """Say that the uncertain payout of a review item went out, with the bank's reference."""
    order = WasPaid(fence=fence, reference=reference, reason=reason)
    return await service.post(WAS_PAID, order, Settled, key=key, parts={"item": review})


async def was_not_paid(service: Service, review: str, fence: int, reason: str, code: SecretStr, key: str) -> Settled:
    """Say that it did not go out; the code is that of a person other than the owner of the plan."""
    order = WasNotPaid(fence=fence, reason=reason, code=code)
    return await service.post(WAS_NOT_PAID, order, Settled, key=key, parts={"item": review})
