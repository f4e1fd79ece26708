"""The catalogue: complete, unambiguous, and the one place that says why a command cannot be run."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobconsole.commands.catalogue import BY_ID, COMMANDS, applies, commands_of, unavailable
from jobconsole.commands.command import Command, Danger
from jobconsole.commands.situation import SelectedItem, Situation
from jobcontract.permissions import GRANTS, Permission
from jobcontract.states import ClaimMode, ItemState, Role

ACT = Command(
    id="thing.do",
    title="Do",
    help="Does.",
    keys=("d",),
    places=("things",),
    danger=Danger.ACTS,
    permission=Permission.QUEUE_ACT,
    judge=lambda situation: None if situation.marked else "nothing is marked",
)
FULL = Situation(place="things", tenant="acme", permissions=frozenset(Permission), marked=1)


def test_ids_are_unique_and_have_the_form_noun_verb() -> None:
    assert len(BY_ID) == len(COMMANDS)
    assert [c.id for c in COMMANDS if not re.fullmatch(r"[a-z]+\.[a-z]+(-[a-z]+)*", c.id)] == []


def test_every_command_says_what_it_does() -> None:
    for command in COMMANDS:
        assert command.title, command.id
        assert command.title[0].isupper(), command.id
        assert command.help.endswith("."), command.id
        assert command.keys, command.id


def test_release_claim_and_release_payout_are_never_just_release() -> None:
    assert [c.id for c in COMMANDS if c.title.casefold() == "release" or c.hint.casefold() == "release"] == []


def test_the_bottom_line_of_every_place_has_five_keys_or_more() -> None:
    for place in {place for command in COMMANDS for place in command.places} | {"you"}:
        assert len([c for c in commands_of(place) if c.hint and c.id != "session.sign-in"]) >= 5, place


def test_a_command_that_can_be_run_has_no_reason() -> None:
    assert unavailable(ACT, FULL) is None


@pytest.mark.parametrize(
    ("situation", "reason"),
    [
        (replace(FULL, place="others"), "only in things"),
        (replace(FULL, signed_in=False), "sign in first"),
        (
            replace(FULL, permissions=frozenset()),
            "That needs queue.act (finance). Ask an administrator of acme to have it granted on the server.",
        ),
        (replace(FULL, read_only=True), "this profile only looks (read_only)"),
        (replace(FULL, connected=False), "not while disconnected"),
        (replace(FULL, marked=0), "nothing is marked"),
    ],
)
def test_each_reason_is_said(situation: Situation, reason: str) -> None:
    assert unavailable(ACT, situation) == reason


items = st.builds(
    SelectedItem,
    state=st.sampled_from(ItemState),
    claim=st.sampled_from(ClaimMode),
    holder=st.none() | st.just("k.rao"),
    mine=st.booleans(),
    verbs=st.just(frozenset({"reject", "note"})),
    fitting=st.sampled_from([frozenset[str](), frozenset({"reject", "note"})]),
)
situations = st.builds(
    Situation,
    place=st.sampled_from(["queues", "item", "you", "start"]),
    tenant=st.just("acme"),
    permissions=st.sampled_from([GRANTS[role] for role in Role]),
    signed_in=st.booleans(),
    connected=st.booleans(),
    read_only=st.booleans(),
    tenants=st.integers(0, 3),
    queue=st.none() | st.just("payments.payouts"),
    claim=st.none() | st.sampled_from(ClaimMode),
    item=st.none() | items,
    marked=st.integers(0, 3),
)


@given(situations, st.sampled_from(COMMANDS))
def test_nothing_that_changes_can_be_run_read_only_disconnected_signed_out_or_unpermitted(
    situation: Situation, command: Command
) -> None:
    reason = unavailable(command, situation)
    assert reason is None or reason.strip()
    if reason is not None:
        return
    assert applies(command, situation.place)
    if command.changes:
        assert situation.signed_in
        assert situation.connected
        assert not situation.read_only
    if command.permission is not None:
        assert command.permission in situation.permissions
