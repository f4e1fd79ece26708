"""Owns what happens before secrets are looked for: money planned, confirmed and refused in every way, by twins, over HTTP
and at real terminals; a phone enrolled. Then it collects all that was left behind.
"""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import psutil

from jobservice.rules.codes import STEP_SECONDS, code_at
from tests.e2e import traces
from tests.e2e.money_tree import Tree, enrolling
from tests.terminal import Terminal, without_escapes

HOME, DOWN = b"\x1b[H", b"\x1b[B"
QUIET = 0.4
"""Seconds without paint after which a screen took what was typed."""
UNKNOWN = "01a00000-0000-7000-8000-000000000000"


def _busy(seconds: int) -> list[dict[str, object]]:
    """A bank that asks to be asked again later."""
    return [{"match": {}, "do": "busy", "seconds": seconds}]


CONSOLE = """
import asyncio, signal, sys
from jobconsole.__main__ import main
from jobconsole import opening
from jobconsole.app import Console

class Failing(Console):
    def on_mount(self):
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, lambda: self.call_later(self.fail))

    def fail(self):
        code = self.screen.code.value
        raise RuntimeError(f"cannot use {code} as {self.entrance!r} of {vars(self.entrance)}")

opening.Console = Failing
sys.argv = ["jobconsole"]
main()
"""
"""The console as it is opened, with a fault in it that repeats what stands in the field of the code."""


class Left:
    """What the walk left behind: places by name, and what was typed at the terminals."""

    def __init__(self) -> None:
        self.places: dict[str, bytes] = {}
        self.before: frozenset[bytes] = frozenset()
        self.secrets: dict[str, str] = {}
        self.digests: dict[str, bytes] = {}
        self.console = b""
        """All that the console painted; a code is in it as it is typed, and so it is not searched for codes."""
        self.core: tuple[str, ...] = ()
        """How large a core the console may write."""
        self.open = self.paused = ""
        """Names of plans that are so at the end."""

    def leaving(self) -> Mapping[str, bytes]:
        """Those places that are outside the service: answers, terminals, files of persons, letters."""
        outside = ("answers", "twin", "console", "terminal", "letter")
        return {name: content for name, content in self.places.items() if name.startswith(outside)}


def walk(tree: Tree, folder: Path) -> Left:
    """Do everything, then collect; `folder` is the console's."""
    own = Left()
    own.before = frozenset().union(*(traces.six_digits(text) for _, text in _kept_by_the_service(tree)))
    own.secrets |= {f"phone of {person}": secret for person, secret in tree.secrets().items()}
    plan, other = _with_twins(tree, own)
    _malformed(tree, plan)
    _at_a_terminal(tree, own, other, folder)
    _enrolled_at_a_terminal(tree, own)
    for person in ("a.reyes", "m.ito"):
        for path in ("/v1/audit?limit=500", "/v1/plans", "/v1/money", "/v1/me/code"):
            tree.get(person, path)
    own.places |= _kept_by_the_service(tree)
    own.places |= {
        "answers": tree.recorder.answered,
        "twin output": b"\n".join(tree.said),
        "metrics": tree.get("m.ito", "/metrics").content,
        "queries": "\n".join(tree.queries).encode(),
    }
    for number, (name, process) in enumerate(tree.processes()):
        own.places[f"process {number} {name}"] = traces.process_words(process)
    own.places |= traces.letters(tree.data / "mail")
    own.digests = {str(name): bytes(each) for name, each in tree.rows("select id, digest from jobs.plans")}
    return own


def _kept_by_the_service(tree: Tree) -> Iterator[tuple[str, bytes]]:
    yield "log of dev, API, Worker and bank", tree.log.read_bytes()
    yield "log of the database", tree.cluster.log.read_bytes()
    yield from traces.dump(tree.database)
    yield from traces.files("file", tree.data, without=("people", "keyring", "cluster", "run"))


