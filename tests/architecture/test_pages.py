"""What the documents promise is there: pictures, keys, and commands with their options."""

from __future__ import annotations

import re
import shlex

import click
import pytest

from jobconsole.cli import cli
from jobconsole.commands.catalogue import COMMANDS
from tests.architecture.tree import ROOT

PAGES = sorted([*ROOT.glob("docs/*.md"), ROOT / "README.md"])
FENCED = re.compile(r"^```[a-z]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
PICTURE = re.compile(r"!\[[^\]]*\]\(([^)]+)\)")
OF_THE_SHELL = {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "J"}
"""The keys of places."""
JOURNEYS = pytest.mark.parametrize("page", ["operators.md", "support.md"])


def named(words: list[str]) -> tuple[click.Command, list[str]]:
    """The command that these words name, and the words behind it."""
    found: click.Command = cli
    rest = list(words)
    while isinstance(found, click.Group) and rest and rest[0] in found.commands:
        found = found.commands[rest.pop(0)]
    return found, rest


def orders(text: str) -> list[str]:
    """Every `jobconsole …` in the blocks of a page, without the remark behind it; two may stand in one line."""
    lines = [line for block in FENCED.findall(text) for line in block.splitlines()]
    return [each.strip() for line in lines for each in re.findall(r"jobconsole .*?(?=\s{2,}|\s#|$)", line)]


def test_pictures_of_the_pages_exist() -> None:
    found = [(page, each) for page in PAGES for each in PICTURE.findall(page.read_text("utf-8"))]
    assert len(found) > 20
    assert [(page.name, each) for page, each in found if not (page.parent / each).is_file()] == []


@JOURNEYS
def test_commands_of_a_journey_exist_with_their_options(page: str) -> None:
    told = orders((ROOT / "docs" / page).read_text("utf-8"))
    assert len(told) > 5
    for each in told:
        found, rest = named(shlex.split(each)[1:])
        assert not isinstance(found, click.Group), each
        known = {name for option in found.params for name in option.opts}
        assert [word for word in rest if word.startswith("--") and word not in known] == [], each


@JOURNEYS
def test_keys_of_a_journey_exist(page: str) -> None:
    keys = {key for command in COMMANDS for key in command.keys} | OF_THE_SHELL
    text = (ROOT / "docs" / page).read_text("utf-8")
    told = {key for key in re.findall(r"`([^`\s]|enter|tab|space|ctrl\+[a-z])`", text) if key.isascii()}
    assert {"y", "C", "enter"} <= told
    assert told - keys - {"tab"} == set()
