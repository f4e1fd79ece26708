"""Every twin that the command catalogue names can be typed."""

from __future__ import annotations

import click
import pytest

from jobconsole.cli import cli
from jobconsole.client.fake_records import DISPUTES, PAYOUTS
from jobconsole.commands.catalogue import COMMANDS
from jobcontract.interfaces import INTERFACES, Interface
from jobcontract.queues import Queue
from jobcontract.states import Moves

NAMED = [(command.id, command.twin) for command in COMMANDS if command.twin]


@pytest.mark.parametrize(("identifier", "twin"), NAMED, ids=[identifier for identifier, _ in NAMED])
def test_a_twin_is_a_command_with_those_arguments_and_options(identifier: str, twin: str) -> None:
    can_be_typed(identifier, twin)


@pytest.mark.requirement("provide-operational-recovery-procedures")
@pytest.mark.parametrize("interface", INTERFACES, ids=lambda each: str(each.route.name))
def test_every_command_that_a_runbook_can_name_exists(interface: Interface) -> None:
    can_be_typed(interface.route.name, interface.command)


def can_be_typed(identifier: str, twin: str) -> None:
    """That the command line has it, with just these arguments and these options."""
    words = twin.split()
    command: click.Command = cli
    while words and isinstance(command, click.Group) and words[0] in command.commands:
        command = command.commands[words.pop(0)]
    # `extra` is there to refuse a code that was typed as an argument.
    arguments = [each for each in command.params if isinstance(each, click.Argument) and each.name != "extra"]
    options = {name for parameter in command.params for name in parameter.opts}
    placed = []
    while words:
        word = words.pop(0)
        if word.startswith("--"):
            assert word in options, f"{identifier}: {twin}"
            if words and not words[0].startswith("--"):
                words.pop(0)
        else:
            placed.append(word)
    assert len(placed) == len(arguments), f"{identifier}: {twin}"


@pytest.mark.parametrize("queue", [PAYOUTS, DISPUTES], ids=lambda queue: str(queue.id))
def test_every_verb_of_the_example_that_moves_no_money_has_a_twin_of_its_own(queue: Queue) -> None:
    group = cli.commands["queues"]
    assert isinstance(group, click.Group)
    for case in queue.use_cases:
        if case.moves is Moves.NOTHING:
            command = group.commands[case.id.rpartition(".")[2]]
            names = {parameter.name for parameter in command.params}
            assert {declared.name for declared in case.inputs} <= names
