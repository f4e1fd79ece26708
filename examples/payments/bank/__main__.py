"""Starts the bank: `python -m examples.payments.bank --ledger FILE`. Says `ready` with its address when it listens.

Ends with SIGTERM, ctrl+c, or, where asked for, the end of standard input; killed, it loses nothing that it answered.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from examples.payments.bank.ledger import Ledger, LedgerRefused
from examples.payments.bank.orders import MessageRefused, parse
from examples.payments.bank.script import Rule, Script, read_rules
from examples.payments.bank.server import NoListener, serving
from examples.payments.bank.teller import Teller


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until told to end; 1 with a sentence where it cannot start, 2 where it is mistyped."""
    typed = _read(arguments)
    os.umask(0o077)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    try:
        script = Script(_rules(typed.script))
        ledger = Ledger(typed.ledger, lambda: datetime.now(UTC))
    except (LedgerRefused, MessageRefused) as error:
        return _refuse(error)
    try:
        if ledger.dropped is not None:
            sys.stderr.write(f"{ledger.dropped}\n")
        with serving(Teller(ledger, script), host=typed.host, port=typed.port) as server:
            sys.stdout.write(json.dumps({"event": "ready", "url": server.url}) + "\n")
            sys.stdout.flush()
            if typed.until_stdin_closes:
                threading.Thread(target=_wait_for_end, args=(stop,), daemon=True, name="stdin").start()
            stop.wait()
    except NoListener as error:
        return _refuse(error)
    finally:
        ledger.close()
    return 0


def _read(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m examples.payments.bank", description="The example's bank.")
    parser.add_argument(
        "--ledger", type=Path, required=True, metavar="FILE", help="its ledger; made where it is missing"
    )
    parser.add_argument("--host", default="127.0.0.1", help="a loopback address (default: %(default)s)")
    parser.add_argument("--port", type=int, default=0, help="0 = any that is free (default)")
    parser.add_argument("--script", type=Path, metavar="FILE", help="a JSON list of rules to start with")
    parser.add_argument("--until-stdin-closes", action="store_true", help="end when whoever started it has gone")
    return parser.parse_args(arguments)


def _rules(path: Path | None) -> tuple[Rule, ...]:
    """The rules of the file; MessageRefused names the file."""
    if path is None:
        return ()
    try:
        return read_rules(parse(path.read_bytes()))
    except OSError as error:
        raise MessageRefused(f"The script {path} cannot be read: {error.strerror}.") from None
    except MessageRefused as error:
        raise MessageRefused(f"The script {path} is not taken: {error}") from None


def _refuse(error: Exception) -> int:
    sys.stderr.write(f"{error}\n")
    return 1


def _wait_for_end(stop: threading.Event) -> None:
    try:
        while os.read(0, 1024):
            pass
    except OSError:
        pass  # a closed descriptor has ended, too
    stop.set()


if __name__ == "__main__":
    sys.exit(main())
