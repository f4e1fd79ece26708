"""The first frame: it needs no wire models, no HTTP and no command-line library, and the collector comes back."""

from __future__ import annotations

import subprocess
import sys

LATER = ("pydantic", "httpx", "httpx_sse", "click", "keyring", "jobcontract.wire", "jobconsole.client.service")

STARTING = f"""
import asyncio, gc, sys
gc.disable()
from pathlib import Path
from jobconsole import entrance
from jobconsole.app import Console
from jobconsole.commands.keymap import default_keymap
from jobconsole.settings import load

seen = []
real = entrance.resolve
def resolve(text):
    if not seen:
        seen.append(sorted(set(sys.modules) & set({LATER!r})))
        seen.append("Starting" in "".join(strip.text for strip in app.screen._compositor.render_strips()))
    return real(text)
entrance.resolve = resolve

app = Console(load(file=Path("/nonexistent/none.toml"), environ={{}}), default_keymap())
async def main():
    async with app.run_test() as pilot:
        while type(app.screen).__name__ != "SignInScreen":
            await pilot.pause(0.01)
asyncio.run(main())
print(seen, gc.isenabled())
"""


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_what_the_first_frame_needs_brings_nothing_else() -> None:
    assert run(f"import sys, jobconsole.opening; print(sorted(set(sys.modules) & set({LATER!r})))") == "[]"


def test_the_first_frame_is_painted_before_the_client_is_imported_and_the_collector_comes_back() -> None:
    assert run(STARTING) == "[[], True] True"


def test_typed_profiles_open_the_console_without_the_command_line_library() -> None:
    program = (
        "import sys; from jobconsole.__main__ import _bare\n"
        "print([_bare(a) for a in ([], ['-p', 'x'], ['--profile=x'], ['--profile', '-x'], ['keys'])], 'click' in sys.modules)"
    )
    assert run(program) == "['', 'x', 'x', None, None] False"
