"""Owns reading the fields of one record strictly: each read either gives a value or leaves a finding at its line.

Field names are the source document's own camelCase forms. Never knows a kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from enum import StrEnum
from typing import TypeVar

from jobcontract.ids import SLUG_MAX, is_slug, storable
from jobservice.records.findings import Finding
from jobservice.records.yaml import Mapping, Node, Scalar, Sequence

Word = TypeVar("Word", bound=StrEnum)

_NOT_TEXT = re.compile(r"|~|null|Null|NULL|true|True|TRUE|false|False|FALSE|[-+]?[0-9.][0-9._eE+-]*|0[xo][0-9a-fA-F]+")
"""Plain scalars that YAML 1.2 reads as something else than text."""
_COUNT = re.compile(r"0|[1-9][0-9]{0,17}", re.ASCII)


def nearest(word: str, known: Iterable[str]) -> str:
    """` Did you mean X?` with the nearest of `known`, or nothing where none is near."""
    close = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f" Did you mean `{close[0]}`?" if close else ""


class Form:
    """One mapping being read. Every field that is asked for is a field it may have; `finish` names the others."""

    def __init__(
        self, file: str, mapping: Mapping, findings: list[Finding], *, prefix: str = "", line: int | None = None
    ) -> None:
        self.file = file
        self.line = mapping.line if line is None else line
        self._prefix = prefix
        self._entries = {key.text: (key, value) for key, value in mapping.entries}
        self._findings = findings
        self._asked: list[str] = []

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def named(self, name: str) -> str:
        """A field as sentences name it, with the fields that it stands in: `schedule.zone`."""
        return f"{self._prefix}{name}"

    @property
    def names(self) -> tuple[tuple[str, int], ...]:
        """Every key with its line, in the order of the file."""
        return tuple((key.text, key.line) for key, _ in self._entries.values())

    def found(self, code: str, line: int, sentence: str) -> None:
        """Leave a finding at `line`."""
        self._findings.append(Finding(file=self.file, line=line, code=code, sentence=sentence))

    def line_of(self, name: str) -> int:
        """The line of a field, or of the mapping where it is not there."""
        return self._entries[name][0].line if name in self._entries else self.line

    def finish(self) -> None:
        """Name the fields that nobody asked for, each with the nearest known one."""
        for name, line in self.names:
            if name not in self._asked:
                hint = nearest(name, self._asked) or f" Known here: {', '.join(dict.fromkeys(self._asked))}."
                self.found("field-unknown", line, f"`{self._prefix}{name}` is not a field here.{hint}")

    def text(
        self, name: str, *, most: int, required: bool = True, missing: str = "field-missing", form: str = ""
    ) -> str | None:
        """A sentence or word of 1 to `most` characters on one line; `missing` is the code where it is not there."""
        scalar = self._scalar(name, required=required, missing=missing, form=form)
        return None if scalar is None else self._text(name, scalar, most, self.line_of(name))

    def texts(self, name: str, *, most: int, count: int) -> tuple[str, ...] | None:
        """A list of 1 to `count` texts, each as `text` has them."""
        node = self.node(name, required=True)
        if node is None:
            return None
        if not isinstance(node, Sequence) or not 1 <= len(node.items) <= count:
            self.invalid(name, f"is a list of 1 to {count} texts, one `- text` a line")
            return None
        found: list[str | None] = []
        for item in node.items:
            if isinstance(item, Scalar):
                found.append(self._text(name, item, most, item.line))
            else:
                self.found("field-invalid", item.line, f"`{self._prefix}{name}` is a list of texts.")
                found.append(None)
        whole = tuple(text for text in found if text is not None)
        return whole if len(whole) == len(found) else None

    def slug(self, name: str, *, required: bool = True, missing: str = "field-missing", form: str = "") -> str | None:
        """An id such as `payments.set-aside`; `missing` is the code where it is not there."""
        scalar = self._scalar(name, required=required, missing=missing, form=form)
        return None if scalar is None else self._slug(name, scalar)

    def slugs(self, name: str) -> tuple[tuple[str, int], ...] | None:
        """A list of ids, each with its line; none twice."""
        node = self.node(name, required=True)
        if node is None:
            return None
        if not isinstance(node, Sequence):
            self.invalid(name, "is a list, one `- id` a line")
            return None
        found: dict[str, int] = {}
        for item in node.items:
            if not isinstance(item, Scalar):
                self.found("field-invalid", item.line, f"`{self._prefix}{name}` is a list of ids.")
            elif (identifier := self._slug(name, item)) is not None:
                if identifier in found:
                    self.found("field-invalid", item.line, f"{identifier} stands on line {found[identifier]} already.")
                found.setdefault(identifier, item.line)
        return tuple(found.items())

    def choice(self, name: str, words: type[Word], *, unstated: str = "field-missing") -> Word | None:
        """One of the words of an enumeration; `unstated` is the code where the field is not there."""
        scalar = self._scalar(name, required=True, missing=unstated, form=f"say {', '.join(words)}")
        return None if scalar is None else self._word(name, scalar, words)

    def choices(self, name: str, words: type[Word]) -> frozenset[Word] | None:
        """A list of words of an enumeration, at least one."""
        node = self.node(name, required=True)
        if node is None:
            return None
        if not isinstance(node, Sequence) or not node.items:
            self.invalid(name, f"is a list of {', '.join(words)}")
            return None
        found = [self._word(name, item, words) for item in node.items if isinstance(item, Scalar)]
        if len(found) < len(node.items):
            self.invalid(name, f"is a list of {', '.join(words)}")
            return None
        return frozenset(word for word in found if word is not None)

    def boolean(self, name: str) -> bool | None:
        """`true` or `false`."""
        scalar = self._scalar(name, required=True)
        if scalar is None:
            return None
        if not scalar.plain or scalar.text not in ("true", "false"):
            self.invalid(name, "is true or false")
            return None
        return scalar.text == "true"

    def count(
        self,
        name: str,
        *,
        least: int,
        most: int,
        required: bool = True,
        missing: str = "field-missing",
        form: str = "",
    ) -> int | None:
        """A whole number within bounds; `missing` is the code where it is not there."""
        scalar = self._scalar(name, required=required, missing=missing, form=form)
        if scalar is None:
            return None
        if not scalar.plain or not _COUNT.fullmatch(scalar.text) or not least <= int(scalar.text) <= most:
            self.invalid(name, f"is a whole number from {least:,} to {most:,}")
            return None
        return int(scalar.text)

    def written(self, name: str, *, missing: str = "field-missing", form: str = "") -> str | None:
        """A single value just as it was written, for those who read it by a form of their own."""
        scalar = self._scalar(name, required=True, missing=missing, form=form)
        return None if scalar is None else scalar.text

    def form(self, name: str, *, required: bool = True, missing: str = "field-missing", form: str = "") -> Form | None:
        """A mapping inside this one, as a form of its own; `missing` is the code where it is not there."""
        node = self.node(name, required=required, missing=missing, form=form)
        if node is None:
            return None
        if not isinstance(node, Mapping):
            self.invalid(name, "is a mapping of fields")
            return None
        return Form(self.file, node, self._findings, prefix=f"{self._prefix}{name}.", line=self.line_of(name))

    def forms(self, name: str, listed: Sequence) -> list[Form]:
        """The mappings of a list as forms of their own, each at its line; a finding for each that is none."""
        found: list[Form] = []
        for item in listed.items:
            if isinstance(item, Mapping):
                found.append(Form(self.file, item, self._findings, prefix=f"{self._prefix}{name}."))
            else:
                sentence = f"`{self._prefix}{name}` is a list of mappings of fields."
                self.found("field-invalid", item.line, sentence)
        return found

    def node(self, name: str, *, required: bool, missing: str = "field-missing", form: str = "") -> Node | None:
        """The value of a field, whatever it is; a finding where it is needed and not there."""
        self._asked.append(name)
        if name in self._entries:
            return self._entries[name][1]
        if required:
            tail = f"; {form}." if form else "."
            self.found(missing, self.line, f"`{self._prefix}{name}` is missing{tail}")
        return None

    def _scalar(self, name: str, *, required: bool, missing: str = "field-missing", form: str = "") -> Scalar | None:
        node = self.node(name, required=required, missing=missing, form=form)
        if node is None or isinstance(node, Scalar):
            return node
        self.invalid(name, "is a single value")
        return None

    def _text(self, name: str, scalar: Scalar, most: int, line: int) -> str | None:
        if scalar.plain and _NOT_TEXT.fullmatch(scalar.text):
            self.found("field-invalid", line, f"`{self._prefix}{name}` is not text; put it between quotes.")
            return None
        if not 1 <= len(scalar.text.strip()) <= most or not scalar.text.isprintable() or not storable(scalar.text):
            sentence = f"`{self._prefix}{name}` is text of 1 to {most} characters on one line."
            self.found("field-invalid", line, sentence)
            return None
        return scalar.text.strip()

    def _slug(self, name: str, scalar: Scalar) -> str | None:
        if is_slug(scalar.text):
            return scalar.text
        form = f"small letters, digits, dots and dashes, at most {SLUG_MAX} characters, such as payments.set-aside"
        self.found("field-invalid", scalar.line, f"`{self._prefix}{name}`: {scalar.text[:40]!r} is not an id ({form}).")
        return None

    def _word(self, name: str, scalar: Scalar, words: type[Word]) -> Word | None:
        if scalar.text in set(words):
            return words(scalar.text)
        hint = nearest(scalar.text, words) or f" It is one of {', '.join(words)}."
        self.found("field-invalid", scalar.line, f"`{self._prefix}{name}`: {scalar.text[:40]!r} is not known.{hint}")
        return None

    def invalid(self, name: str, form: str) -> None:
        """Leave a finding that says what the value of a field has to be."""
        self.found("field-invalid", self.line_of(name), f"`{self._prefix}{name}` {form}.")
