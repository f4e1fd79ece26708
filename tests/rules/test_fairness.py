"""How free slots are shared: nobody goes short, and one tenant's storm delays nobody else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobservice.rules.fairness import reserved, shares

TENANTS = st.sampled_from("abcdef")
COUNTS = st.dictionaries(TENANTS, st.integers(0, 40))


@given(st.integers(0, 40), st.integers(0, 40), COUNTS, COUNTS, st.integers(1, 12))
def test_shares_are_within_what_is_free_waits_and_is_kept_back(
    taken: int, free: int, running: dict[str, int], waiting: dict[str, int], chunk: int
) -> None:
    slots = taken + free
    given_out = shares(free=free, slots=slots, running=running, waiting=waiting, chunk=chunk)
    assert all(0 < count <= waiting[tenant] for tenant, count in given_out.items())
    assert sum(given_out.values()) <= free
    further = sum(count - (1 if running.get(tenant, 0) == 0 else 0) for tenant, count in given_out.items())
    assert further <= max(free - reserved(slots), 0), "what is kept back goes only to tenants with nothing running"
    left = free - sum(given_out.values())
    idle = [each for each, count in waiting.items() if count > 0 and not running.get(each) and each not in given_out]
    assert not idle or left == 0, "a tenant with nothing running is not turned away while a slot is free"
    if any(count > given_out.get(tenant, 0) for tenant, count in waiting.items()):
        assert left <= reserved(slots), "slots stay free only as far as they are kept back"


@given(st.integers(1, 40), COUNTS, COUNTS)
def test_whoever_has_less_running_comes_first(free: int, running: dict[str, int], waiting: dict[str, int]) -> None:
    given_out = shares(free=free, slots=40, running=running, waiting=waiting)
    has = {tenant: running.get(tenant, 0) + given_out.get(tenant, 0) for tenant in waiting}
    for tenant, count in given_out.items():
        for other in waiting:
            if given_out.get(other, 0) < waiting[other]:  # it still waits
                assert has[tenant] <= has[other] + 1 or count == 0


def test_a_storm_leaves_a_quarter_to_the_others() -> None:
    storm = shares(free=16, slots=16, running={}, waiting={"acme": 500})
    assert storm == {"acme": 12}
    assert shares(free=4, slots=16, running=storm, waiting={"acme": 488}) == {}
    assert shares(free=4, slots=16, running=storm, waiting={"acme": 488, "globex": 3}) == {"globex": 1}


def test_a_single_slot_is_kept_back_from_nobody() -> None:
    assert shares(free=1, slots=1, running={}, waiting={"acme": 5}) == {"acme": 1}
    assert [reserved(slots) for slots in (0, 1, 2, 3, 4, 8, 16)] == [0, 0, 1, 1, 1, 2, 4]


def test_of_equals_the_longest_waiting_comes_first() -> None:
    assert shares(free=1, slots=8, running={}, waiting={"globex": 5, "acme": 5}) == {"globex": 1}


@pytest.mark.parametrize("chunk", [1, 5])
def test_a_chunk_is_given_out_together(chunk: int) -> None:
    given_out = shares(free=12, slots=12, running={}, waiting={"a": 9, "b": 9, "c": 9}, chunk=chunk)
    assert given_out == ({"a": 3, "b": 3, "c": 3} if chunk == 1 else {"a": 5, "b": 4, "c": 1})
