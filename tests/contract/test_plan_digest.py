"""The digest of a plan: the vector file, written out byte by byte here a second time; what must not collide does not."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from jobcontract.plan_digest import DigestHead, DigestRow, DigestTotal, PlanDigest, account_mark, plan_digest

pytestmark = pytest.mark.requirement("MONEY-9")

VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "plan-digests.json").read_text("utf-8"))
HEAD = ("tenant", "plan", "person", "command", "use_case", "use_case_version")
TOTAL = ("currency", "exponent", "out_minor", "out_count", "back_minor", "back_count")
ROW = (
    "item",
    "money_version",
    "key",
    "title",
    "minor",
    "currency",
    "exponent",
    "payee_id",
    "payee_name",
    "account_last4",
    "account_mark",
)


def head_of(vector: Mapping[str, Any]) -> DigestHead:
    head = vector["head"]
    totals = tuple(DigestTotal(**total) for total in head["totals"])
    return DigestHead(**{**head, "frozen_at": datetime.fromisoformat(head["frozen_at"]), "totals": totals})


def rows_of(vector: Mapping[str, Any]) -> list[DigestRow]:
    return [DigestRow(**row) for row in vector["rows"]]


def by_hand(vector: Mapping[str, Any]) -> str:
    """The digest from the description alone: tag, then each text as length, colon, bytes."""
    head = vector["head"]
    since = datetime.fromisoformat(head["frozen_at"]) - datetime(1970, 1, 1, tzinfo=UTC)
    texts = [head[name] for name in HEAD]
    texts += [(since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds, len(head["parameters"])]
    for name in sorted(head["parameters"], key=lambda name: name.encode()):
        texts += [name, head["parameters"][name]]
    texts += [head["count"], len(head["totals"])]
    for total in sorted(head["totals"], key=lambda total: total["currency"]):
        texts += [total[name] for name in TOTAL]
    for row in sorted(vector["rows"], key=lambda row: row["item"]):
        texts += [row[name] for name in ROW]
    written = b"jobs.plan.1"
    for text in texts:
        encoded = str(text).encode()
        written += str(len(encoded)).encode() + b":" + encoded
    return hashlib.sha256(written).hexdigest()


@pytest.mark.parametrize("vector", VECTORS, ids=[each["name"] for each in VECTORS])
def test_the_vector_file_is_recomputed(vector: dict[str, Any]) -> None:
    assert plan_digest(head_of(vector), reversed(rows_of(vector))) == vector["digest"] == by_hand(vector)


def test_every_digest_is_another_and_each_field_of_a_row_changes_it() -> None:
    assert len({each["digest"] for each in VECTORS}) == len(VECTORS)
    vector = VECTORS[0]
    (row,) = vector["rows"]
    seen = {vector["digest"]}
    for name, value in row.items():
        other = value + 1 if isinstance(value, int) else value + "0"
        seen.add(plan_digest(head_of(vector), rows_of({"rows": [{**row, name: other}]})))
    moved = {**row, "key": row["key"] + row["title"][:1], "title": row["title"][1:]}
    seen.add(plan_digest(head_of(vector), rows_of({"rows": [moved]})))
    assert len(seen) == len(row) + 2


def test_rows_go_through_in_order_and_all_of_them() -> None:
    vector = VECTORS[1]
    rows = rows_of(vector)
    digest = PlanDigest(head_of(vector))
    digest.add(rows[0])
    with pytest.raises(ValueError, match="order"):
        digest.add(rows[0])
    with pytest.raises(ValueError, match="1 of 4 rows"):
        digest.hexdigest()
    assert account_mark(b"a" * 32, "GB1") != account_mark(b"b" * 32, "GB1")
