"""Where the token may come from and go to (case TUI-05): never shown, never inherited, never in a plain file."""

from __future__ import annotations

import copy
import pickle
import threading
from typing import Any

import pytest

from jobconsole.tokens import ALLOWED, VARIABLE, Keyring, KeyringAway, Token, take_from_environment

SECRET = "jc_0123456789abcdefghijklmnopqrstuvwxyz"


class Backend:
    """A keyring back-end in memory."""

    def __init__(self, *, error: Exception | None = None, forgets: bool = False) -> None:
        self.kept: dict[tuple[str, str], str] = {}
        self.error = error
        self.forgets = forgets

    def get_password(self, service: str, user: str) -> str | None:
        if self.error:
            raise self.error
        return self.kept.get((service, user))

    def set_password(self, service: str, user: str, password: str) -> None:
        if self.error:
            raise self.error
        if not self.forgets:
            self.kept[service, user] = password

    def delete_password(self, service: str, user: str) -> None:
        del self.kept[service, user]


class Allowed(Backend):
    """One that the allow-list knows."""


Allowed.__module__ = "keyring.backends.SecretService"


class KeyringLocked(Exception):
    """As keyring's own, by name."""


def keyring(backend: Any, profile: str = "prod") -> Keyring:
    return Keyring(profile, "https://jobs.example", timeout=1.0, find=lambda: backend)


def test_no_form_of_a_token_shows_it() -> None:
    token = Token(SECRET)
    assert SECRET not in f"{token!r} {token} {token:}" + repr([token]) + repr({"token": token})
    with pytest.raises(TypeError):
        pickle.dumps(token)
    with pytest.raises(TypeError):
        copy.copy(token)
    assert token.reveal() == SECRET


def test_the_environment_is_read_once_and_not_inherited() -> None:
    environ = {VARIABLE: f" {SECRET}\n", "HOME": "/"}
    token = take_from_environment(environ)
    assert token is not None
    assert token.reveal() == SECRET
    assert environ == {"HOME": "/"}
    assert take_from_environment(environ) is None
    assert take_from_environment({VARIABLE: "  "}) is None


def test_a_kept_token_comes_back_for_its_profile_alone() -> None:
    backend = Allowed()
    keyring(backend).keep(Token(SECRET))
    again = keyring(backend).get()
    assert again is not None
    assert again.reveal() == SECRET
    assert keyring(backend, "other").get() is None
    assert keyring(backend).forget() is True
    assert keyring(backend).forget() is False


@pytest.mark.requirement("TUI-05")
def test_a_back_end_that_is_not_allowed_is_never_asked() -> None:
    backend = Backend()
    for call in (keyring(backend).get, keyring(backend).name, lambda: keyring(backend).keep(Token(SECRET))):
        with pytest.raises(KeyringAway, match="no keyring here that may keep a token"):
            call()
    assert backend.kept == {}


def test_the_allow_list_has_no_back_end_that_forgets_fails_or_writes_plain_files() -> None:
    assert not [name for name in ALLOWED if name.rpartition(".")[2] in {"null", "fail", "chainer"} or "alt" in name]


def test_out_of_a_chain_only_the_allowed_one_is_used() -> None:
    plain, good = Backend(), Allowed()
    chain = type("Chainer", (), {"backends": [plain, good]})()
    keyring(chain).keep(Token(SECRET))
    assert plain.kept == {}
    assert good.kept


@pytest.mark.requirement("TUI-05")
def test_a_locked_or_broken_keyring_is_a_sentence_without_the_errors_own_text() -> None:
    for error, said in ((KeyringLocked(SECRET), "is locked"), (RuntimeError(SECRET), "failed (RuntimeError)")):
        with pytest.raises(KeyringAway) as caught:
            keyring(Allowed(error=error)).keep(Token(SECRET))
        assert said in str(caught.value)
        assert SECRET not in str(caught.value)


@pytest.mark.requirement("TUI-05")
def test_a_keyring_that_hangs_is_given_up() -> None:
    release = threading.Event()

    def hang() -> Any:
        release.wait(30)
        return Allowed()

    try:
        with pytest.raises(KeyringAway, match=r"did not answer within 0\.05 s"):
            Keyring("prod", "u", timeout=0.05, find=hang).get()
    finally:
        release.set()


def test_a_keyring_that_loses_what_it_was_given_is_found_out() -> None:
    with pytest.raises(KeyringAway, match="does not give it back"):
        keyring(Allowed(forgets=True)).keep(Token(SECRET))
