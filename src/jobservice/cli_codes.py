"""Owns the commands of phones and of the key ring, on the server (MONEY.md 16, 17), and of the demo's phone (35).

A secret is shown on the terminal's second screen alone, which is wiped; it is never an argument and never piped. A code
is typed, or, of a made-up person, printed.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from jobcontract.errors import ErrorCode, Refusal
from jobservice.cli_people import JSON, as_owner, plain, show
from jobservice.settings import APPLICATION, DEPLOYMENT, KEYRING, StartRefused, required

if TYPE_CHECKING:
    from jobservice.bootstrap.phone import DemoPhone
    from jobservice.rules.keys import Keys
    from jobservice.usecases.enrolment import Changed, Pending

PROOFS = 5
"""How often two codes may be typed before the enrolment is given up."""
BESIDE = 33
"""Columns of text beside the picture."""
SET = click.option(
    "--set",
    "assignments",
    multiple=True,
    metavar="ID=VALUE",
    help="A setting's value, like code.rest=PT1H. Repeatable.",
)
APPLICATION_OPTION = click.option(
    "--application", envvar=APPLICATION, metavar="MODULE:NAME", help="Whose settings hold (code.rest)."
)


def _ring() -> Path:
    return Path(required(os.environ, KEYRING)[KEYRING]).expanduser()


def _keys() -> Keys:
    from jobservice.bootstrap.keyring import read_keys

    return read_keys(_ring())


def _rest_seconds(application: str | None, assignments: tuple[str, ...]) -> float:
    """How long no code confirms after a change of the phone, of the records in force."""
    from jobservice.bootstrap.process import load_application, load_records, parse_overrides

    name = application or required(os.environ, APPLICATION)[APPLICATION]
    return load_records(load_application(name), parse_overrides(assignments)).settings.code_rest


@click.group()
def totp() -> None:
    """Phones that give codes (on the server only)."""


@totp.command("enrol")
@click.argument("person", metavar="PERSON")
@click.option("--own", is_flag=True, help="Type the secret of a phone that has one; it is asked for, hidden.")
@APPLICATION_OPTION
@SET
def totp_enrol(person: str, own: bool, application: str | None, assignments: tuple[str, ...]) -> None:
    """Enrol PERSON's phone: shown here once, in force when two codes of it were typed here."""
    from jobservice.bootstrap.screen import require_terminal
    from jobservice.usecases import enrolment

    require_terminal("Enrolling a phone")
    keys, rest = _keys(), _rest_seconds(application, assignments)
    typed = click.prompt("The secret of the phone (not shown)", hide_input=True) if own else None
    pending = as_owner(lambda owner: enrolment.begin(owner, keys, person, own=typed))
    try:
        changed = _prove(keys, pending, rest, shown=not own)
    except BaseException:  # however it ends, ctrl+c too: what was begun is forgotten
        as_owner(lambda owner: enrolment.cancel(owner, person))
        raise
    _say(changed, f"The phone of {person} is enrolled.")


def _prove(keys: Keys, pending: Pending, rest_seconds: float, *, shown: bool) -> Changed:
    """Show the secret and take two codes of it, on the second screen; StartRefused after `PROOFS` wrong pairs."""
    from jobservice.bootstrap.screen import second_screen

    with second_screen():
        if shown:
            _show_secret(pending)
        for _ in range(PROOFS):
            first = click.prompt("Code on the phone")
            second = click.prompt("Wait for it to change. The next code")
            try:
                return _finish(keys, pending.person, (first, second), rest_seconds)
            except Refusal as refusal:
                if refusal.kind not in (ErrorCode.CODE_WRONG, ErrorCode.CODE_USED, ErrorCode.INVALID_REQUEST):
                    raise
                click.echo(refusal.detail)
    raise StartRefused(f"{PROOFS} pairs of codes were not right: nothing was enrolled. Is the phone's clock right?")


def _finish(keys: Keys, person: str, typed: tuple[str, str], rest_seconds: float) -> Changed:
    from jobservice.usecases import enrolment

    return as_owner(lambda owner: enrolment.finish(owner, keys, person, *typed, rest_seconds=rest_seconds))


def _show_secret(pending: Pending) -> None:
    """The picture with the key beside it: so both, and the line to type in, fit 80 by 24. Without room, the key alone."""
    from jobservice.bootstrap.qr import columns, qr_lines
    from jobservice.rules.codes import enrolment_address

    address = enrolment_address(pending.secret, pending.person, os.environ.get(DEPLOYMENT, ""))
    letters = " ".join(pending.secret[at : at + 4] for at in range(0, len(pending.secret), 4))
    beside = (
        f"For {pending.person},",
        plain(pending.name),
        "",
        "Scan it, or type this key:",
        letters[:20],
        letters[20:],
    )
    code, window = qr_lines(address), shutil.get_terminal_size()
    wide, high = columns(address) + 2 + BESIDE, len(code) + 1
    if window.columns >= wide and window.lines >= high:
        texts = [text[:BESIDE] for text in beside] + [""] * len(code)
        click.echo("\n".join(f"{line}  {text}" for line, text in zip(code, texts, strict=False)), color=True)
    else:
        click.echo("\n".join((*beside, "", f"For the picture, the window needs {wide} columns and {high} rows.")))


@totp.command("reset")
@click.argument("person", metavar="PERSON")
@APPLICATION_OPTION
@SET
def totp_reset(person: str, application: str | None, assignments: tuple[str, ...]) -> None:
    """Take PERSON's phone off, as when it was lost."""
    from jobservice.usecases import enrolment

    rest = _rest_seconds(application, assignments)
    changed = as_owner(lambda owner: enrolment.reset(owner, person, rest_seconds=rest))
    _say(changed, f"The phone of {person} is off: no code of it is taken. Next: jobservice totp enrol {person}.")


