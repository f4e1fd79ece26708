"""Owns reading a statement's rows as the text that the server wrote, without turning every value into Python's.

A page has a hundred rows that go out as they came in: only a few of their values are looked at here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from psycopg.pq.abc import PGresult

from jobservice.store.database import Transaction
from jobservice.store.statements import statement


@dataclass(frozen=True, slots=True)
class Texts:
    """The rows of one answer."""

    _result: PGresult
    _columns: Mapping[str, int]

    @property
    def count(self) -> int:
        """How many rows there are."""
        return self._result.ntuples

    def raw(self, row: int, column: str) -> bytes:
        """One value, UTF-8; empty where it is null or there is no such row. KeyError for a column that is none."""
        return self._result.get_value(row, self._columns[column]) or b""

    def text(self, row: int, column: str) -> str:
        """One value as text."""
        return self.raw(row, column).decode()

    def array(self, rows: Sequence[int], column: str) -> bytes:
        """A JSON array of the values of some rows, each JSON itself."""
        number = self._columns[column]
        return b"[%b]" % b",".join([self._result.get_value(row, number) or b"null" for row in rows])


async def texts(transaction: Transaction, name: str, /, **parameters: object) -> Texts:
    """All rows of statement `name`."""
    async with transaction.connection.cursor() as cursor:
        asked = {"tenant": transaction.tenant, **parameters}
        await cursor.execute(statement(name), asked, prepare=transaction.prepare)
        result = cursor.pgresult
    assert result is not None  # noqa: S101  # it was executed
    columns = {(result.fname(number) or b"").decode(): number for number in range(result.nfields)}
    return Texts(result, columns)