def _with_twins(tree: Tree, own: Left) -> tuple[str, str]:
    """A wrong code, the right one, a used one, another person's; the id of a plan that is done, the name of an open one."""
    first = tree.plan("m.ito", *(tree.push(f"A{number}", 10_000 + number) for number in range(3)))
    second = tree.plan("m.ito", tree.push("B", 20_001))
    name = first["name"]
    tree.script(_busy(3))
    assert "code-wrong" in tree.twin("m.ito", "bulk", "confirm", name, code=tree.made_up()).output
    right = tree.code("m.ito")
    with _typed(tree, own, ("bulk", "confirm", name), right) as terminal:
        assert terminal.ended() == 0, terminal.text()
    assert "code-used" in tree.twin("m.ito", "bulk", "confirm", second["name"], code=right).output
    tree.asked("k.rao", "bulk", "pause", name, "--reason", "looks odd")
    assert "code-wrong" in tree.twin("k.rao", "bulk", "resume", name, code=right).output
    tree.asked("k.rao", "bulk", "resume", name, code=tree.code("k.rao"))
    tree.script([])
    tree.asked("o.lind", "money", "stop", "--reason", "drill")
    _unreadable(tree)
    start = ("money", "start", "--reason", "over")
    assert "code-wrong" in tree.twin("k.rao", *start, code=right).output
    tree.asked("k.rao", *start, code=tree.code("k.rao"))
    tree.until(first["id"], "done")
    tree.asked("m.ito", "bulk", "show", name)
    tree.twin("m.ito", "bulk", "show", name, "--csv")
    return str(first["id"]), str(second["name"])


@contextmanager
def _typed(tree: Tree, own: Left, words: tuple[str, ...], code: str) -> Iterator[Terminal]:
    """A twin at a terminal, the code typed where it asks, hidden."""
    command = (sys.executable, "-m", "jobconsole", *words)
    with Terminal(command, columns=120, lines=40, environ=tree.environment("m.ito")) as terminal:
        terminal.see("(hidden)")
        own.places["terminal of a twin, its command"] = traces.process_words(
            psutil.Process(terminal.process.pid), environment=False
        )
        terminal.type(f"{code}\r".encode())
        yield terminal
        own.places["terminal of a twin"] = without_escapes(terminal.output)


def _malformed(tree: Tree, plan: str) -> None:
    """Bodies, addresses and orders that are refused, each with a code in it."""
    ((digest,),) = tree.rows("select encode(digest, 'hex') from jobs.plans where id = %s", plan)
    item = tree.push("M", 30_001)
    code = tree.made_up
    good: Mapping[str, dict[str, object]] = {
        f"plans/{plan}/confirm": {"digest": digest},
        f"plans/{plan}/resume": {},
        "money/start": {"reason": "x"},
        f"items/{item}/was-not-paid": {"fence": 1, "reason": "x"},
    }
    for path, body in good.items():
        bad: list[object] = [
            body | {"code": int(code()) + 1_000_000},
            body | {"code": (code() + " ") * 6},
            body | {"code": [code()]},
            body | {"code": {"code": code()}},
            body | {"code": code(), "kode": code()},
            body | {"code": code(), "order": {"code": code()}},
            body | {name: code() for name in body} | {"code": code(), "x": ""},
            [code()],
            code(),
            f'{{"code": "{code()}"'.encode(),
            f'{{"code": "{code()}", "code": "{code()}"}}'.encode(),
        ]
        for each in bad:
            assert tree.post("m.ito", f"/v1/{path}", each).status_code == 422, each
    assert tree.post("m.ito", f"/v1/plans/{plan}/confirm?code={code()}", good[f"plans/{plan}/confirm"]).is_error
    assert tree.post("m.ito", f"/v1/plans/{UNKNOWN}/confirm", {"digest": digest, "code": code()}).status_code == 404
    done = tree.post("m.ito", f"/v1/plans/{plan}/confirm", {"digest": digest, "code": code()})
    assert done.status_code == 409
    stranger = tree.post("o.lind", f"/v1/plans/{plan}/confirm", {"digest": digest, "code": code()})
    assert stranger.status_code == 403


def _unreadable(tree: Tree) -> None:
    """A secret that no key opens: 503, nothing counted."""
    tree.database.execute("update jobs.codes set sealed = sealed || '\\x00' where person = 'n.ode'")
    answer = tree.post("n.ode", "/v1/money/start", {"reason": "x", "code": tree.code("n.ode")})
    assert (answer.status_code, answer.json()["code"]) == (503, "code-unreadable"), answer.text


