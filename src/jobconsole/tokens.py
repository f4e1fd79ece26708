"""Owns where the console's token comes from and where it may be kept: the environment, a keyring on an allow-list of
back-ends, or the memory of this run. Never writes it to a plain file, and never shows it.

Keyring back-ends are synchronous, may ask on the terminal, and may hang: every call runs in a thread with a time-out.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, MutableMapping
from importlib import import_module
from typing import Any, TypeVar

VARIABLE = "JOBCONSOLE_TOKEN"
SERVICE_NAME = "jobconsole"
TIMEOUT = 3.0
"""Seconds that a keyring has to answer, unless told otherwise."""
ALLOWED = (
    "keyring.backends.SecretService",
    "keyring.backends.libsecret",
    "keyring.backends.kwallet",
    "keyring.backends.macOS",
    "keyring.backends.Windows",
)
"""Modules of back-ends that keep secrets encrypted and never ask on the terminal. Not `fail`, `null`, file back-ends."""
WITHOUT_KEYRING = f"Give the token in the environment variable {VARIABLE}, or type it at each start."

R = TypeVar("R")


class Token:
    """A token that no repr, log line, format or pickle shows; `reveal` is for the client alone."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text.strip()

    def reveal(self) -> str:
        """The token itself."""
        return self._text

    def __bool__(self) -> bool:
        return bool(self._text)

    def __repr__(self) -> str:
        return "Token('**********')"

    def __reduce__(self) -> str:
        raise TypeError("a token is not pickled")


class KeyringAway(Exception):
    """No keyring can be used now; the text says why, for a person. It never holds a secret."""


def take_from_environment(environ: MutableMapping[str, str] | None = None) -> Token | None:
    """The token of `JOBCONSOLE_TOKEN`, taken out of the environment so that no child inherits it; None without."""
    text = (os.environ if environ is None else environ).pop(VARIABLE, "")
    token = Token(text)
    return token if token else None


class Keyring:
    """The operator's keyring for one profile and address."""

    def __init__(
        self, profile: str, url: str, *, timeout: float = TIMEOUT, find: Callable[[], Any] | None = None
    ) -> None:
        """`find` gives the keyring back-end; it is called in the thread too. Nothing is opened yet."""
        self._user = f"{profile} {url}"
        self._timeout = timeout
        self._find = find or _installed

    def name(self) -> str:
        """The back-end's name. `KeyringAway` where none may be used."""
        return self._ask(lambda backend: str(getattr(backend, "name", type(backend).__name__)))

    def get(self) -> Token | None:
        """The kept token, or None. `KeyringAway` where the keyring cannot be asked."""
        text = self._ask(lambda backend: backend.get_password(SERVICE_NAME, self._user))
        return Token(text) if text else None

    def keep(self, token: Token) -> None:
        """Keeps `token`, and reads it back to be sure. `KeyringAway` where that fails."""

        def keep(backend: Any) -> bool:
            backend.set_password(SERVICE_NAME, self._user, token.reveal())
            return bool(backend.get_password(SERVICE_NAME, self._user) == token.reveal())

        if not self._ask(keep):
            raise KeyringAway("The keyring took the token but does not give it back.")

    def forget(self) -> bool:
        """Removes the kept token; False where there was none. `KeyringAway` where the keyring cannot be asked."""

        def forget(backend: Any) -> bool:
            if backend.get_password(SERVICE_NAME, self._user) is None:
                return False
            backend.delete_password(SERVICE_NAME, self._user)
            return True

        return self._ask(forget)

    def _ask(self, question: Callable[[Any], R]) -> R:
        return _within(lambda: question(_allowed(self._find())), self._timeout)


def _installed() -> Any:
    # 68 ms, and only for those who use it: after the first frame, in the thread.
    return import_module("keyring").get_keyring()


def _allowed(backend: Any) -> Any:
    """The first back-end on the allow-list, out of a chain as well."""
    for candidate in getattr(backend, "backends", None) or [backend]:
        if type(candidate).__module__ in ALLOWED:
            return candidate
    raise KeyringAway(f"There is no keyring here that may keep a token ({type(backend).__module__}).")


def _within(call: Callable[[], R], seconds: float) -> R:
    """What `call` gives, from a thread that is left behind when it takes longer than `seconds`."""
    answers: list[R] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            answers.append(call())
        except BaseException as error:  # carried to the caller, whatever a back-end raises
            errors.append(error)

    thread = threading.Thread(target=run, name="keyring", daemon=True)
    thread.start()
    thread.join(seconds)
    if answers:
        return answers[0]
    if not errors:
        raise KeyringAway(f"The keyring did not answer within {seconds:g} s (locked, or waiting for a prompt).")
    if isinstance(errors[0], KeyringAway):
        raise errors[0]
    # The error's own text is a back-end's and may repeat what it was given: only its kind is told.
    kind = type(errors[0]).__name__
    raise KeyringAway(f"The keyring is locked ({kind})." if "Locked" in kind else f"The keyring failed ({kind}).")
