"""Owns measuring that the time of judging a code tells nothing of it: right, wrong and used ones, in turn, at the use case
with both of its commits.

One guess at a time, each of another clerk; what the guess before left is put right outside the measured time.
"""

from __future__ import annotations

import random
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import datetime
from statistics import median
from typing import Any

import psycopg
from pydantic import SecretStr

from benchmarks.figures import Figure
from benchmarks.ground import CLERKS, Ground, clerk
from jobservice.bootstrap.keyring import read_keys
from jobservice.rules.codes import Verdict, code_at, new_secret, step_of
from jobservice.rules.keys import Keys
from jobservice.usecases.codes import PURPOSE, judge
from jobservice.usecases.service import Service

PART = "codes"
DATABASE, TENANT, ROWS = "codes", "codes", 1_000
ROUNDS, GUESSES = 7, 80
VERDICTS = (Verdict.RIGHT, Verdict.WRONG, Verdict.USED)
PREPARE = """
with forgotten as (delete from jobs.code_failures where person = %(person)s)
update jobs.codes set last_step = %(last)s, in_a_row = 0, locks = 0, locked_until = null, locked_for_good = false
where person = %(person)s returning jobs.now()
"""
ENROL = "insert into jobs.codes (person, key_id, sealed, enrolled_at) values (%s, %s, %s, jobs.now())"


async def measure(ground: Ground) -> AsyncIterator[Figure]:
    """The time of each verdict, and the slowest beside the fastest."""
    await ground.make(DATABASE, {TENANT: ROWS})
    keys = read_keys(ground.keyring)
    rounds: dict[Verdict, list[float]] = {verdict: [] for verdict in VERDICTS}
    with ground.superuser(DATABASE) as connection:
        secrets = _enrol(connection, keys)
        async with ground.service(DATABASE, most=2) as service:
            guesser = _Guesser(ground, replace(service, keys=keys), connection, secrets)
            await guesser.round(GUESSES // 3)
            for _ in range(ROUNDS):
                for verdict, milliseconds in (await guesser.round(GUESSES)).items():
                    rounds[verdict].append(milliseconds)
    for verdict in VERDICTS:
        yield Figure(part=PART, what=f"judging one that is {verdict.value}", unit="ms", rounds=tuple(rounds[verdict]))
    each = list(zip(*rounds.values(), strict=True))
    yield Figure(
        part=PART,
        what="judging one: the slowest of right, wrong and used, medians of a round",
        unit="ms",
        rounds=tuple(map(max, each)),
        peer="the fastest of them",
        peer_rounds=tuple(map(min, each)),
        at_most=1.1,
    )


def _enrol(connection: psycopg.Connection[Any], keys: Keys) -> Mapping[str, str]:
    """Give every clerk a phone; their secrets."""
    secrets = {clerk(number): new_secret() for number in range(CLERKS)}
    for person, secret in secrets.items():
        sealed = keys.seal(person, PURPOSE, secret.encode("ascii"))
        connection.execute(ENROL, (person, sealed.key_id, sealed.sealed))
    return secrets


class _Guesser:
    """Sends codes whose verdict is known beforehand."""

    def __init__(
        self, ground: Ground, service: Service, connection: psycopg.Connection[Any], secrets: Mapping[str, str]
    ) -> None:
        self._ground = ground
        self._service = service
        self._connection = connection
        self._secrets = secrets
        self._turn = 0

    async def round(self, guesses: int) -> Mapping[Verdict, float]:
        """The median of each verdict in milliseconds, out of so many guesses of each in random order."""
        order = [verdict for verdict in VERDICTS for _ in range(guesses)]
        random.shuffle(order)
        taken: dict[Verdict, list[float]] = {verdict: [] for verdict in VERDICTS}
        for verdict in order:
            taken[verdict].append(await self._guess(verdict))
        return {verdict: median(times) for verdict, times in taken.items()}

    async def _guess(self, verdict: Verdict) -> float:
        self._turn += 1
        person = clerk(self._turn % CLERKS)
        secret = self._secrets[person]
        used = 2**40 if verdict is Verdict.USED else 0
        step = step_of(self._prepare(person, used))
        near = {code_at(secret, step + drift) for drift in range(-2, 3)}
        code = code_at(secret, step)
        if verdict is Verdict.WRONG:
            code = next(each for each in (f"{number:06d}" for number in range(9)) if each not in near)
        actor = self._ground.actor(person, TENANT)
        began = time.perf_counter()
        judged = await judge(self._service, actor, SecretStr(code))
        took = (time.perf_counter() - began) * 1_000
        if judged.verdict is not verdict:
            raise RuntimeError(f"a code that should be {verdict.value} was {judged.verdict.value}")
        return took

    def _prepare(self, person: str, last: int) -> datetime:
        row = self._connection.execute(PREPARE, {"person": person, "last": last}).fetchone()
        if row is None:
            raise RuntimeError(f"{person} has no phone")
        now: datetime = row[0]
        return now
