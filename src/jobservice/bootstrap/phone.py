"""Owns the demo's phone: an authenticator with the secrets of made-up people alone (MONEY.md 35).

It stands for a device of a person's, outside the service, and so has a clock of its own. It opens nothing but the file
that the demo writes: `{"people": [{"person", "name", "secret"}]}`, 0600, in a folder of 0700.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from jobservice.bootstrap.keyring import open_to_others
from jobservice.rules.codes import STEP_SECONDS, SecretUnfit, code_at, read_secret
from jobservice.settings import StartRefused

PHONE, PRINTED = "phone.json", "phone-printed.json"
_NONE = "There is no demo in {folder}. Start one with: make demo."


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoPhone:
    """The phone of one of the demo's people."""

    person: str
    name: str
    secret: str

    def __repr__(self) -> str:
        return f"DemoPhone(person={self.person!r})"


def phone_text(phones: Iterable[DemoPhone]) -> str:
    """The file's text."""
    people = [{"person": phone.person, "name": phone.name, "secret": phone.secret} for phone in phones]
    return json.dumps({"people": people}, indent=2)


def read_phones(folder: Path) -> tuple[DemoPhone, ...]:
    """The demo's phones, of the folder of its people; StartRefused where there is no demo, or others could read it."""
    file = folder / PHONE
    if not file.is_file():
        raise StartRefused(_NONE.format(folder=folder.parent))
    wrong = [sentence for sentence in (open_to_others(folder, 0o700), open_to_others(file, 0o600)) if sentence]
    if wrong:
        raise StartRefused(*wrong)
    try:
        people = json.loads(file.read_text("utf-8"))["people"]
        return tuple(
            DemoPhone(person=str(each["person"]), name=str(each["name"]), secret=read_secret(each["secret"]))
            for each in people
        )
    except (ValueError, KeyError, TypeError, SecretUnfit):
        raise StartRefused(
            f"{file} is not what a demo writes. Remove it and start the demo again: make demo."
        ) from None


def chosen(phones: Sequence[DemoPhone], person: str | None) -> tuple[DemoPhone, ...]:
    """The phone of one person, or all; StartRefused where nobody of that id has one."""
    found = tuple(phone for phone in phones if person is None or phone.person == person)
    if not found:
        words = ", ".join(phone.person for phone in phones) or "nobody"
        raise StartRefused(f"Nobody of the demo by that id has a phone. Those who have: {words}.")
    return found


def lines(phones: Sequence[DemoPhone], now: float) -> Iterator[str]:
    """What the phones show at a Unix time: person, name, code, seconds that it is shown for."""
    step, passed = divmod(int(now), STEP_SECONDS)
    wide = max(len(phone.person) for phone in phones)
    named = max(len(phone.name) for phone in phones)
    for phone in phones:
        code = code_at(phone.secret, step)
        yield f"{phone.person:{wide}}  {phone.name:{named}}  {code[:3]} {code[3:]}  {STEP_SECONDS - passed:2} s"


def show(phones: Sequence[DemoPhone]) -> Iterator[Sequence[str]]:
    """The lines now, and again every second, for ever."""
    while True:
        now = time.time()
        yield tuple(lines(phones, now))
        time.sleep(1 - now % 1)


def fresh_code(phone: DemoPhone, folder: Path) -> str:
    """A code that was not given before by this function: waits for the next one where the current one was.

    Blocks up to half a minute.
    """
    file = folder / PRINTED
    last, now = _printed(file).get(phone.person, 0), time.time()
    if int(now) // STEP_SECONDS == last:
        time.sleep((last + 1) * STEP_SECONDS - now)
    step = int(time.time()) // STEP_SECONDS
    _keep(file, {**_printed(file), phone.person: step})
    return code_at(phone.secret, step)


def _printed(file: Path) -> dict[str, int]:
    """The last step given of each person; nothing where the file is missing or is no such file."""
    try:
        found = json.loads(file.read_text("ascii"))
    except (OSError, ValueError):
        return {}
    return {str(person): int(step) for person, step in found.items()} if isinstance(found, dict) else {}


def _keep(file: Path, steps: dict[str, int]) -> None:
    fresh = file.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as writing:
        json.dump(steps, writing)
    fresh.replace(file)