@totp.command("unlock")
@click.argument("person", metavar="PERSON")
def totp_unlock(person: str) -> None:
    """End every lock on PERSON's codes, and forget what was counted."""
    from jobservice.usecases import enrolment

    as_owner(lambda owner: enrolment.unlock(owner, person))
    click.echo(f"The codes of {person} are unlocked.")


@totp.command("status")
@click.argument("person", metavar="PERSON")
@JSON
def totp_status(person: str, as_json: bool) -> None:
    """How PERSON's phone stands; never a secret or a code."""
    from dataclasses import asdict

    from jobservice.usecases import enrolment

    standing = as_owner(lambda owner: enrolment.status(owner, person))
    row = {"person": person, **asdict(standing)}
    show([row], tuple(row), as_json)


def _say(changed: Changed, first: str) -> None:
    click.echo(first)
    if changed.rests_until is not None:
        click.echo(f"No code confirms before {changed.rests_until:%Y-%m-%d %H:%M} UTC.")
    for names, what in ((changed.held_back.voided, "voided"), (changed.held_back.paused, "paused")):
        if names:
            click.echo(f"Plans {what}: {', '.join(names)}.")
    click.echo(f"Told: {', '.join((changed.person, *changed.told))}.")


@click.group()
def keyring() -> None:
    """The folder of keys that JOBSERVICE_KEYRING names."""


@keyring.command("init")
def keyring_init() -> None:
    """Make the folder and the keys that are missing in it; what is there stays."""
    from jobservice.bootstrap.keyring import check_keyring, make_keyring

    folder = _ring()
    make_keyring(folder)
    check_keyring(folder)
    click.echo(f"The key ring {folder} is complete.")


@keyring.command("rotate")
def keyring_rotate() -> None:
    """Make new keys and seal every secret anew under the new one."""
    from jobservice.bootstrap.keyring import add_keys
    from jobservice.usecases import keyring as usecase

    _keys()
    as_owner(usecase.check_owner)
    keys = add_keys(_ring())
    sealed = as_owner(lambda owner: usecase.seal_anew(owner, keys))
    click.echo(
        f"New keys: seal-{keys.current_seal}, sign-{keys.current_sign}. Secrets sealed anew: {len(sealed.people)}."
    )
    if sealed.unopened:
        click.echo(f"No key opens those of {', '.join(sealed.unopened)}: enrol their phones again.")
    click.echo("Next, at once: jobservice keyring public --out FILE over the Worker's file, then restart the API.")
    click.echo("Until the API has the new keys, it answers codes with 503 and counts nothing.")


@keyring.command("retire")
@click.argument("key", metavar="KEY")
def keyring_retire(key: str) -> None:
    """Remove an old KEY, like seal-0001-9f31c4, once nothing needs it any more."""
    from jobservice.bootstrap.keyring import SEAL, remove_key, split_name
    from jobservice.usecases import keyring as usecase

    keys = _keys()
    named = split_name(key)
    known = [*(f"seal-{each}" for each in keys.seal_keys), *(f"sign-{each}" for each in keys.sign_keys)]
    if named is None or "-".join(named) not in known:
        raise StartRefused(f"The ring has no such key. Keys: {', '.join(known)}.")
    kind, key_id = named
    if key_id in (keys.current_seal, keys.current_sign):
        raise StartRefused(f"{kind}-{key_id} is the current key. First: jobservice keyring rotate.")
    retire = usecase.retire_seal if kind == SEAL else usecase.retire_sign
    as_owner(lambda owner: retire(owner, key_id))
    remove_key(_ring(), kind, key_id)
    click.echo(f"{kind}-{key_id} is removed.")


@keyring.command("public")
@click.option("--out", type=click.Path(path_type=Path), help="Write this file, 0644. Without it: printed.")
def keyring_public(out: Path | None) -> None:
    """The public keys, for the Worker (JOBSERVICE_PUBLIC_KEYS): they verify confirmations and make none."""
    from jobservice.bootstrap.public_keys import public_text, write_public_keys

    public = _keys().public()
    if out is None:
        click.echo(public_text(public), nl=False)
        return
    write_public_keys(public, out)
    click.echo(f"{out} holds the public keys. The Worker reads them anew as it works.")


@click.command()
@click.option("--data", type=click.Path(path_type=Path), help="The demo's folder, as for jobservice dev.")
@click.option("--person", metavar="PERSON", help="Only their phone.")
@click.option("--once", is_flag=True, help="Print one code that was not printed before, and nothing else; may wait.")
def phone(data: Path | None, person: str | None, once: bool) -> None:
    """The phones of the demo's made-up people, and nobody else's."""
    from jobservice.bootstrap import phone as phones
    from jobservice.embedded import default_folder

    folder = (data or default_folder()).expanduser() / "people"
    found = phones.chosen(phones.read_phones(folder), person)
    if once:
        if len(found) != 1:
            raise StartRefused(f"Whose code? Add --person with one of: {', '.join(each.person for each in found)}.")
        click.echo(phones.fresh_code(found[0], folder))
        return
    _watch(found)


def _watch(found: Sequence[DemoPhone]) -> None:
    from jobservice.bootstrap.phone import show as showing
    from jobservice.bootstrap.screen import CLEAR, require_terminal, second_screen

    require_terminal("The demo's phone (without --once)")
    with second_screen():
        try:
            for lines in showing(found):
                click.echo(
                    CLEAR + "\n".join(("The demo's phones, of people made up. ctrl+c ends.", "", *lines)), color=True
                )
        except KeyboardInterrupt:
            return
