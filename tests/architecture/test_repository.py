"""What git keeps: no leftovers, no secrets, no address of a package registry, no path of one machine."""

from __future__ import annotations

import re

import pytest

from tests.architecture.tree import ROOT, tracked

LEFTOVER = re.compile(r"(__pycache__|\.pyc$|\.coverage|\.egg-info|^\.venv|uv\.lock$|\.log$|\.hypothesis|\.DS_Store)")
REGISTRY = re.compile(
    "|".join(
        [
            "extra-" + "index-url",
            "--" + "index-url",
            "pypi" + r"\.org",
            "python" + "hosted",
            "registry" + r"\.npmjs",
            "resolved " + '"http',
        ]
    )
)
MACHINE_PATH = re.compile(r"(?<![\w.])/(work|farm)/|/root/|/home/[a-z]+/")
SECRET = re.compile(r"\bjc_[A-Za-z0-9_-]{43}\b|-----BEGIN [A-Z ]*PRIVATE KEY-----")
TEXTS = (".py", ".md", ".toml", ".txt", ".yaml", ".yml", ".sql", ".tcss", ".cfg", ".ini", ".json", "")


def _kept() -> list[str]:
    names = tracked()
    if not names:
        pytest.skip("not a git checkout: nothing to say about what git keeps")
    return names


def _texts() -> list[tuple[str, str]]:
    return [
        (name, (ROOT / name).read_text("utf-8", errors="replace"))
        for name in _kept()
        if (ROOT / name).suffix in TEXTS and (ROOT / name).is_file()
    ]


def test_no_leftovers_are_kept() -> None:
    assert [name for name in _kept() if LEFTOVER.search(name)] == []


def test_no_file_is_large() -> None:
    assert [name for name in _kept() if (ROOT / name).is_file() and (ROOT / name).stat().st_size > 1_500_000] == []


@pytest.mark.parametrize(
    ("what", "pattern"), [("registry", REGISTRY), ("machine path", MACHINE_PATH), ("secret", SECRET)]
)
def test_no_text_names(what: str, pattern: re.Pattern[str]) -> None:
    here = "tests/architecture/test_repository.py"
    assert [name for name, text in _texts() if name != here and pattern.search(text)] == [], what


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 150


def test_pins_are_hashed() -> None:
    pins = (ROOT / "requirements" / "dev.txt").read_text("utf-8")
    names = re.findall(r"^[a-z0-9][a-z0-9._-]*(?:\[[a-z,]+\])?==\S+", pins, re.MULTILINE)
    assert len(names) > 50
    assert len(re.findall(r"^\S+==[^\n]*\\\n    --hash=sha256:", pins, re.MULTILINE)) == len(names)
