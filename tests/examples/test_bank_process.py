"""The bank as a process: it says where it answers, ends when told, and forgets nothing when it is killed."""

from __future__ import annotations

import json
import os
import signal
import stat
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from examples.payments.bank.__main__ import main
from tests.examples.bank import a_ledger, an_order, bank_process

KEYS = 400
"""More payments than the bank books before it is killed."""


def test_a_killed_bank_keeps_every_booking_that_it_told(tmp_path: Path) -> None:
    path, told = tmp_path / "ledger.jsonl", dict[str, str]()

    with bank_process(path) as (bank, process), ThreadPoolExecutor(4) as pool:

        def pay(number: int) -> None:
            try:
                answer = bank.pay(an_order(f"k{number}"))
            except httpx.HTTPError:
                return
            told[f"k{number}"] = answer.json()["booking"]
            if len(told) >= 30:
                process.kill()

        list(pool.map(pay, range(KEYS)))
        process.wait()
    assert 30 <= len(told) < KEYS
    with path.open("ab") as file:
        file.write(b'{"booking":"BK-0')

    with bank_process(path) as (bank, process):
        booked = {booking["key"]: booking["booking"] for booking in bank.ledger()["bookings"]}
        assert told.items() <= booked.items()
        for key, booking in told.items():
            assert bank.pay(an_order(key)).json()["booking"] == booking
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        process.send_signal(signal.SIGTERM)
        _, said = process.communicate()
        assert process.returncode == 0
    assert said == (
        f"The ledger {path} ended inside line {len(booked) + 1}; its 16 bytes were dropped. "
        "Nobody was told of that line.\n"
    )


def test_it_ends_when_whoever_started_it_has_gone(tmp_path: Path) -> None:
    rules = tmp_path / "script.json"
    rules.write_text(json.dumps([{"do": "busy"}]))
    arguments = ("--until-stdin-closes", "--script", str(rules))
    with bank_process(tmp_path / "ledger.jsonl", *arguments) as (bank, process):
        assert bank.pay().status_code == 503
        output, said = process.communicate()
        assert (process.returncode, output, said) == (0, "", "")


@pytest.fixture
def untouched() -> Iterator[None]:
    """The signal handlers and the umask of this process stay as they are."""
    kept = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    mask = os.umask(0o022)
    os.umask(mask)
    yield
    os.umask(mask)
    for number, handler in kept.items():
        signal.signal(number, handler)


@pytest.mark.parametrize(
    ("arguments", "script", "sentence"),
    [
        (["--host", "0.0.0.0"], "[]", "0.0.0.0 is not loopback"),  # noqa: S104  # refused here
        (["--port", "99999"], "[]", "The bank cannot listen on 127.0.0.1, port 99999"),
        ([], '[{"do": "explode"}]', "The script {script} is not taken: Rule 1: `do` is one of"),
        ([], "", "The script {script} is not taken: The body is not JSON"),
    ],
)
def test_it_says_why_it_cannot_start(
    tmp_path: Path,
    untouched: None,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    script: str,
    sentence: str,
) -> None:
    rules = tmp_path / "script.json"
    rules.write_text(script)
    path = tmp_path / "ledger.jsonl"
    assert main(["--ledger", str(path), "--script", str(rules), *arguments]) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(sentence.format(script=rules))
    a_ledger(path).close()