def _at_a_terminal(tree: Tree, own: Left, other: str, folder: Path) -> None:
    """The console: a wrong code, a used one, the right one, an export, and a crash with a code in the field."""
    plan = tree.plan("m.ito", tree.push("C", 40_001))["name"]
    places = {f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("CONFIG", "DATA", "STATE", "CACHE")}
    environ = {**tree.environment("m.ito"), **places, "TEXTUAL_LOG": str(folder / "textual.log"), "HOME": str(folder)}
    environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.fail.Keyring"
    with Terminal((sys.executable, "-c", CONSOLE), columns=140, lines=40, environ=environ, cwd=folder) as terminal:
        terminal.see("Supplier payouts")
        tree.script(_busy(3_000))
        _open_dialog(terminal, b"3", 0, "GBP 400.01")
        sent = _give(terminal, tree.made_up(), "not right")
        sent += _give(terminal, tree.code("m.ito"), "A abort")
        own.places["console, after codes were sent"] = without_escapes(sent)
        _after(terminal, b"x", ".csv")
        _open_dialog(terminal, b"\x1b", 1, "GBP 200.01")
        typed = tree.made_up()
        terminal.type(f"{typed[:3]} {typed[3:]}".encode())
        terminal.quiet()
        filled = len(terminal.output)
        own.places["console, its command"] = traces.process_words(
            psutil.Process(terminal.process.pid), environment=False
        )
        own.core = traces.core_limit(psutil.Process(terminal.process.pid))
        terminal.process.send_signal(signal.SIGUSR1)
        assert terminal.ended() == 70
        assert "cannot use" in terminal.text()
        own.places["console, after its crash"] = without_escapes(terminal.output[filled:])
        own.places["console, what can be scrolled back to"] = without_escapes(traces.scrollback(terminal.output))
        own.console = terminal.output
    own.places |= traces.files("console file", folder)
    tree.asked("k.rao", "bulk", "pause", plan, "--reason", "looks odd")
    own.open, own.paused = other, plan


def _after(terminal: Terminal, keys: bytes, words: str) -> bytes:
    """Type keys and wait for words that are painted afterwards, and then until nothing moves; what was painted."""
    typed = len(terminal.output)
    terminal.type(keys)
    terminal.see(words, since=typed)
    terminal.quiet(QUIET)
    return terminal.output[typed:]


def _open_dialog(terminal: Terminal, to_plans: bytes, row: int, sum_: str) -> None:
    """To the plans; once their sums are told, to a row of them, and to the dialog that asks for its code."""
    _after(terminal, to_plans, sum_)
    _after(terminal, HOME + DOWN * row + b"\r", "confirm with code")
    _after(terminal, b"C", "Type the six digits")
    terminal.quiet()


def _give(terminal: Terminal, code: str, answer: str) -> bytes:
    """Type a code and send it by the named button; what was painted since it was sent, up to the answer.

    The field is painted with the code twice before it is sent: as it is typed, and as enter takes the focus to the
    button. Silence alone would not tell that both came.
    """
    _after(terminal, code.encode(), code)
    _after(terminal, b"\r", code)  # from the field to the button
    return _after(terminal, b"\r", answer)


def _enrolled_at_a_terminal(tree: Tree, own: Left) -> None:
    """A phone is enrolled by the server's own people: the secret and two codes are on the second screen alone."""
    words, environ = enrolling(tree)
    with Terminal(words, environ=environ) as terminal:
        terminal.see("Code on the phone")
        secret = "".join(re.findall(r"\b[A-Z2-7]{4}\b", terminal.text())[:8])
        own.secrets["phone enrolled at a terminal"] = secret
        own.places["terminal of an enrolment, its command"] = traces.process_words(psutil.Process(terminal.process.pid))
        ((now,),) = tree.rows("select extract(epoch from jobs.now())::bigint")
        step = int(now) // STEP_SECONDS
        for code, words_seen in ((code_at(secret, step), "The next code"), (code_at(secret, step + 1), "Told: ")):
            terminal.type(f"{tree.keep(code)}\r".encode())
            terminal.see(words_seen)
        assert terminal.ended() == 0
        own.places["terminal of an enrolment"] = without_escapes(traces.scrollback(terminal.output))
