"""Owns the desk that tests of use cases sit at: the service as the API's role, with acme and globex."""

from __future__ import annotations

from typing import Any

import pytest

from tests.usecases.attic import attic as attic
from tests.usecases.attic import purge_database as purge_database
from tests.usecases.desk import Desk
from tests.usecases.desk import desk as new_desk
from tests.usecases.money_desk import MoneyDesk, money_desk


@pytest.fixture
def desk(database: Any, people: Any) -> Desk:
    """Three queues, seven use cases, the whole cast."""
    return new_desk(database, people)


@pytest.fixture
def money(database: Any, people: Any) -> MoneyDesk:
    """The same desk with a key ring, and phones of finance."""
    return money_desk(database, people)
