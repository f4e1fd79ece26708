"""Owns looking for secrets in what a running system leaves behind: their forms, the places, the search.

A place is a name and its bytes. A search gives `place: what` of everything found; it never repeats a secret.
"""

from __future__ import annotations

import base64
import email
import email.policy
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import psycopg
from psycopg import sql

Places = Mapping[str, bytes]
_BYTEA = re.compile(rb"\\\\?x((?:[0-9a-f]{2})+)")
_DIGITS = re.compile(rb"(?<![0-9A-Za-z.])([0-9]{3}) ?([0-9]{3})(?![0-9A-Za-z])")
"""Six digits that stand for themselves: no part of a longer number, a name, or a fraction of a second."""


def raw_forms(raw: bytes) -> frozenset[bytes]:
    """Bytes as they are, in hexadecimal and in base64, with and without its padding."""
    coded = {base64.b64encode(raw), base64.urlsafe_b64encode(raw)}
    return frozenset(
        {raw, raw.hex().encode(), raw.hex().upper().encode(), *coded, *(each.rstrip(b"=") for each in coded)}
    )


def phone_forms(secret: str) -> frozenset[bytes]:
    """The secret of a phone as it is written (base32), in small letters, in groups, and its bytes in every form."""
    written = {secret, secret.lower()}
    groups = {sign.join(text[at : at + 4] for at in range(0, len(text), 4)) for text in written for sign in (" ", "-")}
    raw = base64.b32decode(secret + "=" * (-len(secret) % 8))
    return frozenset(text.encode() for text in written | groups) | raw_forms(raw)


def account_forms(account: str) -> frozenset[bytes]:
    """An account number as it is kept, and in groups of four."""
    return frozenset({account.encode(), " ".join(account[at : at + 4] for at in range(0, len(account), 4)).encode()})


def found(places: Places, wanted: Mapping[str, Iterable[bytes]]) -> list[str]:
    """Which of the wanted things are where."""
    return [
        f"{place}: {name}"
        for place, content in places.items()
        for name, forms in wanted.items()
        if any(form in content for form in forms)
    ]


def six_digits(content: bytes) -> frozenset[bytes]:
    """Everything that could be a code."""
    return frozenset(b"".join(match.groups()) for match in _DIGITS.finditer(content))


def found_codes(places: Places, codes: Iterable[str], before: frozenset[bytes] = frozenset()) -> list[str]:
    """Which places hold a code that was used; not those whose digits stood somewhere `before` anybody used it."""
    wanted = frozenset(code.encode() for code in codes) - before
    return [f"{place}: a code" for place, content in places.items() if wanted & six_digits(content)]


def dump(connection: psycopg.Connection[Any]) -> Iterator[tuple[str, bytes]]:
    """Every table of the database as text, of every schema, the server's own and its statistics too; bytes twice."""
    tables = connection.execute(
        "select n.nspname, c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace "
        "where c.relkind in ('r', 'p', 'm') and n.nspname !~ '^pg_toast' order by 1, 2"
    ).fetchall()
    for schema, table in tables:
        name = sql.Identifier(schema, table)
        rows = connection.execute(sql.SQL("select t::text from {} t").format(name)).fetchall()
        text = "\n".join(row for (row,) in rows).encode()
        yield f"table {schema}.{table}", text
        yield (
            f"table {schema}.{table}, bytes",
            b"\n".join(bytes.fromhex(each[1].decode()) for each in _BYTEA.finditer(text)),
        )


def files(name: str, folder: Path, *, without: Iterable[str] = ()) -> Iterator[tuple[str, bytes]]:
    """Every file of a folder, but those below the names in `without`."""
    left_out = frozenset(without)
    for file in sorted(folder.rglob("*")):
        inner = file.relative_to(folder)
        if file.is_file() and left_out.isdisjoint(inner.parts):
            yield f"{name} {inner}", file.read_bytes()


def letters(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every letter as it lies there, and as a person reads it."""
    for file in sorted(folder.glob("*.eml")):
        raw = file.read_bytes()
        letter = email.message_from_bytes(raw, policy=email.policy.default)
        body = letter.get_body()
        read = "" if body is None else str(body.get_content())
        yield f"letter {file.name}", raw
        yield f"letter {file.name}, read", f"{letter['Subject']}\n{read}".encode()


def process_words(process: psutil.Process, *, environment: bool = True) -> bytes:
    """The command line of a process and, where asked for, its environment; what may be read of them."""
    words: list[str] = []
    with suppress(psutil.Error):
        words += process.cmdline()
    if environment:
        with suppress(psutil.Error):  # of another user's, as PostgreSQL's where root runs the tests
            words += [f"{name}={value}" for name, value in process.environ().items()]
    return "\n".join(words).encode()


def core_limit(process: psutil.Process) -> tuple[str, ...]:
    """How large a core a process may write, soft and hard."""
    lines = Path(f"/proc/{process.pid}/limits").read_text().splitlines()
    return next(tuple(line.split()[4:6]) for line in lines if line.startswith("Max core file size"))


def scrollback(output: bytes) -> bytes:
    """Of what a terminal was sent, the part that a person can scroll back to: not what was on its second screen."""
    kept, *switched = re.split(rb"\x1b\[\?1049([hl])", output)
    return kept + b"".join(part for switch, part in zip(switched[::2], switched[1::2], strict=True) if switch == b"l")
