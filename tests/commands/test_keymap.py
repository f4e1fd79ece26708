"""The keymap: a person's key wins, `none` unbinds, clashes and mistakes are refused with names."""

from __future__ import annotations

import pytest

from jobconsole.commands.catalogue import COMMANDS
from jobconsole.commands.keymap import KeymapError, clashes, default_keymap, keymap_at, read_keymap, shown


def test_the_catalogue_itself_has_no_clash() -> None:
    assert clashes(default_keymap()) == []


def test_a_written_key_replaces_all_default_keys() -> None:
    keymap = read_keymap({"help.show": "H, f2"})
    assert keymap["help.show"] == ("H", "f2")
    assert keymap["palette.open"] == ("ctrl+p",)
    assert set(keymap) == {command.id for command in COMMANDS}


def test_none_unbinds_and_leaves_no_hidden_second_key() -> None:
    assert read_keymap({"screen.back": "none"})["screen.back"] == ()


def test_a_clash_is_refused_with_both_commands_named() -> None:
    with pytest.raises(KeymapError) as caught:
        read_keymap({"live.pause": "r"}, where="config.toml", lines={"live.pause": 12})
    assert str(caught.value) == (
        'config.toml:12: keymap: key "r" runs both screen.refresh (Refresh) and live.pause (Pause or resume live updates). '
        "Give one of them another key."
    )


def test_a_shell_key_that_meets_a_key_of_one_place_is_a_clash() -> None:
    with pytest.raises(KeymapError, match=r"item\.claim .* live\.pause"):
        read_keymap({"live.pause": "c"})


def test_two_commands_may_change_keys_with_each_other() -> None:
    keymap = read_keymap({"live.pause": "r", "screen.refresh": "p"})
    assert (keymap["live.pause"], keymap["screen.refresh"]) == (("r",), ("p",))


def test_an_unknown_command_is_refused_with_the_nearest() -> None:
    with pytest.raises(KeymapError, match=r'no command "help.shwo"; did you mean "help.show"\?'):
        read_keymap({"help.shwo": "x"})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is not a key"),
        ("ctrl+", "is not a key"),
        ("hello", "is not a key"),
        ("a b", "is not a key"),
        ("1", "is the key of a place"),
        ("tab", "moves within the screen"),
        ("H,,", "is not a key"),
        ("ctrl+\x1b", "holds a control character"),
        ("\x07", "holds a control character"),
        ("\x9b", "holds a control character"),
    ],
)
def test_what_is_no_key_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(KeymapError, match=sentence):
        read_keymap({"help.show": text})


@pytest.mark.parametrize("text", ["ctrl+h", "f12", "?", "insert", "ctrl+shift+x", ",", "é", "alt+enter"])
def test_what_is_a_key_is_taken(text: str) -> None:
    assert read_keymap({"help.show": text})["help.show"] == (text,)


def test_every_fault_is_named_at_once() -> None:
    with pytest.raises(KeymapError) as caught:
        read_keymap({"no.such": "x", "help.show": "hello", "live.pause": "r"})
    assert len(str(caught.value).splitlines()) == 3


def test_keys_are_shown_as_people_write_them() -> None:
    assert [shown(key) for key in ("ctrl+p", "escape", "backspace", "?")] == ["^p", "esc", "⌫", "?"]


def test_a_place_of_its_own_has_the_keys_that_a_command_of_everywhere_yields_there() -> None:
    keymap = default_keymap()
    assert keymap_at(keymap, "queues")["live.pause"] == ("p",)
    there = keymap_at(keymap, "progress")
    assert (there["live.pause"], there["plan.pause"]) == ((), ("p",))
    assert (there["screen.refresh"], there["plan.resume"]) == ((), ("r",))
    own = keymap_at(read_keymap({"live.pause": "z, p"}), "progress")
    assert own["live.pause"] == ("z",)


def test_what_is_yielded_in_one_place_still_clashes_in_another() -> None:
    with pytest.raises(KeymapError, match=r"runs both item\.claim .* and live\.pause"):
        read_keymap({"item.claim": "p"})
