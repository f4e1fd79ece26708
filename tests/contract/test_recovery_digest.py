"""The digest of a recovery: the vector file, written out byte by byte here a second time; what must not collide does not."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobcontract.recovery_digest import (
    RecoveryDigest,
    RecoveryDigestHead,
    RecoveryDigestMoney,
    RecoveryDigestRow,
    recovery_digest,
)

pytestmark = pytest.mark.requirement("audit-manual-replay")

VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "recovery-digests.json").read_text("utf-8"))
MONEY = ("currency", "exponent", "out_minor", "count")
ROW = ("number", "key", "target", "name", "moves", "row_version", "state", "not_done")


def head_of(vector: Mapping[str, Any]) -> RecoveryDigestHead:
    head = dict(vector["head"])
    until = head["disable_until"]
    return RecoveryDigestHead(
        **{
            **head,
            "frozen_at": datetime.fromisoformat(head["frozen_at"]),
            "disable_until": None if until is None else datetime.fromisoformat(until),
            "money": tuple(RecoveryDigestMoney(**each) for each in head["money"]),
        }
    )


def rows_of(vector: Mapping[str, Any]) -> list[RecoveryDigestRow]:
    return [RecoveryDigestRow(**row) for row in vector["rows"]]


def moment(text: str) -> str:
    since = datetime.fromisoformat(text) - datetime(1970, 1, 1, tzinfo=UTC)
    return str((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds)


def by_hand(vector: Mapping[str, Any]) -> str:
    """The digest from the description alone: tag, then each text as length, colon, bytes."""
    head = vector["head"]
    texts = [head[name] for name in ("tenant", "recovery", "person", "act", "reason")]
    texts += [moment(head["frozen_at"]), "" if head["disable_until"] is None else moment(head["disable_until"])]
    texts += [head["count"], len(head["money"])]
    for money in sorted(head["money"], key=lambda money: money["currency"]):
        texts += [money[name] for name in MONEY]
    for row in sorted(vector["rows"], key=lambda row: row["number"]):
        texts += [row[name] for name in ROW]
    written = b"jobs.recovery.1"
    for text in texts:
        encoded = str(text).encode("utf-8")
        written += str(len(encoded)).encode("ascii") + b":" + encoded
    return hashlib.sha256(written).hexdigest()


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_each_vector_has_its_digest_by_the_contract_and_by_hand(vector: dict[str, Any]) -> None:
    assert recovery_digest(head_of(vector), reversed(rows_of(vector))) == vector["digest"]
    assert by_hand(vector) == vector["digest"]


HEAD, ROWS = head_of(VECTORS[0]), rows_of(VECTORS[0])


@pytest.mark.parametrize(
    "head",
    [
        replace(HEAD, tenant="acmf"),
        replace(HEAD, recovery="other"),
        replace(HEAD, person="k.rao"),
        replace(HEAD, act="requeue"),
        replace(HEAD, reason=HEAD.reason + " "),
        replace(HEAD, frozen_at=HEAD.frozen_at + timedelta(microseconds=1)),
        replace(HEAD, disable_until=HEAD.frozen_at),
        replace(HEAD, money=(RecoveryDigestMoney(currency="GBP", exponent=2, out_minor=1, count=1),)),
    ],
)
def test_every_member_of_the_head_counts(head: RecoveryDigestHead) -> None:
    assert recovery_digest(head, ROWS) != VECTORS[0]["digest"]


@pytest.mark.parametrize(
    "change",
    [
        {"key": "k"},
        {"target": "schedule"},
        {"name": "n"},
        {"moves": "money"},
        {"row_version": 2},
        {"state": "completed"},
        {"not_done": 3},
    ],
    ids=lambda change: next(iter(change)),
)
def test_every_member_of_a_row_counts(change: dict[str, Any]) -> None:
    rows = [replace(ROWS[0], **change), *ROWS[1:]]
    assert recovery_digest(HEAD, rows) != VECTORS[0]["digest"]


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=6), st.text(max_size=6), st.text(max_size=6), st.text(max_size=6))
def test_no_two_splits_of_one_text_collide(key: str, name: str, other_key: str, other_name: str) -> None:
    """A length stands before each text: what moves from one member to its neighbour is another digest."""
    one, two = (
        recovery_digest(replace(HEAD, count=1), [replace(ROWS[0], key=k, name=n)])
        for k, n in ((key, name), (other_key, other_name))
    )
    assert (one == two) == ((key, name) == (other_key, other_name))


def test_rows_out_of_order_or_too_few_give_none() -> None:
    digest = RecoveryDigest(HEAD)
    with pytest.raises(ValueError, match="by number"):
        digest.add(replace(ROWS[0], number=2))
    with pytest.raises(ValueError, match="0 of 2 rows"):
        digest.hexdigest()
    digest.add(ROWS[0])
    with pytest.raises(ValueError, match="by number"):
        digest.add(ROWS[0])
