"""Owns reading one YAML 1.2 document as a tree that knows its lines.

Scalars stay text (`no` is a word, `007` keeps its zeros): the reader of a field decides what it must be. Anchors,
aliases and tags are refused, so a small file cannot grow into a large tree. Never opens a file.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ruamel.yaml import YAML
from ruamel.yaml import events as happened
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.reader import ReaderError

DEPTH_MAX = 12
"""Levels of nesting that a record may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """A single value as it was written; `plain` = without quotes."""

    text: str
    plain: bool
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequence:
    """A list of values."""

    items: tuple[Node, ...]
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapping:
    """Keys with their values, in the order of the file; no key twice."""

    entries: tuple[tuple[Scalar, Node], ...]
    line: int


Node = Scalar | Sequence | Mapping


class YamlRefused(Exception):
    """A text that is not one document of ours: the finding's code, the line (from 1), and the sentence."""

    def __init__(self, code: str, line: int, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.line = line
        self.sentence = sentence


def parse(text: str) -> Mapping:
    """Read the one mapping that `text` holds; YamlRefused where it holds anything else."""
    try:
        return _document(_events(text))
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = 1 if mark is None else int(mark.line) + 1
        problem = " ".join(str(error.problem or error.context or "not readable").split())
        raise YamlRefused("record-unreadable", line, f"This is not YAML: {problem}.") from None
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise YamlRefused("record-unreadable", line, "A control character stands here; take it out.") from None
    except YAMLError:
        raise YamlRefused("record-unreadable", 1, "This is not YAML 1.2.") from None


def _events(text: str) -> Iterator[happened.Event]:
    reader = YAML(typ="safe", pure=True)
    reader.version = (1, 2)
    yield from reader.parse(text)


def _line(event: happened.Event) -> int:
    return int(event.start_mark.line) + 1


def _document(events: Iterator[happened.Event]) -> Mapping:
    found: Node | None = None
    for event in events:
        if isinstance(event, happened.DocumentStartEvent):
            if found is not None:
                raise YamlRefused(
                    "documents-many", _line(event), "A second document begins here; give it its own file."
                )
            found = _node(next(events), events, 1)
    if not isinstance(found, Mapping):
        line = 1 if found is None else found.line
        raise YamlRefused("record-unreadable", line, "A record is a mapping that begins with `kind:` and `id:`.")
    return found


def _node(event: happened.Event, events: Iterator[happened.Event], depth: int) -> Node:
    line = _line(event)
    if isinstance(event, happened.AliasEvent):
        raise YamlRefused("alias-refused", line, "An alias (*name) is refused; write the value out.")
    if getattr(event, "anchor", None) is not None:
        raise YamlRefused("alias-refused", line, "An anchor (&name) is refused; write values out in place.")
    if getattr(event, "tag", None) is not None:
        raise YamlRefused("alias-refused", line, "A tag (!name) is refused; fields have their types already.")
    if isinstance(event, happened.ScalarEvent):
        return Scalar(text=str(event.value), plain=event.style in (None, ""), line=line)
    if depth > DEPTH_MAX:
        raise YamlRefused("record-too-large", line, f"Nested deeper than {DEPTH_MAX} levels.")
    if isinstance(event, happened.SequenceStartEvent):
        return Sequence(items=tuple(_until_end(events, happened.SequenceEndEvent, depth)), line=line)
    return Mapping(entries=tuple(_entries(events, depth)), line=line)


def _until_end(events: Iterator[happened.Event], end: type[happened.Event], depth: int) -> Iterator[Node]:
    for event in events:
        if isinstance(event, end):
            return
        yield _node(event, events, depth + 1)


def _entries(events: Iterator[happened.Event], depth: int) -> Iterator[tuple[Scalar, Node]]:
    seen: dict[str, int] = {}
    for event in events:
        if isinstance(event, happened.MappingEndEvent):
            return
        key = _node(event, events, depth + 1)
        if not isinstance(key, Scalar):
            raise YamlRefused("record-unreadable", key.line, "A key is a word, not a list or a mapping.")
        if key.text in seen:
            sentence = f"`{key.text}` stands on line {seen[key.text]} already; keep one of them."
            raise YamlRefused("key-repeated", key.line, sentence)
        seen[key.text] = key.line
        yield key, _node(next(events), events, depth + 1)
