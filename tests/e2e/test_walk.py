"""The walk as a person without a terminal gets it: it passes, and leaves nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import psutil
import pytest

from jobconsole.demo_walk import steps_of

pytestmark = [pytest.mark.xdist_group("e2e"), pytest.mark.timeout(300)]


def run(*words: str, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """`jobconsole demo WORDS` without a terminal."""
    return subprocess.run(
        [sys.executable, "-m", "jobconsole", "demo", *words],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, **environ},
        stdin=subprocess.DEVNULL,
        timeout=240,
    )


def temporary() -> set[str]:
    """What stands in the folder of temporary files and is the demo's."""
    return {path.name for path in Path(tempfile.gettempdir()).glob("jobconsole-*")}


@pytest.mark.requirement("show-a-preview-before-bulk-money-actions")
@pytest.mark.requirement("confirm-bulk-money-actions-out-of-band")
def test_the_walk_passes_and_leaves_nothing(tmp_path: Path) -> None:
    before = temporary()
    token = "jc_of_a_real_person_that_must_not_go_along"
    result = run("--headless", cwd=tmp_path, JOBCONSOLE_TOKEN=token, TMPDIR=tempfile.gettempdir())
    assert result.returncode == 0, result.stdout + result.stderr
    lines = [line for line in result.stdout.splitlines() if line[:2].strip().isdigit()]
    assert [line[4:].partition("  ")[0] for line in lines] == [title for title, _ in steps_of(money=True)]
    assert all("  ok  " in line for line in lines)
    assert len({line.index("  ok  ") for line in lines}) == 1, "outcomes are aligned"
    assert temporary() <= before
    assert not [process for process in psutil.process_iter(["cmdline"]) if _of_walk(process)]


def _of_walk(process: psutil.Process) -> bool:
    """Whether it is a process of a walk's service (its lease says so)."""
    return "claims.lease=PT2S" in (process.info["cmdline"] or [])


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--headless", "--data", "/proc/nowhere"), "cannot be made"),
        (("--headless", "--data", "has a space"), "space"),
    ],
)
def test_a_service_that_does_not_start_says_why_and_where_its_log_is(
    tmp_path: Path, words: tuple[str, ...], says: str
) -> None:
    result = run(*words, cwd=tmp_path)
    assert result.returncode == 3
    assert says in result.stderr
    assert "Traceback" not in result.stderr
    log = Path(result.stderr.strip().rpartition("Its log: ")[2])
    assert log.is_file()
    assert log.stat().st_mode & 0o077 == 0
    log.unlink()
