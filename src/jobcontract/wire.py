"""Owns the base of every wire model: strict, frozen, unknown members refused, building deferred to first use."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, NaiveDatetime, StringConstraints, WithJsonSchema

from jobcontract.ids import KEY_MAX, NAME_MAX, NOTE_MAX, REASON_MAX, addressable, storable, visible


def _storable(text: str) -> str:
    if not storable(text):
        raise ValueError("must not contain NUL or a lone surrogate")
    return text


def _visible(text: str) -> str:
    if not visible(text):
        raise ValueError("must hold a character that can be seen")
    return text


def _addressable(text: str) -> str:
    if not addressable(text):
        raise ValueError("must hold no control character and no `.` or `..` between slashes: it is part of an address")
    return text


Text = Annotated[str, AfterValidator(_storable)]
"""Text that PostgreSQL and UTF-8 can carry."""
Name = Annotated[Text, StringConstraints(min_length=1, max_length=NAME_MAX)]
Key = Annotated[Text, StringConstraints(min_length=1, max_length=KEY_MAX)]
SeenName = Annotated[Name, AfterValidator(_visible)]
"""A name or title that a person sees something of."""
BusinessKey = Annotated[Key, AfterValidator(_addressable)]
"""The pusher's own id of an item, which later is part of an address."""
Counted = Annotated[int, Field(strict=True, ge=1, le=2**63 - 1)]
"""A version or fence: a whole number of JSON, never its text, a float or a boolean."""
# Stripped first, then measured: behind a validator of our own the length would be that of the blanks.
Reason = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=REASON_MAX),
    AfterValidator(_storable),
    AfterValidator(_visible),
]
Note = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=NOTE_MAX), AfterValidator(_storable)
]
WallTime = Annotated[
    NaiveDatetime,
    WithJsonSchema({"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,6})?$"}),
]
"""What a wall clock shows: no instant, and so no `date-time` of JSON Schema, which has an offset."""


class Wire(BaseModel):
    """A request or answer body. Requests refuse unknown members; the client ignores those of a newer service."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, allow_inf_nan=False)


class Answer(Wire):
    """A body that the service sends: a client older than the service ignores members that it does not know."""

    model_config = ConfigDict(frozen=True, extra="ignore", defer_build=True, allow_inf_nan=False)


class Problem(Answer):
    """RFC 9457 problem details: `code` names the failure, `detail` is a sentence, `reference` finds its log line."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)

    type: str
    title: str
    status: int
    code: str
    detail: str
    reference: str
