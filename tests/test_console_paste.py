"""A paste is one text and never a key, whatever bytes are in it and in what pieces it comes (MONEY.md 26)."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual import events
from textual.drivers.linux_driver import LinuxDriver

from jobconsole.paste import MOST, SURE, PasteDriver, PasteParser, as_text
from tests.terminal import Terminal

BEGIN, END = "\x1b[200~", "\x1b[201~"

CONSOLE = """
import sys
from jobconsole.client.fake import FakeService
from jobconsole.screens import dialog
from tests.screens.stage import MIKA, START, console, hold, scene

dialog.ActingDialog.counts = lambda self, moment: True  # no pause before keys count
fake = FakeService(start=START)
hold(fake, scene(fake)[0], MIKA)
app = console(fake)
app.run()
posts = [request for request in fake.requests if request.method == "POST"]
print("sent:", *[f"{post.url.path.rpartition('/')[2]} {post.content.decode()}" for post in posts], "end", flush=True)
sys.exit(app.return_code or 0)
"""
HOSTILE = b"\x1b[200~hello \x1b[31m u\r\tq\x1b\x1b[A\x11\x03 world\x1b[201~"


def fed(pieces: list[str], parser: PasteParser | None = None) -> list[str]:
    """What the parser makes of the pieces: keys by name, pastes as their text."""
    made = []
    parser = parser or PasteParser()
    for piece in pieces:
        for event in parser.feed(piece):
            if isinstance(event, events.Paste):
                made.append(f"paste {event.text}")
            elif isinstance(event, events.Key):
                made.append(f"key {event.key}")
    return made


def cut(text: str, places: list[int]) -> Iterator[str]:
    """The text in pieces, none of them empty."""
    marks = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    for start, end in pairwise(marks):
        yield text[start:end]


def test_what_a_paste_is_as_text() -> None:
    assert as_text("a\r\nb\rc\nd\te\x1b[31m\x00\x7f\x9b") == "a\nb\nc\nd\te[31m"


@pytest.mark.requirement("MONEY-26")
def test_an_escape_in_a_paste_makes_no_key() -> None:
    assert fed([f"x{BEGIN}hello \x1b[31m u\x1b{END}y"]) == ["key x", "paste hello [31m u", "key y"]


PASTED = st.text(st.sampled_from("\x1b[20~1;AOMu\r\n\t\x00\x7f\x9bé字"), max_size=60).filter(
    lambda text: END not in text + END[:-1]
)


@pytest.mark.requirement("MONEY-26")
@given(st.lists(PASTED, min_size=1, max_size=3), st.lists(st.integers(0, 400), max_size=30))
def test_pieces_of_any_size_give_one_text_each_and_nothing_else(pasted: list[str], places: list[int]) -> None:
    sent = "k" + "k".join(f"{BEGIN}{text}{END}" for text in pasted) + "k"
    pieces = [piece for part in sent.split("k")[1:-1] for piece in ("k", *cut(part, places))] + ["k"]
    wanted = [made for text in pasted for made in ("key k", f"paste {as_text(text)}")] + ["key k"]
    assert fed(pieces) == wanted


@given(st.lists(st.sampled_from(["a", "\x1b[A", "\x1b[200", "\x1bOP", "\x1b[2~", "\r", "\x1b[20~"])))
def test_outside_a_paste_keys_are_what_they_were(keys: list[str]) -> None:
    known = [key for key in keys if key != "\x1b[200"]
    assert fed(["".join(known)]) == fed(list("".join(known)))
    assert len(fed(["".join(known)])) == len(known)


@pytest.mark.requirement("MONEY-26")
@pytest.mark.parametrize("size", range(1, len(BEGIN)))
def test_a_mark_whose_rest_comes_late_still_begins_a_paste(size: int) -> None:
    parser = PasteParser()
    fed([BEGIN[:size]], parser)
    parser._timeout_time = 0.0 if parser._timeout_time is not None else None  # as if the wait were over
    made = list(parser.tick())
    assert made == [] or size < SURE
    assert fed([BEGIN[size:] + "u\r" + END, "k"], parser) == ["paste u\n", "key k"]


def test_an_escape_alone_does_not_wait_for_more_than_its_delay() -> None:
    parser = PasteParser()
    assert fed(["\x1b"], parser) == []
    assert parser._timeout_time is not None
    parser._timeout_time = 0.0
    assert [event.key for event in parser.tick() if isinstance(event, events.Key)] == ["escape"]


@pytest.mark.requirement("MONEY-26")
def test_an_end_mark_in_the_text_itself_sets_nothing_free() -> None:
    assert fed([f"{BEGIN}a{END}u\r{END}k"]) == ["paste a[201~u\n", "key k"]


def test_a_paste_is_bounded_and_its_rest_is_not_typed() -> None:
    made = fed([BEGIN, *["x" * 10_000] * (MOST // 10_000 + 3), END, "k"])
    assert [len(text) for text in made] == [len("paste ") + MOST, len("key k")]


def test_textual_still_reads_where_this_is_put_in() -> None:
    """Pins what is private to Textual: the driver's loop and the parser's timeout."""
    assert "run_input_thread" in vars(LinuxDriver)
    assert {"_awaiting", "_timeout_time"} <= vars(PasteParser()).keys()
    assert issubclass(PasteDriver, LinuxDriver)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """A console on a fake service, in which Mika holds the first payout."""
    environ = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring", "XDG_CONFIG_HOME": str(tmp_path)}
    root = Path(__file__).parents[1]
    environ["PYTHONPATH"] = f"{root}:{root / 'src'}"
    with Terminal((sys.executable, "-c", CONSOLE), columns=120, lines=40, environ=environ) as terminal:
        terminal.see("Booker Food Services")
        terminal.see("live")
        yield terminal


def anew(terminal: Terminal, keys: bytes, words: str) -> None:
    """Types `keys`, and waits until `words` are painted after that."""
    terminal.output = b""
    terminal.type(keys)
    terminal.see(words)


def left(terminal: Terminal) -> str:
    """Leaves the console, past a paste on the question that it asks while a claim is held; what was sent meanwhile."""
    terminal.type(b"\x11")
    terminal.see("Leave while you hold")
    terminal.type(HOSTILE)  # on Cancel
    anew(terminal, b"\t", "Leave and keep them")
    terminal.type(b"\r")
    assert terminal.ended() == 0, terminal.text()[-2_000:]
    return terminal.text().partition("sent: ")[2].partition("end")[0].strip()


def test_the_same_key_typed_does_act(terminal: Terminal) -> None:
    terminal.type(b"u")
    terminal.see("Your claim is released")


@pytest.mark.requirement("MONEY-26")
def test_a_paste_on_the_list_runs_no_command(terminal: Terminal) -> None:
    terminal.type(HOSTILE)
    terminal.type(b"?")
    terminal.see("Marks the row")
    terminal.type(HOSTILE)
    assert left(terminal) == ""


@pytest.mark.requirement("MONEY-26")
def test_a_paste_in_a_form_is_its_text_alone(terminal: Terminal) -> None:
    terminal.type(b"m")
    terminal.see("0 of 2,000")
    for byte in HOSTILE:
        terminal.type(bytes([byte]))
    terminal.see("world")
    anew(terminal, b"\t", "Cancel")
    anew(terminal, b"\t", "Write a note")
    anew(terminal, b"\r", "Write a note: done")
    assert '"text":"hello [31m u\\n\\tq[A world"' in left(terminal)


@pytest.mark.requirement("MONEY-26")
def test_a_paste_in_a_line_is_its_first_line(terminal: Terminal) -> None:
    terminal.type(b"s")
    terminal.see("like 2026-12-01")
    terminal.type(b"\x1b[200~+2d\r\t\x1b\x1b[31m\r\x1b[201~")
    terminal.see("= Wed 2026-03-04")
    assert left(terminal) == ""
